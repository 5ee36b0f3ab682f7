"""A stored array that a spec has opened: bound to the engine, looked at again, resized, and described as a spec.

At the end: how much of a view is stored, by its chunks, and in shards by the index of their inner chunks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from math import prod
from operator import floordiv, mod
from typing import Any, Final, Self, TypeAlias

import numpy as np

from blizzarr import _native
from blizzarr.array import Array
from blizzarr.array.binding import bind, engine_handle
from blizzarr.array.document import same_chunks
from blizzarr.array.facts import binding_of
from blizzarr.array.reshape import reshape
from blizzarr.array.stored import stored_chunks
from blizzarr.errors import ArrayNotFoundError, ConstraintError, SpecError
from blizzarr.formats import StoredNode, chunk_prefix, chunk_store, find_likely, find_one, format_of
from blizzarr.hierarchy.changing import NodesAbove
from blizzarr.indexing import Lowered
from blizzarr.indexing.form import ArrayMap, Form
from blizzarr.indexing.interval import Bounds, affine_range
from blizzarr.indexing.selection import Axes
from blizzarr.json_values import braces, dump
from blizzarr.model import ArrayMeta
from blizzarr.model.names import ancestors
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.drivers import DRIVERS, StoredDriver
from blizzarr.spec.metadata.elements import Field
from blizzarr.spec.metadata.interface import MetadataConstraints
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.schema import schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.stores import Store
from blizzarr.stores.requests import each_call, is_remote
from blizzarr.tensorstore.picking import Pieces
from blizzarr.tensorstore.stored_place import KnownMetadata, do_later, shown
from blizzarr.transactions import Transaction
from blizzarr.transfer import Binding


class StoredArray(Array):
    """An array that a spec has opened. Its document is looked at, and its chunks are read, as the spec says.

    - `node`: the spec, its resources bound.
    - `field`: the selected part of each element.
    - `since`: metadata that were last looked at before this moment, in seconds since 1970, must be looked at again.
    - `known`: the last known metadata, shared by everything that is opened with the same cache.
    """

    def __init__(
        self,
        store: Store,
        path: str,
        metadata: ArrayMeta,
        node: SpecNode,
        field: Field,
        since: float,
        known: KnownMetadata,
    ) -> None:
        super().__init__(store, path, metadata)
        self.node = node
        self.field = field
        self.since = since
        self.known = known
        self.assumed: bool = node.options["mode"].assume_metadata
        """True if metadata are neither read nor written."""
        self._by_bytes: tuple[ArrayMeta, Binding] | None = None

    def _in(self, store: Store) -> Self:
        """Return the same array, reached through another store, where nothing is known of its metadata yet."""
        return type(self)(store, self._path, self._metadata, self.node, self.field, self.since, KnownMetadata())

    in_store = _in

    # As the spec says

    @property
    def constraints(self) -> type[MetadataConstraints]:
        """The class of the constraints on its metadata."""
        return type(self.node.options["metadata"])

    def spec_node(self, minimal: bool = False) -> SpecNode:
        """Return the spec that opens the array again; without the metadata if `minimal`."""
        constraints, driver = self.constraints.of(self._metadata), DRIVERS[self.node.driver]
        assert isinstance(driver, StoredDriver), "others store nothing"
        options = {
            **self.node.options,
            "mode": OpenMode(open=True, assume_metadata=self.assumed),
            "metadata": driver.minimal(constraints) if minimal else constraints,
        }
        if self.field.name:
            options["field"] = self.field.name
        schema = schema_of(self.field.dtype, len(self._shape) + len(self.field.shape))
        return self.node.altered(schema=schema, transform=None, options=options)

    @property
    def pickled_node(self) -> SpecNode:
        """The spec that opens the array again wherever it is unpickled, also if somebody has resized it by then."""
        node = self.spec_node()
        if self.assumed:
            return node
        return node.altered(options={**node.options, "metadata": node.options["metadata"].lasting()})

    # Its chunks

    @property
    def threads(self) -> int | None:
        """The most threads that work on one request; None if there is no limit."""
        assert self.node.kvstore is not None, "as the array was found in it"
        # The same threads copy and read.
        copying = self.node.resources["data_copy_concurrency"]
        files = self.node.kvstore.resources.get("file_io_concurrency", copying)
        limits = [resource.value["limit"] for resource in (copying, files)]
        if limits[0] == "shared" != limits[1]:
            limits[0] = _native.threads()
        return min((limit for limit in limits if limit != "shared"), default=None)

    def _bound(self, metadata: ArrayMeta, by_bytes: bool = False) -> Binding:
        watch = not (self.assumed or self.node.options["mode"].assume_cached_metadata)
        binding = bind(self._store, self._path, metadata, by_bytes=by_bytes, watch=watch)
        # Objects are made by the calling thread anyway.
        if (threads := self.threads) is None or not isinstance(binding.handle, _native.ArrayHandle):
            return binding
        return replace(binding, handle=binding.handle.with_options(threads))

    @property
    def binding_by_bytes(self) -> Binding:
        """The array as the engine knows it, with the bytes of its elements as a last axis."""
        metadata, bound = self._metadata, self._by_bytes
        if bound is None or bound[0] is not metadata:
            bound = self._by_bytes = metadata, self._bound(metadata, by_bytes=True)
        return bound[1]

    # Its document

    def look(self, above: NodesAbove | None = None) -> tuple[ArrayMeta, StoredNode]:
        """Return the stored metadata and documents.

        In a store that is far away, the nodes above are read at the same time, and put into `above`, if it is given.

        Raise `ConstraintError` when the array is gone, or another is in its place: its chunks would mean something
        else.
        """
        # The array that was opened, although the spec might choose another one of the document by now.
        form = format_of(self._metadata)
        calls: list[Callable[[], Any]] = [partial(find_one, self._store, self._path, [form])]
        if above is not None and is_remote(self._store):
            calls.append(partial(find_likely, self._store, ancestors(self._path), form, others=False))
        result, *read = each_call(self._store, calls)
        if above is not None:
            above += (node for nodes in read for node in nodes)
        if result is None or not isinstance(result.meta, ArrayMeta):
            key = shown(self._store, form.node_keys(self._path)[0])
            raise ConstraintError(f"Metadata at {key} does not exist")
        self._check_compatible(result.meta)
        return result.meta, result

    def _check_compatible(self, meta: ArrayMeta) -> None:
        if not same_chunks(meta, self._metadata):
            new, old = (dump(self.constraints.of(each).lasting().to_json()) for each in (meta, self._metadata))
            raise ConstraintError(f"Updated metadata {new} is incompatible with existing metadata {old}")

    def refresh(self) -> Self:
        def read() -> ArrayMeta:
            moment = time.time()
            meta, _ = self.look()
            self.known.keep(meta, moment)
            return meta

        return self._renew(read)

    def catch_up(self) -> None:
        """Take the metadata that are known if they are recent enough, else those that are stored now."""
        meta = self.known.recent(self.since)
        if meta is None:
            self.refresh()
        elif meta is not self._metadata:
            self._check_compatible(meta)
            self._adopt(meta)

    def overtake(self, meta: ArrayMeta | None) -> None:
        """Take metadata that others have read, if the array still has the same chunks."""
        if meta is not None and meta is not self._metadata and same_chunks(meta, self._metadata):
            self._adopt(meta)

    def reshape(self, decide: Callable[[tuple[int, ...]], tuple[int, ...]], metadata_only: bool) -> None:
        """Change the shape to the one that `decide` makes of the one that is stored."""

        def decided(stored: ArrayMeta) -> tuple[int, ...]:
            self._adopt(stored)
            return decide(stored.shape)

        meta = reshape(
            *(self._store, self._path, self._metadata, binding_of(self), self.look, decided),
            adopt=self._adopt,
            metadata_only=metadata_only,
        )
        self.known.keep(meta, time.time())

    def reshape_later(
        self, transaction: Transaction, decide: Callable[[tuple[int, ...]], tuple[int, ...]], metadata_only: bool
    ) -> None:
        """Change the shape at the commit of a transaction, to the one that is made of what is stored by then."""

        def apply(target: Store) -> None:
            key = format_of(self._metadata).node_keys(self._path)[0]
            with prefixed(f"Error writing {shown(target, key)}"):
                self.in_store(target).reshape(decide, metadata_only)

        do_later(transaction, self._store, self._path, self._metadata, apply)
        known = self.known
        transaction.future.add_done_callback(lambda _: known.forget())


_Pair: TypeAlias = tuple[int | None, int | None]
"""A lower and an upper bound; None demands nothing."""
_NONE: Final[_Pair] = (None, None)


def resizing(
    view: Form,
    inclusive_min: tuple[int | None, ...] | None,
    exclusive_max: tuple[int | None, ...] | None,
    modes: frozenset[str],
) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """Return what makes of an array's shape the one for which a view of the array has the new bounds.

    Raise `SpecError` when the view has bounds that cannot be changed, whatever shape the array has. The result raises
    `ConstraintError` when more would change than the view shows, or not in the way that was asked for.

    >>> from blizzarr.views import IndexTransform
    >>> view = IndexTransform(input_shape=[4, 6], implicit_upper_bounds=[True, True])
    >>> resizing(view.T._form, None, (9, None), frozenset())((4, 6))
    (4, 9)
    """
    rank = view.rank
    lower = inclusive_min if inclusive_min is not None else (None,) * rank
    upper = exclusive_max if exclusive_max is not None else (None,) * rank
    if len(lower) != rank or len(upper) != rank:
        raise SpecError(f"inclusive_min and exclusive_max must have rank {rank}")
    for dim in range(rank):
        for new, implicit, which in (
            (lower[dim], view.implicit_lower[dim], "lower"),
            (upper[dim], view.implicit_upper[dim], "upper"),
        ):
            if new is not None and not implicit:
                raise SpecError(
                    f"Invalid resize request for input dimension {dim}: Cannot change explicit {which} bound"
                )
    if all(new is None for new in (*lower, *upper)):
        return lambda shape: shape
    demands = _demands(view, lower, upper, "resize_tied_bounds" in modes)
    if all(new == _NONE for new, _ in demands):
        # Dimensions of the view that no dimension of the array belongs to.
        return lambda shape: shape
    return lambda shape: tuple(
        _checked(dim, size, *demand, modes) for dim, (size, demand) in enumerate(zip(shape, demands, strict=True))
    )


def _demands(
    view: Form, lower: tuple[int | None, ...], upper: tuple[int | None, ...], tied: bool
) -> list[tuple[_Pair, _Pair]]:
    """Return the new bounds of each dimension of the array, and the old ones that it must have unless they are tied."""
    asked = {dim for dim in range(view.rank) if lower[dim] is not None or upper[dim] is not None}
    if not tied:
        inputs = [map_[0] for map_ in view.maps if isinstance(map_, tuple)]
        for dim in sorted(asked):
            if inputs.count(dim) > 1:
                raise SpecError(
                    f"Input dimension {dim} corresponds to a diagonal but `resize_tied_bounds` was not specified"
                )
    demands = []
    for output, map_ in enumerate(view.maps):
        new, old = _NONE, _NONE
        if isinstance(map_, int):
            old = map_, map_ + 1
        elif isinstance(map_, ArrayMap):
            if not tied:
                raise SpecError(
                    f"Output dimension {output} has index array map but `resize_tied_bounds` was not specified"
                )
        else:
            dim, offset, stride = map_
            if dim in asked and abs(stride) != 1:
                raise SpecError(
                    f"Output dimension {output} depends on resized input dimension {dim} with non-unit stride of "
                    f"{stride}"
                )
            low, high = affine_range(Bounds(view.lower[dim], view.upper[dim]), offset, stride)
            first, last, is_open = lower[dim], upper[dim], (view.implicit_lower[dim], view.implicit_upper[dim])
            if stride < 0:
                first, last = (None if bound is None else 1 - bound for bound in (last, first))
                is_open = is_open[::-1]
            old = None if is_open[0] else low, None if is_open[1] else high
            new = None if first is None else first + offset, None if last is None else last + offset
        demands.append((new, _NONE if tied else old))
    return demands


def _checked(dim: int, size: int, new: _Pair, old: _Pair, modes: frozenset[str]) -> int:
    """Return the new length of a dimension of the array; raise if it must not change like this."""
    for had, wanted, is_lower in ((0, old[0], True), (size, old[1], False)):
        if wanted is None or wanted == had:
            continue
        low, high = (had, wanted) if is_lower else (wanted, had)
        lead = f"Resize operation would also affect output dimension {dim} over the"
        if low < high:
            raise ConstraintError(f"{lead} interval [{low}, {high}) but `resize_tied_bounds` was not specified")
        raise ConstraintError(f"{lead} out-of-bounds interval [{high}, {low})")
    lower, upper = new
    if lower not in (None, 0):
        raise ConstraintError(
            f"Cannot change inclusive lower bound of output dimension {dim}, which is fixed at 0, to {lower}"
        )
    length = size if upper is None else max(0, upper)
    change = f"output dimension {dim} from [0, {size}) to [0, {length})"
    if "shrink_only" in modes and length > size:
        raise ConstraintError(f"Resize operation would expand {change} but `shrink_only` was specified")
    if "expand_only" in modes and length < size:
        raise ConstraintError(f"Resize operation would shrink {change} but `expand_only` was specified")
    return length


_FEW = 128
"""The most chunks that are looked up one by one on this machine; the time of listing depends on all other chunks."""

_Group: TypeAlias = tuple[tuple[int, ...], range | set[tuple[int, ...]]]
"""Axes of an array that are indexed together, and the chunks along them that are wanted: a range of those along one."""


def stored_of(array: Array, lowered: Lowered) -> tuple[bool, bool]:
    """Return whether no and whether every chunk of a selection is stored; in shards, inner chunks count."""
    shape, axes, _ = lowered
    if not prod(shape):
        return True, True
    meta = array.metadata
    wanted = prod(len(chunks) for _, chunks in _groups(shape, axes, meta.chunk_shape))
    stored = [position for _, position in _stored(array, lowered)]
    outer = np.array(stored, int).reshape(len(stored), len(axes))
    outer = outer[_are_among(outer, _groups(shape, axes, meta.write_shape))]
    result = len(outer)
    if meta.codecs.is_sharded:
        groups, ratio = _groups(shape, axes, meta.chunk_shape), tuple(map(floordiv, meta.write_shape, meta.chunk_shape))
        handle: Any = engine_handle(array.store, array.path, meta)
        result = 0
        for position in outer.tolist():
            inner = np.argwhere(np.frombuffer(handle.stored(tuple(position)), np.uint8).reshape(ratio))
            result += int(np.count_nonzero(_are_among(inner + np.multiply(position, ratio), groups)))
    return result == 0, result == wanted


def _are_among(positions: np.ndarray[Any, Any], groups: list[_Group]) -> np.ndarray[Any, Any]:
    """Return which of the chunks at these positions are wanted along all axes."""
    result = np.ones(len(positions), bool)
    for members, chunks in groups:
        rows = positions[:, members]
        if isinstance(chunks, range):
            result &= (rows[:, 0] >= chunks.start) & (rows[:, 0] < chunks.stop)
        else:
            result &= np.array([tuple(row) in chunks for row in rows.tolist()], bool)
    return result


def refuse_missing(array: Array, lowered: Lowered) -> None:
    """Raise `ArrayNotFoundError` if a chunk that a selection needs is not stored; in shards, inner chunks count."""
    meta = array.metadata
    sharded, counts = meta.codecs.is_sharded, tuple(map(floordiv, meta.write_shape, meta.chunk_shape))
    flags: Callable[[tuple[int, ...]], np.ndarray[Any, Any]]
    if sharded or meta.chunk_keys.share_values:
        # Listings do not show such chunks.
        handle: Any = engine_handle(array.store, array.path, meta)
        flags = cache(lambda outer: np.frombuffer(handle.stored(outer), np.uint8).reshape(counts))
    else:
        present = {position for _, position in _stored(array, lowered)}
        flags = lambda outer: np.full(counts, outer in present)  # noqa: E731
    for position, _, _ in Pieces(lowered, meta.chunk_shape):
        outer = tuple(map(floordiv, position, counts))
        inner = tuple(map(mod, position, counts))
        if not flags(outer)[inner]:
            key = shown(array.store, chunk_prefix(array.path, meta) + meta.chunk_keys.key(outer))
            entry = f"{braces(inner)} stored at shard entry {braces(inner)}/{braces(counts)} in"
            raise ArrayNotFoundError(f"chunk {entry if sharded else f'{braces(outer)} stored at'} {key} is missing")


def _stored(array: Array, lowered: Lowered) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Return the keys and positions of stored chunks; of only the wanted ones if they are few and the store is near."""
    meta, (shape, axes, _) = array.metadata, lowered
    store = chunk_store(array.store, array.path, meta)
    native = getattr(store, "native", None)
    if native is None or prod(len(chunks) for _, chunks in _groups(shape, axes, meta.write_shape)) > _FEW:
        return stored_chunks(array.store, array.path, meta)
    prefix = chunk_prefix(array.path, meta)
    wanted = {prefix + meta.chunk_keys.key(position): position for position, _, _ in Pieces(lowered, meta.write_shape)}
    return [(key, wanted[key]) for key in native.present(list(wanted))]


