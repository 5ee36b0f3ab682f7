"""Copying stored objects without decoding them, if source and destination have the same layout.

Damaged objects are copied like the others, so damage in the source is damage in the copy.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Final

from blizzarr.array import Array
from blizzarr.array.facts import binding_of
from blizzarr.array.stored import chunks_inside
from blizzarr.config import config
from blizzarr.copying.regions import Cell
from blizzarr.distributing import Workers, batches, spread
from blizzarr.durability import as_durable_as_here
from blizzarr.errors import UnsupportedOperationError
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.model import ArrayMeta
from blizzarr.stores.requests import at_once
from blizzarr.stores.threads import Threads

BATCH = 256
"""The most objects that are copied between two updates of the record."""
_PAUSE: Final = 0.5
"""Seconds after which the record is updated even if fewer objects have been copied."""


def same_layout(source: ArrayMeta, target: ArrayMeta) -> bool:
    """Return whether the objects that are stored, and those that are not, have the same meaning in both arrays."""
    return (
        source.shape == target.shape
        and source.dtype == target.dtype
        and source.chunk_grid == target.chunk_grid
        and not source.chunk_keys.share_values
        and source.codecs.to_json() == target.codecs.to_json()
        and source.dtype.fill_identity(source.fill_value) == target.dtype.fill_identity(target.fill_value)
        # Where the copy leaves undefined what is not stored, it has to be stored.
        and target.fill_undefined <= source.fill_undefined
    )


def stored_objects(source: Array) -> list[tuple[int, ...]] | None:
    """Return the positions in the grid of the objects that are stored, sorted; None if listings do not show them."""
    if source.metadata.chunk_keys.share_values:
        return None
    try:
        return sorted(chunks_inside(source.store, source.path, source.metadata))
    except UnsupportedOperationError:
        return None


def copy_stored(
    source: Array,
    target: Array,
    positions: list[tuple[int, ...]],
    done: int,
    after: Callable[[int, int], None],
    workers: Workers | None = None,
) -> None:
    """Copy these objects from number `done` on.

    `after` is called with the number of objects that are done, and the number that were copied since the last call.
    """
    _compare(source, target)

    def advance(came: int) -> None:
        nonlocal done
        done += came
        after(done, came)

    for _ in spread(workers, partial(_copy_some, source, target), batches(positions[done:], BATCH, workers), advance):
        pass


def _copy_some(source: Array, target: Array, batch: Sequence[Cell], advance: Callable[[int], object]) -> None:
    old, new = source.metadata, target.metadata
    old_prefix, new_prefix = chunk_prefix(source.path, old), chunk_prefix(target.path, new)
    here, there = chunk_store(source.store, source.path, old), chunk_store(target.store, target.path, new)

    def one(position: Cell) -> None:
        value = here.get(old_prefix + old.chunk_keys.key(position))
        if value is not None:
            there.set(new_prefix + new.chunk_keys.key(position), value)

    threads = min(16, 2 * (config.threads or os.cpu_count() or 1))
    size = prod(old.largest) * old.dtype.itemsize
    with Threads(at_once(source.store, target.store, otherwise=threads, size=size)) as pool:
        before, then = 0, time.monotonic()
        for came, _ in enumerate(pool.map(as_durable_as_here(one), batch), 1):
            if came == len(batch) or time.monotonic() - then >= _PAUSE:
                _compare(source, target)
                advance(came - before)
                before, then = came, time.monotonic()


def _compare(*arrays: Array) -> None:
    """Raise an error if another array has taken the place of one of these: bytes would have another meaning there."""
    for array in arrays:
        binding_of(array).compare(array.shape)
