"""Erasing elements outside of a shape, so that they read as the fill value when the array grows.

Stored data may lie outside of an array: the array was larger, an append was interrupted, or another program left
elements in the part of an edge chunk that is outside when it shrank the array. They are erased before a change of the
shape would show them; otherwise old values would come back when an array shrinks and grows again.

A grid cell (a shard, or a chunk if there are no shards) is *inside* the part that is kept, *outside* of it, or it
*straddles* the border. The keys of cells outside are deleted. In cells that straddle the border, the elements outside
are overwritten with the fill value, unless they all have it. As a grid may have many more cells than are stored, the
keys are listed if there are many cells outside; a store that cannot list is asked to delete each of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.array.objects import FILL_TOKEN, ObjectHandle
from blizzarr.array.stored import stored_chunks
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.indexing import Lowered
from blizzarr.model import ArrayMeta
from blizzarr.model.edges import Edges
from blizzarr.stores import Store
from blizzarr.stores.confined import confined_directory
from blizzarr.stores.requests import delete_many, each_call, present
from blizzarr.transfer import Binding, read

ENUMERATED = 1000
"""The most cells that are visited by their positions; if there are more, the stored keys are listed."""

BATCH = 10_000
"""The most cells that are erased at a time."""

COMPARED_BYTES = 32 << 20
"""The bytes that are read at a time to look for elements other than the fill value."""


def erase_outside(
    store: Store,
    path: str,
    metadata: ArrayMeta,
    binding: Binding,
    keep: tuple[int, ...],
    reach: tuple[int, ...],
    is_still: Callable[[], bool],
    *,
    may_stay: bool = False,
    look_first: bool = False,
) -> None:
    """Make the elements within the shape `reach` but outside of the shape `keep` read as the fill value.

    Both shapes begin at the origin. Elements within `keep` stay; elements outside of `reach` may be erased, too. With
    `may_stay`, they all stay where erasing them takes a list of the keys that the store cannot give.

    Where no lock excludes other programs, `is_still` is called before each change. It returns whether the array still
    has the shape that it had when this began; otherwise nothing more is erased, as somebody may have appended. It
    raises an error if somebody has replaced the array. With `look_first`, no chunk is deleted unless it was stored
    before that question, so that the chunks of an append that comes later are not deleted.
    """
    grid = metadata.with_shape(tuple(map(max, keep, reach))).chunk_grid
    # Without delete, overwrite stored chunks with the fill value and skip missing ones.
    deletes = getattr(store, "supports_delete", True)
    chunks = chunk_store(store, path, metadata)
    is_locked = getattr(chunks, "native", None) is not None
    edges, inside = grid.edges, grid.locate(keep)[0]
    cells = grid.shape(reach)
    prefix = chunk_prefix(path, metadata)
    cells_there: Iterable[tuple[str, tuple[int, ...]]] = (
        (prefix + metadata.chunk_keys.key(cell), cell) for cell in _cells_outside(inside, cells)
    )
    are_stored = False
    if deletes and prod(cells) - prod(map(min, inside, cells)) <= ENUMERATED:
        if is_locked and confined_directory(store) is None:
            by_key = dict(cells_there)
            cells_there = [(key, by_key[key]) for key in present(chunks, list(by_key))]
            are_stored = True
    elif getattr(chunks, "supports_list", True):
        cells_there = stored_chunks(store, path, metadata)
        are_stored = True
    elif may_stay:
        return

    def is_outside(cell: tuple[int, ...]) -> bool:
        return deletes and any(axis.start(index) >= size for axis, index, size in zip(edges, cell, keep, strict=True))

    def fill(place: tuple[str, tuple[int, ...]]) -> None:
        key, cell = place
        # What is not stored may be huge, and has the fill value; what is small is read without that question.
        size = prod(axis.length(index) for axis, index in zip(edges, cell, strict=True)) * binding.dtype.itemsize
        if are_stored or size <= COMPARED_BYTES or present(chunks, [key]):
            # Under its locks, the engine looks at the document itself.
            may_fill = (lambda: True) if is_locked else is_still
            _fill_outside(binding, metadata.fill_value, cell, edges, keep, may_fill, write_empty=not deletes)

    reaching = ((key, cell) for key, cell in cells_there if any(map(operator.ge, cell, inside)))
    while batch := list(islice(reaching, BATCH)):
        outside = [(key, cell) for key, cell in batch if is_outside(cell)]
        steps = [partial(fill, place) for place in batch if not is_outside(place[1])]
        if is_locked:
            # Whoever replaces the array waits for the locks of the chunks.
            binding.handle.erase(np.array([cell for _, cell in outside], np.int64), len(keep) if outside else 0)
        elif outside:
            look = look_first and not are_stored
            steps.insert(0, partial(_delete, chunks, [key for key, _ in outside], is_still, look_first=look))
        each_call(chunks, steps)


def _delete(chunks: Store, keys: list[str], is_still: Callable[[], bool], *, look_first: bool) -> None:
    if look_first:
        keys = present(chunks, keys)
    if keys and is_still():
        delete_many(chunks, keys)


def _cells_outside(inside: Sequence[int], cells: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Iterate over the positions in a grid of shape `cells` outside of the shape `inside`, never visiting others."""
    for axis, (first, stop) in enumerate(zip(inside, cells, strict=True)):
        before = [range(min(whole, count)) for whole, count in zip(inside[:axis], cells[:axis], strict=True)]
        lengths = [*before, range(first, stop), *map(range, cells[axis + 1 :])]
        if all(lengths):
            # An empty product would make lists of its other factors all the same, and these may be very long.
            yield from product(*lengths)


