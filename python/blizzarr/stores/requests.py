"""Many requests at once, to stores for which each takes long; and changing many values.

The order of the changes is undefined; after an error some of them were made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import Any, Final, TypeVar

from blizzarr.config import config
from blizzarr.durability import as_durable_as_here
from blizzarr.errors import BlizzarrError
from blizzarr.stores.protocol import Store, Value
from blizzarr.stores.threads import Threads, threads_here

T = TypeVar("T")
R = TypeVar("R")

_THREADS: Final = 32
"""The number of threads that change values of stores on this machine, and mostly wait for them."""
_FEW: Final = 4
_HELD: Final = 256 << 20
"""The bytes that values may take up which are requested at once, those of the fewest requests apart."""
ARRAYS_AT_ONCE: Final = 16
"""How many small arrays are copied, written or checked at once if a store is remote: each takes many requests."""


def publish(store: Store) -> None:
    """Make changes visible to others, for stores that do not do so at once."""
    flush: Callable[[], None] | None = getattr(store, "flush", None)
    if flush is not None and not getattr(store, "shows_at_once", False):
        flush()


def abandon(store: Store) -> None:
    """Leave the file that a store would replace, for stores that do so at once when they are closed."""
    method: Callable[[], None] | None = getattr(store, "abandon", None)
    if method is not None:
        method()


@contextmanager
def complete(given: object, store: Store) -> Iterator[None]:
    """Close a store after an error in the context, if it was opened for this: if what was given is a path.

    The error keeps the store, often for long, and a zip file that is published then is in the way of another try.
    """
    try:
        yield
    except BaseException as error:
        if isinstance(given, str | os.PathLike):
            abandon(store)
            give_up: Callable[[], None] | None = getattr(store, "give_up", None)
            try:
                if give_up is not None:
                    give_up()
            except BlizzarrError as failure:
                error.add_note(str(failure))
        raise


def is_remote(store: object) -> bool:
    """Return whether requests to a store take long.

    Only True counts: objects of other libraries may have an attribute of this name about something else.
    """
    return getattr(store, "remote", False) is True


def is_small(size: int) -> bool:
    """Return whether `ARRAYS_AT_ONCE` arrays of this size in bytes fit into `config.copy_bytes`."""
    return size <= config.copy_bytes // ARRAYS_AT_ONCE


def at_once(*stores: object, otherwise: int = 1, size: int = 1) -> int:
    """Return how many requests to make at once: `config.concurrent_requests` if any of the stores is remote.

    - `otherwise`: the number if none of them is remote, and the least in any case.
    - `size`: the number of bytes that each request holds in memory.
    """
    if not any(map(is_remote, stores)):
        return otherwise
    return max(otherwise, min(config.requests_at_once, _HELD // max(size, 1)))


def of_this_thread(requests: int) -> int:
    """Return how many of these this thread may make at once, as the others of a loop around it make as many each."""
    return requests // threads_here() if config.concurrent_requests else requests


def each(
    store: object, work: Callable[[T], R], items: Iterable[T], most: int | None = None, otherwise: int = 1
) -> list[R]:
    """Return the results of `work` for all items, in their order; several are worked on at once if the store is remote.

    `most` limits how many, for work that several callers do at once; `otherwise` is how many if the store is not remote
    and there are more than a few items. The first failure is raised once what has begun has ended; what has not begun
    by then is left out.
    """
    items = list(items)
    threads = at_once(store) if is_remote(store) or len(items) < _FEW else otherwise
    count = min(of_this_thread(threads), len(items), most or len(items))
    if count < 2:
        return [work(item) for item in items]
    # Threads that live no longer than this call, as a forked child would lack them.
    with Threads(count) as pool:
        results: Any = pool.map(as_durable_as_here(work), items)
        return list(results)


def each_array(
    stores: Iterable[object], work: Callable[[T], R], arrays: Sequence[T], size_of: Callable[[T], int]
) -> list[R]:
    """Return the results of `work` for all arrays, in their order; small ones are done first if any store is remote.

    They wait for requests most of the time, so several are worked on at once.

    - `size_of`: a function that returns the bytes of memory that the work on an array takes.
    """
    far = next(filter(is_remote, stores), None)
    small = [number for number, array in enumerate(arrays) if far is not None and is_small(size_of(array))]
    results = each(far, lambda number: work(arrays[number]), small, ARRAYS_AT_ONCE)
    done = dict(zip(small, results, strict=True))
    return [done[number] if number in done else work(array) for number, array in enumerate(arrays)]


def each_call(store: object, calls: Iterable[Callable[[], Any]]) -> list[Any]:
    """Return the results of calls, whose requests are made at once if the store is remote; see `each`."""
    return each(store, lambda call: call(), calls)


def present(store: Any, keys: Sequence[str]) -> list[str]:
    """Return the keys that have a value."""
    of_store: Callable[[Sequence[str]], Iterable[str]] | None = getattr(store, "present", None)
    if of_store is not None:
        return list(of_store(keys))
    return list(compress(keys, each(store, lambda key: store.get_ranges(key, [(0, 1)]) is not None, keys)))


@contextmanager
def alongside(store: object, work: Callable[[], object]) -> Iterator[None]:
    """Do work before the block, or, if the store is remote, while the block runs, so that neither waits for the other.

    A failure of the block is raised first. Where `config.concurrent_requests` limits the requests, the block may make
    as many, so that the work is done before it.
    """
    if not is_remote(store) or config.concurrent_requests:
        work()
        yield
        return
    with Threads(1) as pool:
        done = pool.map(as_durable_as_here(lambda _: work()), (None,))
        yield
        list(done)


def set_many(store: Store, values: Sequence[tuple[str, Value]]) -> None:
    """Store values under their keys."""
    together = getattr(store, "set_many", None)
    if together is not None:
        together(values)
    else:
        each(store, lambda value: store.set(*value), values, otherwise=_THREADS)


def delete_many(store: Store, keys: Sequence[str]) -> None:
    """Remove the values under the keys, if there are any."""
    together = getattr(store, "delete_many", None)
    if together is not None:
        together(keys)
    else:
        each(store, store.delete, keys, otherwise=_THREADS)


def duplicate_many(store: Store, pairs: Sequence[tuple[str, str]]) -> None:
    """Store the value of the first key of each pair under the second as well, replacing what is there.

    Nothing is copied if the store can link. Pairs whose first key has no value are skipped.
    """
    link = getattr(store, "link_many", None)
    linked = [False] * len(pairs) if link is None else link(pairs)

    def copy(pair: tuple[str, str]) -> None:
        value = store.get(pair[0])
        if value is not None:
            store.set(pair[1], value)

    each(store, copy, [pair for pair, done in zip(pairs, linked, strict=True) if not done], otherwise=_THREADS)
