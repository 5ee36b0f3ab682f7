"""Sizes as text for people, and the size of a node in its store."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from blizzarr.errors import BlizzarrError, StoreError, UnsupportedOperationError
from blizzarr.formats import FORMATS, PROGRESS, node_of
from blizzarr.hierarchy.removal import REMOVAL
from blizzarr.model import ChunkGrid
from blizzarr.stores import LocalStore
from blizzarr.stores.confined import scanned
from blizzarr.stores.requests import is_remote
from blizzarr.stores.wrapper import unwrapped

LOOKED_AT: Final = 20_000
"""The most objects whose sizes are added up by default."""

_OVER_NETWORK: Final = 2.0
"""The seconds for listing one node in a remote store."""


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as text.

    >>> shape_text((10, 20_000)), shape_text(())
    ('10 \xd7 20,000', 'scalar')
    """
    return " \N{MULTIPLICATION SIGN} ".join(f"{length:,}" for length in shape) or "scalar"


def grid_text(grid: ChunkGrid) -> str:
    """Return the lengths of the chunks along each axis as text."""
    if grid.is_even:
        return shape_text(grid.chunk_shape)
    return " \N{MULTIPLICATION SIGN} ".join(map(str, grid.edges))


@dataclass(frozen=True, slots=True)
class Stored:
    """The objects that hold the chunks of a node: their number and their size."""

    objects: int
    bytes: int
    complete: bool
    """False if there are more objects than were counted."""


def ratio_text(raw: int | None, size: Stored | None) -> str | None:
    """Return the raw size divided by the stored size, as text; None if one of them is unknown."""
    if size is None or not size.complete or not size.bytes or not raw:
        return None
    ratio = raw / size.bytes
    return f"{ratio:,.{1 if ratio < 1000 else 0}f}\N{MULTIPLICATION SIGN}"


def stored(
    store: Any, prefix: str, limit: int = LOOKED_AT, seconds: float = math.inf, *, over_network: bool = False
) -> Stored | None:
    """Return the size of the chunks of a node; None if its store cannot tell without reading them.

    - `prefix`: what the keys of its chunks begin with.
    - `limit`, `seconds`: stop after so many objects, or so much time, and say so: the directory may be huge, or on a
      network after all.
    - `over_network`: also ask a store that is far away, for a listing, which tells the sizes, too.
    """
    # A read-only handle is a wrapper of the store itself.
    store = unwrapped(store)
    sizes: Iterator[int]
    if isinstance(store, LocalStore):
        sizes = _file_sizes(store, prefix)
    elif over_network and callable(getattr(store, "list_sizes", None)):
        try:
            listed = (size for key, size in store.list_sizes(prefix.rstrip("/")) if not _is_document(key))
            return _added_up(listed, limit, min(seconds, _OVER_NETWORK))
        except (StoreError, UnsupportedOperationError):
            # A store that cannot list, or not now, is no reason to fail.
            return None
    elif callable(getattr(store, "size", None)) and not is_remote(store):
        sizes = (store.size(key) or 0 for key in store.list(prefix.rstrip("/")) if not _is_document(key))
    else:
        return None
    return _added_up(sizes, limit, seconds)


def _added_up(sizes: Iterator[int], limit: int, seconds: float) -> Stored:
    objects = total = 0
    until = time.monotonic() + seconds
    for size in islice(sizes, limit):
        objects += 1
        total += size
        if time.monotonic() > until:
            break
    return Stored(objects, total, next(sizes, None) is None)


def _is_document(key: str) -> bool:
    return node_of(key, FORMATS.values()) is not None or key.rpartition("/")[2] in (PROGRESS, REMOVAL)


def _file_sizes(store: LocalStore, prefix: str) -> Iterator[int]:
    waiting = [f"{prefix.rstrip('/')}/" if prefix else ""]
    while waiting:
        name = waiting.pop()
        try:
            with scanned(store, name) as (_, found):
                for entry in found:
                    if entry.is_directory and not entry.is_link:
                        waiting.append(f"{name}{entry.name}/")
                    elif entry.is_file and not _is_document(entry.name):
                        yield store.size(name + entry.name) or 0
        except (OSError, BlizzarrError):
            # The file was removed meanwhile, or is not readable: a size is no reason to fail.
            continue
