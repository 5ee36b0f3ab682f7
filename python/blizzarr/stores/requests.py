"""Many requests at once, to stores for which each takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from blizzarr.config import config
from blizzarr.durability import as_durable_as_here
from blizzarr.stores.threads import Threads

T = TypeVar("T")
R = TypeVar("R")

_HELD: Final = 256 << 20
"""The bytes that values may take up which are requested at once, those of the fewest requests apart."""


def is_remote(store: object) -> bool:
    """Return whether requests to a store take long.

    Only True counts: objects of other libraries may have an attribute of this name about something else.

    >>> from blizzarr.stores import MemoryStore
    >>> is_remote(MemoryStore())
    False
    """
    return getattr(store, "remote", False) is True


def at_once(*stores: object, otherwise: int = 1, size: int = 1) -> int:
    """Return how many requests to make at once: `config.concurrent_requests` if any of the stores is remote.

    Parameters
    ----------
    stores
        The stores.
    otherwise
        The number if none of them is remote, and the least in any case.
    size
        The number of bytes that each request holds in memory.

    >>> from blizzarr.stores import MemoryStore
    >>> at_once(MemoryStore(), otherwise=4)
    4
    """
    if not any(map(is_remote, stores)):
        return otherwise
    return max(otherwise, min(config.requests_at_once, _HELD // max(size, 1)))


def each(store: object, work: Callable[[T], R], items: Iterable[T], most: int | None = None) -> list[R]:
    """Return the results of `work` for all items, in their order; several are worked on at once if the store is remote.

    `most` limits how many, for work that several callers do at once. The first failure is raised once what has begun
    has ended; what has not begun by then is left out.

    >>> from blizzarr.stores import MemoryStore
    >>> each(MemoryStore(), str.upper, ["a", "b"])
    ['A', 'B']
    """
    items = list(items)
    count = min(at_once(store), len(items), most or len(items))
    if count < 2:
        return [work(item) for item in items]
    # Threads that live no longer than this call, as a forked child would lack them.
    with Threads(count) as pool:
        results: Any = pool.map(as_durable_as_here(work), items)
        return list(results)
