"""The engine that xarray finds by the entry point ``blizzarr``: groups as datasets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from inspect import signature
from typing import Any

from xarray import Dataset, DataTree, Variable
from xarray.backends import AbstractDataStore, BackendEntrypoint, StoreBackendEntrypoint

from blizzarr.array import Array
from blizzarr.errors import NodeTypeError
from blizzarr.group import Group
from blizzarr.keywords import exact_keywords
from blizzarr.problems import warn
from blizzarr.xarray.opening import closed_after, closing_of, open_node
from blizzarr.xarray.variables import StoredArray, is_hidden, read_ahead, variable_of


class BlizzarrBackendEntrypoint(BackendEntrypoint):
    """Arrays and groups of every Zarr format as datasets: ``xarray.open_dataset(target, engine="blizzarr")``.

    The parameters are those of `xarray.open_zarr`; the target may be anything that `blizzarr.open` takes, or a group or
    array that is open already. An array becomes a dataset of one variable. Elements are read when they are needed, and
    only those.

    Examples
    --------
    >>> import blizzarr, xarray
    >>> group = blizzarr.create_group({})
    >>> z = group.create_array("depth", data=[[1.5, 2.5]], dimension_names=["y", "x"], attributes={"units": "m"})
    >>> dataset = xarray.open_dataset(group, engine="blizzarr")
    >>> dataset.depth.dims, dataset.depth.units, dataset.depth[0, 1].item()
    (('y', 'x'), 'm', 2.5)
    """

    description = "Open Zarr of every format (.zarr), N5 and zip files of them using blizzarr"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether this engine is to be taken unasked: for what xarray's own engine for Zarr does not open."""
        if isinstance(filename_or_obj, Group | Array):
            return True
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        name = str(filename_or_obj).rstrip("/").lower()
        if name.endswith(".zarr"):
            return find_spec("zarr") is None
        return name.endswith((".n5", ".zarr.zip", ".ozx"))

    @exact_keywords
    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: bool = True,
        decode_times: bool = True,
        concat_characters: bool = True,
        decode_coords: bool = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: bool | None = None,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: Any = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> Dataset:
        """Return the arrays of a group as a dataset.

        Parameters
        ----------
        filename_or_obj
            What to open: see the class.
        mask_and_scale, decode_times, concat_characters, decode_coords, drop_variables, use_cftime, decode_timedelta
            As in `xarray.open_dataset`.
        group
            The path of the group.
        consolidated
            True: there must be consolidated metadata. False: it is not used. None: it is used if there is any.
        storage_options
            Options of fsspec, which then opens the URL; see `blizzarr.stores.FsspecStore.from_url`.
        zarr_format
            The format that the group must have; see `blizzarr.create_array`.
        use_zarr_fill_value_as_mask
            Whether elements that are equal to the fill value are missing; by default in v2, and not in v3.

        Raises
        ------
        NodeNotFoundError
            If there is nothing.
        KeyError
            If the dimensions of an array have no names.
        MetadataError
            If a document does not conform, or there is no consolidated metadata although there must be.
        StoreError
            If the store fails.
        """
        node, close = _opened(filename_or_obj, group, consolidated, storage_options, zarr_format)
        with closed_after(close, only_errors=True):
            arrays = {node.basename or "array": node} if isinstance(node, Array) else dict(node.arrays())
            stored = _elements_of(arrays, drop_variables)
            read_ahead(node.store, stored.values(), times=decode_times is not False)
            return dataset_of(
                node,
                stored,
                mask_fill=use_zarr_fill_value_as_mask,
                close=close,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )

    open_dataset_parameters = tuple(signature(open_dataset).parameters)[1:]

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: Any = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        **decoding: Any,
    ) -> dict[str, Dataset]:
        """Return a group and all groups below it as datasets by path, as `xarray.open_groups` does.

        For parameters and errors see `open_dataset`.
        """
        node, close = _opened(filename_or_obj, group, consolidated, storage_options, zarr_format)
        with closed_after(close, only_errors=True):
            if isinstance(node, Array):
                raise NodeTypeError("expected a group, found an array", array=node.name, store=str(node.store))
            groups: dict[str, tuple[Group, dict[str, Array]]] = {"": (node, {})}
            for path, member in node.members(max_depth=None):
                above, _, name = path.rpartition("/")
                if isinstance(member, Group):
                    groups[path] = member, {}
                else:
                    groups[above][1][name] = member
            stored = {path: _elements_of(arrays, drop_variables) for path, (_, arrays) in groups.items()}
            elements = (one for several in stored.values() for one in several.values())
            read_ahead(node.store, elements, times=decoding.get("decode_times") is not False)
            # As in xarray's engine for Zarr, which keeps the slash where no group was asked for.
            return {
                (path or ".") if group else f"/{path}": dataset_of(
                    store_of_group,
                    stored[path],
                    mask_fill=use_zarr_fill_value_as_mask,
                    close=None if path else close,
                    **decoding,
                )
                for path, (store_of_group, _) in groups.items()
            }

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """Return a group and all groups below it as a tree. For parameters and errors see `open_dataset`."""
        datasets = self.open_groups_as_dict(filename_or_obj, **options)
        tree = DataTree.from_dict(datasets)
        tree.set_close(next(iter(datasets.values())).close)
        return tree


