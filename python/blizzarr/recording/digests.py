"""SHA-256 digests of stored objects, computed in threads with one object in memory per thread."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from blizzarr.errors import StoreError
from blizzarr.stores import Store
from blizzarr.stores.requests import at_once
from blizzarr.stores.threads import Threads

__all__ = ["Told", "digests"]

Told: TypeAlias = Callable[[int, int], None]
"""A callback with the number of objects that are done, and their total number."""

AHEAD = 256
"""The number of objects per batch, and between two progress reports."""


def digests(
    store: Store, keys: Sequence[str], progress: Told | None = None
) -> Iterator[tuple[str, str | StoreError | None]]:
    """Yield each key with the SHA-256 of its value, `None` if there is no value, or the error if it cannot be read."""

    def one(key: str) -> tuple[str, str | StoreError | None]:
        try:
            value = store.get(key)
        except StoreError as error:
            return key, error
        return key, None if value is None else hashlib.sha256(value).hexdigest()

    waiting, done = iter(keys), 0
    with Threads(at_once(store, otherwise=os.cpu_count() or 1)) as pool:
        while batch := list(islice(waiting, AHEAD)):
            yield from pool.map(one, batch)
            done += len(batch)
            if progress is not None:
                progress(done, len(keys))
