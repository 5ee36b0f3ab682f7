"""Groups as xarray's datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xarray import Dataset, Variable
from xarray.backends import AbstractDataStore, StoreBackendEntrypoint

from blizzarr.array import Array
from blizzarr.group import Group
from blizzarr.problems import warn
from blizzarr.xarray.variables import is_hidden, variable_of


def dataset_of(
    node: Group | Array,
    arrays: Mapping[str, Array],
    *,
    drop_variables: str | Iterable[str] | None = None,
    mask_fill: bool | None = None,
    close: Callable[[], None] | None = None,
    **decoding: Any,
) -> Dataset:
    """Return the arrays in a group as a dataset; raise `KeyError` if the dimensions of an array have no names.

    - `node`: the group; or an array, whose attributes are those of its variable alone.
    - `arrays`: the arrays by name.
    - `drop_variables`: names of arrays to leave out. Unlike those that are only not used, they need no names of
      dimensions.
    - `mask_fill`: whether the fill value is to be masked; see `variable_of`.
    - `close`: what closing the dataset does.
    - `**decoding`: what is decoded, as in `xarray.open_dataset`.
    """
    dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
    variables = {
        name: variable_of(array, mask_fill, isinstance(node, Array))
        for name, array in arrays.items()
        if name not in dropped
    }
    _cut(variables, arrays)
    attributes = {} if isinstance(node, Array) else node.attrs.asdict()
    return StoreBackendEntrypoint().open_dataset(_Source(variables, attributes, close), **decoding)


def _cut(variables: dict[str, Variable], arrays: Mapping[str, Array]) -> None:
    """Cut variables off where the coordinates of their dimensions end, with a warning.

    `blizzarr.xarray.to_zarr` appends to the coordinate last, so what is behind it is incomplete.
    """
    ends = {name: variable.shape[0] for name, variable in variables.items() if variable.dims == (name,)}
    for name, variable in variables.items():
        beyond = {dim: slice(ends[dim]) for dim, length in variable.sizes.items() if length > ends.get(dim, length)}
        if beyond:
            variables[name] = variable.isel(beyond)
            warn(
                f"{arrays[name].name} is longer than the coordinates of {', '.join(map(repr, beyond))}, and read up to "
                "their ends: an append is going on, or was interrupted and can be repeated",
                stacklevel=3,
            )


class _Source(AbstractDataStore):
    """Variables and attributes in the form in which xarray decodes them."""

    def __init__(
        self, variables: dict[str, Variable], attributes: dict[str, Any], close: Callable[[], None] | None
    ) -> None:
        self._variables = variables
        self._attributes = {name: value for name, value in attributes.items() if not is_hidden(name)}
        self._close = close

    def get_variables(self) -> dict[str, Variable]:
        return self._variables

    def get_attrs(self) -> dict[str, Any]:
        return self._attributes

    def close(self) -> None:
        if self._close is not None:
            self._close()
