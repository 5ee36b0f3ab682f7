"""The stored arrays whose elements xarray has not read yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xarray import Variable
from xarray.core.utils import NDArrayMixin

from blizzarr.array import Array
from blizzarr.xarray.variables import StoredArray


def unread(variable: Variable) -> Iterator[Array]:
    """Iterate over the arrays of which a variable has elements that are still to be read, here or by Dask's tasks."""
    data: Any = variable._data
    found = [data]
    if hasattr(data, "__dask_graph__"):
        from blizzarr.dask.sources import sources

        found = list(sources(data))
    for layer in found:
        # Indexing and decoding are layers around what is stored.
        while isinstance(layer, NDArrayMixin):
            layer = layer.array
        if isinstance(layer, StoredArray):
            yield layer.source
