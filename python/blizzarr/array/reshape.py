"""Changing the shape of an array; whenever this is interrupted, the array has the old shape or the new one.

Readers only see what is within the shape in the document, which is replaced atomically:

- *Growing* first erases elements that are stored outside of the array, then publishes the new shape.
- *Shrinking* first publishes the new shape, then erases the elements outside of it. If that is interrupted, the next
  growth erases them.
- *Appending* first writes the new elements outside of the array, then publishes the new shape. Where no lock excludes
  other programs, but the document is replaced only if it is unchanged (object stores), it is the other way round: what
  is outside of the array belongs to nobody there. A caller that knows that nobody else appends has the first order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.array.binding import bind
from blizzarr.array.document import check_same, find_same
from blizzarr.array.erase import box, erase_outside
from blizzarr.array.exclusive import exclusive
from blizzarr.dtypes.elements import as_elements
from blizzarr.equality import differing
from blizzarr.errors import ConflictError, NodeTypeError, UnknownOutcomeError
from blizzarr.formats import StoredNode, encode_resized, lock_key, stored_document
from blizzarr.hierarchy.changing import NodesAbove, changing
from blizzarr.hierarchy.documents import revise, versioned
from blizzarr.indexing.selection import Axes
from blizzarr.json_values import quote
from blizzarr.keywords import what_there_is
from blizzarr.model import ArrayMeta
from blizzarr.model.shapes import array_shape
from blizzarr.problems import Problems
from blizzarr.stores import MappingStore, Store, check_writable
from blizzarr.stores.impossible_keys import refuses_beyond
from blizzarr.stores.native import NativeStore
from blizzarr.transfer import Binding, as_source, read, write

Adopt: TypeAlias = Callable[[ArrayMeta], object]
"""Called with metadata that was just stored."""

AdoptLonger: TypeAlias = Callable[[ArrayMeta, Binding | None], object]
"""The same; also with the binding of the array in this shape, if it is made already."""


def as_array_meta(metadata: object, path: str) -> ArrayMeta:
    """Return the metadata of an array; raise `NodeTypeError` for that of a group."""
    if isinstance(metadata, ArrayMeta):
        return metadata
    raise NodeTypeError("expected an array, found a group", array="/" + path)


def resize(store: Store, path: str, metadata: ArrayMeta, binding: Binding, shape: Any, adopt: Adopt) -> ArrayMeta:
    """Change the shape, and return the new metadata. New elements read as the fill value; others are erased.

    `adopt` is as for `reshape`.

    Raise `ConflictError` if the stored shape changed since `metadata` was read.
    """
    check_writable(store, path)
    old = metadata.shape
    new = _checked_shape(shape, old)

    def decide(stored: ArrayMeta) -> tuple[int, ...]:
        return _with_shape(stored, old, new, store, path).shape

    look = partial(_stored, store, path, metadata)
    return reshape(store, path, metadata, binding, look, decide, adopt=adopt)


def reshape(
    store: Store,
    path: str,
    metadata: ArrayMeta,
    binding: Binding,
    look: Callable[..., tuple[ArrayMeta, StoredNode]],
    decide: Callable[[ArrayMeta], tuple[int, ...]],
    *,
    adopt: Adopt | None = None,
    metadata_only: bool = False,
) -> ArrayMeta:
    """Change the shape to the one that `decide` returns for the stored metadata, while nobody else changes it.

    `look` reads the document, and may put the nodes above it into a list that it is given. If it or `decide` raises an
    error, nothing changes. `adopt` is called with the new metadata as soon as it is stored, before anybody else can
    change the shape; called later, it could undo what another thread has adopted. With `metadata_only`, nothing is
    erased: elements that are cut off, now or earlier, come back when the array grows.
    """
    adopt = adopt or _nobody

    def is_still(shape: tuple[int, ...]) -> bool:
        return look()[0].shape == shape

    def finish(published: ArrayMeta) -> None:
        adopt(published)
        if shrinks:
            # What stays is erased when the array grows.
            erase_outside(store, path, stored, binding, new, old, partial(is_still, new), may_stay=True)

    with exclusive(store, path, lock_key(path, metadata)):
        above: NodesAbove = []
        stored, node = look(above)
        old, new = stored.shape, decide(stored)
        if new == old:
            adopt(stored)
            return stored
        if stored.chunk_grid != metadata.chunk_grid:
            binding = binding.resized(old, stored.chunk_grid)
        grows, shrinks = (not metadata_only and any(map(than, new, old)) for than in (operator.gt, operator.lt))
        if grows:
            # If the shape is another by now, what is stored there is not erased, and the new one is not published.
            erase_outside(store, path, stored, binding, old, new, partial(is_still, old), look_first=True)
        return _publish(store, path, metadata, old, new, node, above, then=finish)


def append(
    store: Store,
    path: str,
    metadata: ArrayMeta,
    binding: Binding,
    data: npt.ArrayLike,
    axis: int | str,
    at: int | None = None,
    *,
    adopt: AdoptLonger | None = None,
    alone: bool = False,
) -> ArrayMeta:
    """Write elements at the end of `axis`, as it is stored now, and make the array that much longer.

    With `at`, they must begin there: if the array ends with these elements already, it is left as it is; in object
    stores, fill values at their places are what an interrupted append left, and are replaced. `adopt` is as for
    `reshape`. `alone`: nobody else appends, so object stores need not grow the array first.

    Raise `ValueError` if there is no such axis, or the shape of the data does not fit. Raise `ConflictError` if another
    array is stored there, or one that contradicts `at`.
    """
    adopt = adopt or _nobody
    check_writable(store, path)
    rank = len(metadata.shape)
    axis = _axis_of(axis, metadata)
    added = as_elements(data, binding.dtype)
    if binding.dtype.hasobject and added.ndim > rank and not isinstance(data, np.ndarray):
        # Elements that are lists of equal length were taken for an axis.
        added = as_source(data, added.shape[:rank], binding.dtype)
    # Where no lock keeps other processes from writing to the same place, or there is no such place before.
    no_lock = hasattr(store, "set_if_version")
    grows_first = (no_lock and not alone) or refuses_beyond(store)
    key = lock_key(path, metadata)
    known = None
    if grows_first and not path and (at is None or operator.index(at) == metadata.shape[axis]):
        # The document need not be read if the store refuses the change should it be another by now. In a group, it is
        # read together with the groups above, which takes no longer.
        known = versioned(store, path, metadata) if _fits(added.shape, metadata.shape, axis) else None
    grown: list[ArrayMeta] = []

    def fill(longer: Binding, region: Axes, published: ArrayMeta) -> None:
        grown.append(published)
        adopt(published, longer)
        # The engine need not compare the document that was just replaced.
        write(longer.beyond(), (added.shape, region, False), added)

    with exclusive(store, path, key):
        if not grows_first and (at is None or operator.index(at) == metadata.shape[axis]):
            published = _append_unchanged(store, path, metadata, binding, key, added, axis, adopt)
            if published is not None:
                return published
        while True:
            above: NodesAbove = []
            stored, node = _stored(store, path, metadata, above) if known is None else (metadata, known)
            known = None
            old = stored.shape
            binding.learn(node.documents.get(key), old)
            _check_added(added.shape, old, axis)
            if at is not None and operator.index(at) != old[axis]:
                end = (metadata, old, added, axis, operator.index(at), store, path)
                resized = binding.without_pool().resized(old, stored.chunk_grid)
                _check_appended(resized, *end, may_be_fill=no_lock or grows_first)
                adopt(stored, None)
                return stored
            new, region = _longer(old, axis, added.shape[axis])
            # Elements may be written before the document, which cannot have every shape.
            problems = Problems()
            array_shape(list(new), "shape", problems)
            problems.raise_any()
            longer = binding.resized(new, stored.with_shape(new).chunk_grid)
            if grows_first:
                then = partial(fill, longer, region)
                try:
                    return _publish(store, path, metadata, old, new, node, above, appends=True, then=then)
                except ConflictError as error:
                    # If it was made longer, or may have been, to do so again would leave a gap.
                    if grown or isinstance(error, UnknownOutcomeError):
                        raise
                    # Another program has appended or resized: then at the end that the array has now.
                    continue
            write(longer.beyond(), (added.shape, region, False), added)
            published = _publish(store, path, metadata, old, new, node, appends=True)
            adopt(published, longer)
            return published


def _append_unchanged(
    store: Store,
    path: str,
    metadata: ArrayMeta,
    binding: Binding,
    key: str,
    added: npt.NDArray[Any],
    axis: int,
    adopt: AdoptLonger,
) -> ArrayMeta | None:
    """Append to an array whose document is still the one that it came from, byte for byte, as after the last append.

    Then nothing is decoded, and of the document only the shape is encoded. `None` if it is another document, or has to
    be encoded as a whole; nothing has been written then.
    """
    known, old = stored_document(metadata, key), metadata.shape
    if known is None or not isinstance(store, NativeStore) or store.get(key) != known:
        return None
    _check_added(added.shape, old, axis)
    new, region = _longer(old, axis, added.shape[axis])
    node = encode_resized(metadata, new, path)
    if node is None:
        return None
    binding.learn(known, old)
    published = as_array_meta(node.meta, path)
    longer = binding.resized(new, published.chunk_grid)
    write(longer.beyond(), (added.shape, region, False), added)
    with changing(store, path):
        replaced = store.replace(key, known, node.documents[key])
    if not replaced:
        # Others have changed the attributes: changes of the shape wait for this one.
        published = _publish(store, path, metadata, old, new, _stored(store, path, metadata)[1], appends=True)
    adopt(published, longer)
    return published


def _longer(shape: tuple[int, ...], axis: int, count: int) -> tuple[tuple[int, ...], Axes]:
    """Return the shape with so many more elements along an axis, and the region of those, as the engine takes it."""
    new = (*shape[:axis], shape[axis] + count, *shape[axis + 1 :])
    return new, tuple((dim, shape[axis] if dim == axis else 0, 1) for dim in range(len(shape)))


def _nobody(metadata: ArrayMeta, binding: Binding | None = None) -> None:
    """No handle takes them over."""


def _checked_shape(shape: Any, old: tuple[int, ...]) -> tuple[int, ...]:
    try:
        new = tuple(operator.index(length) for length in (shape if np.iterable(shape) else (shape,)))
    except TypeError:
        raise TypeError(f"expected integers as the new shape, found {shape!r}") from None
    if len(new) != len(old):
        raise ValueError(f"expected a new shape with {len(old)} lengths, found {new}; the number of axes stays")
    if any(length < 0 for length in new):
        raise ValueError(f"expected lengths of at least 0 in the new shape, found {new}")
    return new


def _fits(added: tuple[int, ...], shape: tuple[int, ...], axis: int) -> bool:
    return len(added) == len(shape) and added[:axis] + added[axis + 1 :] == shape[:axis] + shape[axis + 1 :]


def _axis_of(axis: int | str, metadata: ArrayMeta) -> int:
    """Return the number of an axis, given by its number or the name of its dimension."""
    rank = len(metadata.shape)
    if isinstance(axis, str):
        names = metadata.dimension_names or ()
        if axis not in names:
            there = what_there_is(axis, filter(None, names)) if any(names) else "; the dimensions have no names"
            raise ValueError(f"expected the name of a dimension, or the number of an axis, found {quote(axis)}{there}")
        return names.index(axis)
    try:
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"expected the number of an axis, or the name of a dimension, found {axis!r}") from None
    if not -rank <= number < rank:
        raise ValueError(f"expected an axis in [{-rank}, {rank}) to append to, found {number}")
    return number % rank


def _check_added(added: tuple[int, ...], shape: tuple[int, ...], axis: int) -> None:
    if not _fits(added, shape, axis):
        expected = ", ".join("any" if dim == axis else str(size) for dim, size in enumerate(shape))
        raise ValueError(
            f"expected data of shape ({expected}) to append along axis {axis} of an array of shape {shape}, "
            f"found shape {added}" + ("; data[None] has one more axis" if axis == 0 and added == shape[1:] else "")
        )


def _check_appended(
    binding: Binding,
    metadata: ArrayMeta,
    shape: tuple[int, ...],
    added: npt.NDArray[Any],
    axis: int,
    at: int,
    store: Store,
    path: str,
    *,
    may_be_fill: bool,
) -> None:
    """Raise an error unless the array ends with these elements, which begin at this index.

    Where there `may_be_fill` in their place, they are written.
    """
    length = shape[axis]
    if at < 0 or at + added.shape[axis] != length:
        raise ConflictError(
            f"expected length {at} (or {at + added.shape[axis]}, if this append was already done) along axis {axis}, "
            f"found {length}: another writer may have changed it; recompute at=",
            array="/" + path,
            store=str(store),
        )
    end = box([at if dim == axis else 0 for dim in range(len(shape))], added.shape)
    last = read(binding, end)
    if may_be_fill and written_in_part(last, added, metadata):
        write(binding, end, added)
    elif not stored_alike(last, added, metadata):
        raise ConflictError(
            f"expected these elements at index {at} along axis {axis}, or none there, found others: another writer "
            "appended; recompute at=",
            array="/" + path,
            store=str(store),
        )


def _stored(
    store: Store, path: str, metadata: ArrayMeta, above: NodesAbove | None = None
) -> tuple[ArrayMeta, StoredNode]:
    """Read the metadata as it is stored now; chunks must have the same layout as in the known metadata.

    `above` is as for `find_same`.
    """
    node = find_same(store, path, metadata, above)
    return as_array_meta(node.meta, path), node


def _publish(
    store: Store,
    path: str,
    metadata: ArrayMeta,
    old: tuple[int, ...],
    new: tuple[int, ...],
    known: StoredNode,
    above: NodesAbove | None = None,
    *,
    appends: bool = False,
    then: Adopt | None = None,
) -> ArrayMeta:
    def change(current: ArrayMeta) -> ArrayMeta:
        # Somebody may have replaced the array since it was looked at.
        check_same(store, path, metadata, current)
        return _with_shape(as_array_meta(current, path), old, new, store, path)

    # Two that append as much make the array as long as each other.
    return revise(store, path, change, known, above or None, repeatable=not appends, then=then)


def _with_shape(current: ArrayMeta, old: tuple[int, ...], new: tuple[int, ...], store: Store, path: str) -> ArrayMeta:
    if current.shape != old:
        raise ConflictError(
            f"expected the shape {old}, found {current.shape}: another writer changed it; refresh() and decide again",
            array="/" + path,
            store=str(store),
        )
    return current.with_shape(new)


# Appends that are repeated compare what is stored with what they were to store. Equal elements need not be what comes
# back: an object codec returns a list for a tuple, and lossy codecs return other numbers. So elements that differ are
# compared again after they have been through the codecs themselves.


class _Scratch(MappingStore):
    """A store of chunks without documents."""

    has_documents = False


def stored_alike(stored: npt.NDArray[Any], given: npt.NDArray[Any], metadata: ArrayMeta) -> bool:
    """Return whether `stored` is what reading `given` back from an array with this metadata would return.

    NaN equals NaN, at any depth of an element. The arrays have the same shape and data type.
    """
    if not stored.dtype.hasobject and stored.tobytes() == given.tobytes():
        return True
    return not differing(stored, given).any() or not differing(stored, _read_back(given, metadata)).any()


def written_in_part(stored: npt.NDArray[Any], given: npt.NDArray[Any], metadata: ArrayMeta) -> bool:
    """Return whether `stored` is `given` but for elements, at least one, that read as the fill value."""
    fill = read(bind(_Scratch({}), "", metadata.with_shape(given.shape)), box([0] * given.ndim, given.shape))
    blank = ~differing(stored, np.asarray(fill, stored.dtype))
    return bool(blank.any()) and stored_alike(np.where(blank, given, stored), given, metadata)


def _read_back(given: npt.NDArray[Any], metadata: ArrayMeta) -> npt.NDArray[Any]:
    binding = bind(_Scratch({}), "", metadata.with_shape(given.shape))
    everything = box([0] * given.ndim, given.shape)
    write(binding, everything, given)
    return np.asarray(read(binding, everything), given.dtype)
