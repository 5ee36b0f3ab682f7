"""Datasets, data arrays and trees as groups: xarray's `to_zarr` without zarr-python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import accumulate
from threading import Lock
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias

from xarray import (
    DataArray,
    Dataset,
    DataTree,
    Variable,
    register_dataarray_accessor,
    register_dataset_accessor,
    register_datatree_accessor,
)
from xarray.backends.api import DATAARRAY_NAME, DATAARRAY_VARIABLE
from xarray.backends.common import ArrayWriter
from xarray.backends.writers import _validate_dataset_names
from xarray.backends.zarr import _choose_default_mode
from xarray.conventions import encode_dataset_coordinates
from xarray.namedarray.pycompat import is_chunked_array

from blizzarr.api import create_group, open_group
from blizzarr.api.sources import stored_array
from blizzarr.array import Array
from blizzarr.config import config
from blizzarr.creation.make import choose_format, refuse_to_lose
from blizzarr.errors import NodeNotFoundError, NodeTypeError
from blizzarr.formats import format_of, has_consolidated, masks_fill
from blizzarr.group import Group, node_of
from blizzarr.hierarchy.consolidate import consolidate
from blizzarr.hierarchy.place import place_node
from blizzarr.json_values import quote
from blizzarr.keywords import exact_keywords, what_there_is
from blizzarr.model.names import join
from blizzarr.problems import warn
from blizzarr.renamed import ENCODINGS
from blizzarr.stores import Store, resolve
from blizzarr.stores.fsspec_store import with_storage_options
from blizzarr.stores.place import keeps_all_parts
from blizzarr.stores.requests import ARRAYS_AT_ONCE, complete, each, is_remote, is_small
from blizzarr.xarray.group_store import GroupStore
from blizzarr.xarray.opening import closed_after, closing_of, may_consolidate, open_node


def unread(variable: Variable) -> Iterator[Array]:
    """Iterate over the arrays of which a variable has elements that are still to be read, here or by Dask's tasks."""
    data: Any = variable._data
    if hasattr(data, "__dask_graph__"):
        from blizzarr.dask.tasks import sources

        yield from sources(data)
    elif (array := stored_array(data)) is not None:
        yield array


Mode: TypeAlias = Literal["w", "w-", "a", "a-", "r+"]
Region: TypeAlias = Mapping[str, slice | Literal["auto"]] | Literal["auto"]