def _groups(shape: tuple[int, ...], axes: Axes, chunks: tuple[int, ...]) -> list[_Group]:
    together: dict[tuple[int, ...], list[int]] = {}
    groups: list[_Group] = []
    for number, axis in enumerate(axes):
        if not isinstance(axis, int) and len(axis) == 2:
            together.setdefault(axis[0], []).append(number)
        else:
            groups.append(((number,), _along(shape, axis, chunks[number])))
    for members in together.values():
        rows = [np.ravel(axes[number][1] // chunks[number]) for number in members]  # type: ignore[index]
        groups.append((tuple(members), {tuple(map(int, row)) for row in np.unique(np.stack(rows, 1), axis=0)}))
    return groups


def _along(shape: tuple[int, ...], axis: int | tuple[int, int, int], length: int) -> range | set[tuple[int, ...]]:
    """Return the chunks of this length along one axis; never one by one those of adjacent elements, which may be many.

    >>> _along((5,), (0, 8, -2), 4), _along((3,), (0, 1, 10), 4)
    (range(0, 3), {(0,), (2,), (5,)})
    """
    dim, start, step = (None, axis, 0) if isinstance(axis, int) else axis
    count = 1 if dim is None else shape[dim]
    low, high = sorted((start, start + (count - 1) * step))
    if abs(step) <= length:
        return range(low // length, high // length + 1) if count else range(0)
    return {(index // length,) for index in range(low, high + 1, abs(step))}
