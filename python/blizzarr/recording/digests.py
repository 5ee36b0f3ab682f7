"""The checksums of stored objects, by all cores: one object in memory for each thread."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from blizzarr.errors import StoreError
from blizzarr.stores import Store
from blizzarr.stores.threads import Threads

__all__ = ["Told", "digests"]

Told: TypeAlias = Callable[[int, int], None]
"""Called with the objects done and the objects in all."""

AHEAD = 256
"""So many objects are handed out at a time, and told of."""


def digests(
    store: Store, keys: Sequence[str], progress: Told | None = None
) -> Iterator[tuple[str, str | StoreError | None]]:
    """For each key SHA-256 of what is stored there; None when there is nothing, the error when it cannot be read."""

    def one(key: str) -> tuple[str, str | StoreError | None]:
        try:
            value = store.get(key)
        except StoreError as error:
            return key, error
        return key, None if value is None else hashlib.sha256(value).hexdigest()

    waiting, done = iter(keys), 0
    with Threads(os.cpu_count() or 1) as pool:
        while batch := list(islice(waiting, AHEAD)):
            yield from pool.map(one, batch)
            done += len(batch)
            if progress is not None:
                progress(done, len(keys))
