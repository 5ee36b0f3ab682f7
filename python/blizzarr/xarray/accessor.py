"""``ds.blizzarr``, which datasets, data arrays and trees get when `blizzarr.xarray` is imported."""

from __future__ import annotations

from functools import wraps
from typing import Any

from xarray import (
    DataArray,
    Dataset,
    DataTree,
    register_dataarray_accessor,
    register_dataset_accessor,
    register_datatree_accessor,
)

from blizzarr.xarray.writing import to_zarr


@register_datatree_accessor("blizzarr")
@register_dataarray_accessor("blizzarr")
@register_dataset_accessor("blizzarr")
class BlizzarrAccessor:
    """The methods of this library for a dataset, a data array or a tree.

    Examples
    --------
    >>> import xarray
    >>> target = {}
    >>> done = xarray.Dataset({"t": ("x", [1, 2])}).blizzarr.to_zarr(target)
    >>> xarray.open_dataset(target, engine="blizzarr").t.values
    array([1, 2])
    """

    def __init__(self, data: Dataset | DataArray | DataTree) -> None:
        self._data = data

    @wraps(to_zarr, assigned=("__doc__",), updated=())
    def to_zarr(self, *arguments: Any, **options: Any) -> Any:
        return to_zarr(self._data, *arguments, **options)