@exact_keywords
def to_zarr(
    data: Dataset | DataArray | DataTree,
    store: Any = None,
    mode: Mode | None = None,
    group: str | None = None,
    encoding: Mapping[str, Any] | None = None,
    *,
    compute: bool = True,
    consolidated: bool | None = None,
    append_dim: Hashable | None = None,
    region: Region | None = None,
    safe_chunks: bool = True,
    align_chunks: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    zarr_format: Any = None,
    write_empty_chunks: bool | None = None,
    chunkmanager_store_kwargs: Mapping[str, Any] | None = None,
    write_inherited_coords: bool = False,
) -> Any:
    """Write a dataset, a data array or a tree to a group, as ``xarray.Dataset.to_zarr`` does.

    The chunks of Dask need not match those that are stored: where several tasks write parts of one chunk or shard, all
    of them are kept in directories, in object stores with conditional writes, and in memory. Only in other stores, such
    chunks are refused unless ``safe_chunks=False`` or ``align_chunks=True`` says otherwise.

    Parameters
    ----------
    data
        The dataset, data array or tree.
    store
        Anything that `blizzarr.open_group` takes, or a group that is open (with a mode that does not create one); None
        for new memory.
    mode, group, encoding, compute, consolidated, append_dim, region, safe_chunks, align_chunks
        As in `xarray.Dataset.to_zarr`. In encodings, codecs may be those of zarr-python, numcodecs and this library,
        names, and JSON; the codecs of a dataset that was opened from one format are translated for another one.
    storage_options
        Options of fsspec, which then opens the URL.
    zarr_format
        The format of a new group; see `blizzarr.create_array`.
    write_empty_chunks
        True: chunks of nothing but the fill value are stored, too. Otherwise `blizzarr.config` says so.
    chunkmanager_store_kwargs
        Options of `dask.array.store`.
    write_inherited_coords
        As in `xarray.DataTree.to_zarr`.

    Returns
    -------
    The store that was written to; with ``compute=False`` a `dask.delayed.Delayed` that writes.

    Raises
    ------
    NodeExistsError
        If there is a group already, and the mode is ``"w-"`` (the default for new data).
    NodeNotFoundError
        With ``mode="r+"``, if there is none.
    ValueError
        If the data do not fit what is there, or an encoding is not known; with ``mode="w"``, if the data are still to
        be read from what would be removed.
    UnsupportedOperationError
        If Dask works in other processes, and the store is in the memory of this one.
    MetadataError, StoreError
        As for `blizzarr.create_array`.

    Examples
    --------
    >>> import numpy, xarray
    >>> target = {}
    >>> data = xarray.Dataset({"t": ("time", numpy.arange(4.0))}).chunk(time=3)
    >>> done = to_zarr(data, target, encoding={"t": {"chunks": (2,)}})
    >>> more = to_zarr(data, target, append_dim="time")
    >>> xarray.open_dataset(target, engine="blizzarr").t.values
    array([0., 1., 2., 3., 0., 1., 2., 3.])
    """
    if not may_consolidate(store):
        consolidated = False
    mode = _choose_default_mode(mode=mode, append_dim=append_dim, region=region)
    nodes = list(_datasets(data, group, append_dim, write_inherited_coords))
    encodings = _encodings(data, encoding or {})
    for _, _, dataset in nodes:
        _validate_dataset_names(dataset)
    everything = [variable for _, _, dataset in nodes for variable in dataset.variables.values()]
    chunked = [variable for variable in everything if compute and variable.chunks is not None]
    arrays = [array for variable in everything for array in unread(variable)]
    place = _place(store, mode, group, consolidated, storage_options, zarr_format, arrays, chunked)
    close = closing_of(store, place.store)
    with closed_after(close, only_errors=not compute), complete(store, place.store):
        there = place.there
        form = choose_format(place.store, place.path, zarr_format) if there is None else there.metadata.format
        options: dict[str, Any] = {
            "mode": mode,
            "append_dim": append_dim,
            "write_region": dict(region) if isinstance(region, Mapping) else region,
            "safe_chunks": safe_chunks and not keeps_all_parts(place.store),
            "write_empty": write_empty_chunks,
            "use_zarr_fill_value_as_mask": masks_fill(form),
            "close_store_on_close": close is not None,
            "align_chunks": align_chunks,
        }
        # Nothing is changed or replaced before it is known that all of it can be written.
        top = GroupStore(rehearsed(there, place.path, form), **options)
        prepared = []
        for path, key, dataset in nodes:
            target = top.get_child_store(path) if path else top
            dataset = target._validate_and_autodetect_region(dataset)
            given = encodings.get(key, {})
            target._validate_encoding(given)
            content, attributes = encode_dataset_coordinates(dataset)
            for variable in content.values():
                if variable.size == 0:
                    # As xarray does: chunks without elements stop its encoding and aligning.
                    variable.load()
            for name, chosen in given.items():
                if name not in content:
                    rest = what_there_is(str(name), map(str, content))
                    raise KeyError(f"encoding: expected names of variables, found {quote(str(name))}{rest}")
                content[name].encoding = chosen
            variables, attributes = target.encoded(content, attributes)
            with _advice_on_encodings(given):
                target.write(variables, attributes, given, NoWriter())
            prepared.append((path, target._write_region, variables, attributes, given))
        top_group = _opened(place, mode, zarr_format)
        top, writer = GroupStore(ZarrGroup(top_group), **options), _Writer(place.store if compute else None)
        for path, write_region, variables, attributes, given in prepared:
            target = top.get_child_store(path) if path else top
            target._write_region = write_region
            target.write(variables, attributes, given, writer)
            if not compute:
                target.finish()
        writes = writer.sync(compute=compute, chunkmanager_store_kwargs=chunkmanager_store_kwargs)
        if compute and append_dim is not None:
            top.finish()
        if consolidated is None and not has_consolidated(format_of(top_group.metadata)):
            consolidated = False
        if mode != "r+" and consolidated is not False:
            root = top_group if place.root == place.path else open_group(place.store, mode="r+", path=place.root)
            consolidate(root.store, root.path, root.metadata)
    if compute:
        return top
    from dask import delayed

    return delayed(_finished)(writes, close)