def _fill_outside(
    binding: Binding,
    fill: np.generic,
    cell: tuple[int, ...],
    edges: tuple[Edges, ...],
    keep: tuple[int, ...],
    may_fill: Callable[[], bool],
    *,
    write_empty: bool,
) -> None:
    """Overwrite the elements of one cell outside of `keep` with the fill value, unless they all have it."""
    low = [axis.start(index) for axis, index in zip(edges, cell, strict=True)]
    high = [start + axis.length(index) for start, axis, index in zip(low, edges, cell, strict=True)]
    border = [min(max(size, start), stop) for size, start, stop in zip(keep, low, high, strict=True)]
    whole = binding.resized(tuple(high)).beyond()
    if isinstance(whole.handle, ObjectHandle):
        # The tokens are enough: the objects that they stand for do not matter here.
        whole, fill = whole.handle.tokens(), FILL_TOKEN
    # A scalar of text is as long as the text; elements have the length of the data type.
    element = np.asarray(fill, whole.dtype)
    for axis in range(len(cell)):
        # The box is inside along the axes before this one, outside along this one, and unbounded along those after it.
        start = [*low[:axis], border[axis], *low[axis + 1 :]]
        stop = [*border[:axis], *high[axis:]]
        shape = tuple(map(int, np.subtract(stop, start)))
        if prod(shape) and not _is_fill(whole.without_pool(), element, start, shape) and may_fill():
            _, axes, _ = box(start, shape)
            whole.handle.write(np.broadcast_to(element, shape), axes, write_empty)


def box(start: Sequence[int], shape: tuple[int, ...]) -> Lowered:
    """Return the selection of a box, for the engine."""
    return shape, tuple((axis, first, 1) for axis, first in enumerate(start)), False


def _is_fill(binding: Binding, fill: npt.NDArray[Any], start: Sequence[int], shape: tuple[int, ...]) -> bool:
    """Return whether a box has the bits of the fill value everywhere; it is read in slabs along its first axis."""
    expected = np.frombuffer(fill.tobytes(), np.uint8)
    size = len(expected)
    rows = max(1, COMPARED_BYTES // (prod(shape[1:]) * size))
    for row in range(0, shape[0], rows):
        slab = (min(rows, shape[0] - row), *shape[1:])
        elements = read(binding, box([start[0] + row, *start[1:]], slab))
        found = elements.reshape(-1).view(np.uint8)
        # Each element is compared with the one before, as long runs of bytes are compared several times as fast.
        if not (np.array_equal(found[:size], expected) and np.array_equal(found[size:], found[:-size])):
            return False
    return True