def _opened(
    target: Any,
    group: str | None,
    consolidated: bool | None,
    storage_options: Mapping[str, Any] | None,
    zarr_format: Any,
) -> tuple[Group | Array, Callable[[], None] | None]:
    """Return the node, and how to close what was opened for it."""
    node = open_node(target, group, consolidated=consolidated, storage_options=storage_options, zarr_format=zarr_format)
    return node, closing_of(target, node.store)


def _elements_of(arrays: Mapping[str, Array], drop_variables: str | Iterable[str] | None) -> dict[str, StoredArray]:
    """Return the elements of arrays by name, without those to leave out.

    Unlike arrays that are only not used, those need no names of dimensions.
    """
    dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
    return {name: StoredArray(array) for name, array in arrays.items() if name not in dropped}


def dataset_of(
    node: Group | Array,
    arrays: Mapping[str, StoredArray],
    *,
    mask_fill: bool | None = None,
    close: Callable[[], None] | None = None,
    **decoding: Any,
) -> Dataset:
    """Return the arrays in a group as a dataset; raise `KeyError` if the dimensions of an array have no names.

    - `node`: the group; or an array, whose attributes are those of its variable alone.
    - `arrays`: the elements of the arrays by name.
    - `mask_fill`: whether the fill value is to be masked; see `variable_of`.
    - `close`: what closing the dataset does.
    - `**decoding`: what is decoded, as in `xarray.open_dataset`.
    """
    variables = {name: variable_of(stored, mask_fill, isinstance(node, Array)) for name, stored in arrays.items()}
    _cut(variables, arrays)
    attributes = {} if isinstance(node, Array) else node.attrs.asdict()
    dataset = StoreBackendEntrypoint().open_dataset(_Source(variables, attributes, close), **decoding)
    for stored in arrays.values():
        if not stored.is_coordinate:
            stored.ahead = None  # it is known how times are decoded
    return dataset


def _cut(variables: dict[str, Variable], arrays: Mapping[str, StoredArray]) -> None:
    """Cut variables off where the coordinates of their dimensions end, with a warning.

    `blizzarr.xarray.to_zarr` appends to the coordinate last, so what is behind it is incomplete.
    """
    ends = {name: variable.shape[0] for name, variable in variables.items() if variable.dims == (name,)}
    for name, variable in variables.items():
        beyond = {dim: slice(ends[dim]) for dim, length in variable.sizes.items() if length > ends.get(dim, length)}
        if beyond:
            variables[name] = variable.isel(beyond)
            dims = ", ".join(map(repr, beyond))
            warn(
                f"{arrays[name].source.name} is longer than the coordinates of {dims}, and read up to their ends: an "
                "append is going on, or was interrupted and can be repeated"
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