@contextmanager
def _advice_on_encodings(given: Mapping[str, Any]) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        names = {name for chosen in given.values() for name in chosen}
        for name in sorted(names & ENCODINGS.keys()):
            error.add_note(f"in place of the encoding {name!r}, {ENCODINGS[name]}")
        raise


def _datasets(
    data: Dataset | DataArray | DataTree, group: str | None, append_dim: Hashable | None, inherited: bool
) -> Iterator[tuple[str, str, Dataset]]:
    """Iterate over the datasets to write, with their paths below the group, and the keys of their encodings."""
    if isinstance(data, DataTree):
        for option, value in (("group", group), ("append_dim", append_dim)):
            if value is not None:
                raise NotImplementedError(f"expected no {option} with a tree, found {value!r}")
        for path, node in data.subtree_with_keys:
            at_root = node is data
            yield "" if at_root else path, node.path, node.to_dataset(inherit=inherited or at_root)
        return
    if isinstance(data, DataArray):
        if data.name is None or data.name in data.coords or data.name in data.dims or "/" in str(data.name):
            # Coordinates of the same name would be the same array, and one of a name with slashes is in a group below.
            named = data.to_dataset(name=DATAARRAY_VARIABLE)
            data = named if data.name is None else named.assign_attrs({DATAARRAY_NAME: data.name})
        else:
            data = data.to_dataset()
    yield "", "", data


