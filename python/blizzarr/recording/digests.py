"""SHA-256 digests of stored objects, computed in threads with one object in memory per thread."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from blizzarr.config import config
from blizzarr.distributing import Workers, spread
from blizzarr.errors import StoreError
from blizzarr.stores import Store
from blizzarr.stores.requests import at_once
from blizzarr.stores.threads import Threads

Advance: TypeAlias = Callable[[int, int], None]
"""A callback with the number of objects that are done, and their total number."""

AHEAD = 256
"""The number of objects per batch, and between two progress reports."""


def digests(
    store: Store, keys: Sequence[str], progress: Advance | None = None, workers: Workers | None = None
) -> Iterator[tuple[str, str | StoreError | None]]:
    """Yield each key with the SHA-256 of its value, `None` if there is no value, or the error if it cannot be read."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, len(keys))

    batches = (keys[start : start + AHEAD] for start in range(0, len(keys), AHEAD))
    start = 0
    for found in spread(workers, partial(_digests, store), batches, advance):
        yield from zip(keys[start : start + AHEAD], found, strict=True)
        start += AHEAD


def _digests(store: Store, keys: Sequence[str], advance: Callable[[int], object]) -> list[str | StoreError | None]:
    def one(key: str) -> str | StoreError | None:
        try:
            value = store.get(key)
        except StoreError as error:
            return error
        return None if value is None else hashlib.sha256(value).hexdigest()

    threads = config.threads or os.cpu_count() or 1
    with Threads(at_once(store, otherwise=threads)) as pool:
        found = list(pool.map(one, keys))
    advance(len(keys))
    return found