def _encodings(data: Dataset | DataArray | DataTree, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the encodings by the key of their dataset."""
    if not isinstance(data, DataTree):
        return {"": given}
    if unknown := set(given) - set(data.groups):
        raise ValueError(f"unexpected encoding group name(s) provided: {unknown}")
    return given


class _Place(NamedTuple):
    """The target of a dataset."""

    store: Store
    path: str
    root: str
    """The path of the root whose metadata are to be consolidated."""
    there: Group | None
    """The group that is written to, if it is there and is not replaced."""


def _place(
    target: Any,
    mode: Mode,
    group: str | None,
    consolidated: bool | None,
    storage_options: Mapping[str, Any] | None,
    zarr_format: Any,
    unread: Iterable[Array],
    chunked: Iterable[Variable],
) -> _Place:
    """Return where to write to.

    The arrays that are still to be read must not be removed with what is there, and the tasks that compute what is
    chunked must be able to write there.
    """
    path = (group or "").strip("/")
    if mode == "r+":
        options = {"consolidated": consolidated, "storage_options": storage_options, "zarr_format": zarr_format}
        node = open_node(target, path, mode=mode, **options)
        if not isinstance(node, Group):
            raise NodeTypeError("expected a group, found an array", array=node.name, store=str(node.store))
        _check_tasks_share(node.store, chunked)
        return _Place(node.store, node.path, "", node)
    if isinstance(target, Group):
        store, root = target.store, target.path
    else:
        store, root = resolve(with_storage_options(target, storage_options), "a" if mode == "a-" else mode)
    _check_tasks_share(store, chunked)
    full = join(root, path)
    if mode == "w":
        try:
            for array in unread:
                refuse_to_lose(array, store, full)
        except ValueError as error:
            error.add_note("load() of the dataset reads all of it into memory")
            raise
    there = None
    if mode in ("a", "a-"):
        with suppress(NodeNotFoundError):
            there = open_group(store, mode="r", path=full, zarr_format=zarr_format)
    return _Place(store, full, root, there)


def _opened(place: _Place, mode: Mode, zarr_format: Any) -> Group:
    """Return the group, which is created, or made anew, as the mode says."""
    if place.there is not None:
        # In other modes than "r+", it was opened for reading.
        return Group(place.store, place.there.path, place.there.metadata)
    opening: Any = "a" if mode == "a-" else mode
    return open_group(place.store, mode=opening, path=place.path, zarr_format=zarr_format)


def _check_tasks_share(store: Store, chunked: Iterable[Variable]) -> None:
    for variable in chunked:
        if hasattr(variable.data, "__dask_graph__"):
            from blizzarr.dask.tasks import check_tasks_share

            check_tasks_share(store, variable.data)


def _finished(writes: Any, close: Callable[[], None] | None) -> None:
    if close is not None:
        close()


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


@dataclass(frozen=True)
class ZarrGroup:
    """A group with the number of its format where zarr-python has it; all else is that of the group."""

    group: Group

    @property
    def metadata(self) -> SimpleNamespace:
        # What distinguishes 3 from 2 for xarray is where the names of dimensions are.
        return SimpleNamespace(zarr_format=3 if format_of(self.group.metadata).has_dimension_names else 2)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.group, name)

    def __getitem__(self, name: str) -> Any:
        return self.group[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.group)

    def require_group(self, name: str) -> ZarrGroup:
        return ZarrGroup(self.group.require_group(name))


@dataclass(frozen=True)
class _Rehearsed(ZarrGroup):
    """A group in which nothing changes: what is created or changed in it, is in another one, in memory."""

    scratch: Group

    @property
    def store(self) -> Store:
        return self.scratch.store

    @property
    def attrs(self) -> Any:
        return self.scratch.attrs

    @cached_property
    def _members(self) -> dict[str, Any]:
        return dict(self.group.members())

    def members(self) -> Iterable[tuple[str, Any]]:
        return self._members.items()

    def __getitem__(self, name: str) -> Any:
        # As they were read together; one by one, each would be a request that waits for the one before.
        array = self._members[name] if name in self._members else self.group[name]
        store = self.scratch.store
        return node_of(store, array.path, place_node(store, array.path, array.metadata, overwrite=True, copied=True))

    def create_array(self, name: str, **options: Any) -> Array:
        return self.scratch.create_array(name, **options)

    def require_group(self, name: str) -> _Rehearsed:
        there = name in self.group
        scratch = self.scratch.require_group(name)
        return _Rehearsed(self.group.require_group(name) if there else scratch, scratch)


class _Writer(ArrayWriter):
    """Writes elements at once, but small arrays to a store far away only at the end, several at the same time.

    `store` is the store; None if they may not wait for the end.
    """

    def __init__(self, store: Store | None) -> None:
        super().__init__()
        self._store = store if is_remote(store) else None
        self._waiting: list[tuple[Any, Any, Any]] = []
        self._chunked = Lock()
        """Held while what Dask computes is added, which several threads do."""

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        if is_chunked_array(source):
            with self._chunked:
                super().add(source, target, region)
        elif self._store is not None and is_small(getattr(source, "nbytes", config.copy_bytes)):
            self._waiting.append((source, target, region))
        else:
            super().add(source, target, region)

    def sync(self, compute: bool = True, chunkmanager_store_kwargs: Any = None) -> Any:
        # Not in `add`, which xarray calls: a warning shows the line of the caller.
        for source, array, region in zip(self.sources, self.targets, self.regions, strict=True):
            _warn_of_parts(source, array, region)
        each(self._store, lambda one: ArrayWriter.add(self, *one), self._waiting, ARRAYS_AT_ONCE)
        return super().sync(compute, chunkmanager_store_kwargs)


_MANY_PARTS = 16


def _warn_of_parts(source: Any, array: Array, region: Any) -> None:
    """Warn of chunks of Dask that divide a stored chunk into many parts, as in the encoding of another layout."""
    grid, most = array.metadata.chunk_grid, 1
    places = (slice(None),) * array.ndim if region is None else region
    for sizes, place, edges in zip(source.chunks, places, grid.edges, strict=True):
        stops = (edges.locate((place.start or 0) + stop) for stop in accumulate(sizes[:-1]))
        most *= max(Counter(chunk for chunk, offset in stops if offset).values(), default=0) + 1
    if most >= _MANY_PARTS:
        name = array.basename
        warn(
            f"{array.name}: chunks of Dask divide a stored chunk of {grid.text} into {most} parts, and it is read and "
            f"stored again for each, which is slow. Rechunk {name!r} along the stored chunks; or, for a new array, "
            f"pass encoding={{{name!r}: {{'chunks': ...}}}}, or drop_encoding() of the dataset, which has the "
            "chunks of the array that was opened"
        )


class NoWriter:
    """Takes elements, and does nothing with them."""

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        """Do nothing."""


def rehearsed(group: Group | None, path: str, zarr_format: Any) -> Any:
    """Return a group as `GroupStore` takes it, in which writing is tried without changing anything.

    Without a group, it is a new one of this path and format.
    """
    scratch = create_group({}, path=path, zarr_format=zarr_format)
    return _Rehearsed(scratch if group is None else group, scratch)
