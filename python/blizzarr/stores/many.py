"""Changing many values of a store: in one call if the store has one, otherwise with several threads.

The order of the changes is undefined; after an error some of them were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from blizzarr.config import config
from blizzarr.durability import as_durable_as_here
from blizzarr.stores.protocol import Store, Value
from blizzarr.stores.requests import is_remote
from blizzarr.stores.threads import Threads

_THREADS: Final = 32
"""The number of threads, which mostly wait for the store."""
_FEW: Final = 4


def set_many(store: Store, values: Sequence[tuple[str, Value]]) -> None:
    """Store values under their keys.

    >>> from blizzarr.stores import MemoryStore
    >>> store = MemoryStore()
    >>> set_many(store, [("a", b"1"), ("b", b"2")])
    >>> store.list()
    ['a', 'b']
    """
    together = getattr(store, "set_many", None)
    if together is not None:
        together(values)
    else:
        _each(store, store.set, values)


def delete_many(store: Store, keys: Sequence[str]) -> None:
    """Remove the values under the keys, if there are any.

    >>> from blizzarr.stores import MappingStore
    >>> store = MappingStore({"a": b"1", "b": b"2"})
    >>> delete_many(store, ["a", "c"])
    >>> store.list()
    ['b']
    """
    together = getattr(store, "delete_many", None)
    if together is not None:
        together(keys)
    else:
        _each(store, store.delete, [(key,) for key in keys])


def duplicate_many(store: Store, pairs: Sequence[tuple[str, str]]) -> None:
    """Store the value of the first key of each pair under the second as well, replacing what is there.

    Nothing is copied if the store can link. Pairs whose first key has no value are skipped.

    >>> from blizzarr.stores import MappingStore
    >>> store = MappingStore({"a": b"value"})
    >>> duplicate_many(store, [("a", "b"), ("c", "d")])
    >>> store.get("b"), store.get("d")
    (b'value', None)
    """
    link = getattr(store, "link_many", None)
    linked = [False] * len(pairs) if link is None else link(pairs)

    def copy(key: str, other: str) -> None:
        value = store.get(key)
        if value is not None:
            store.set(other, value)

    _each(store, copy, [pair for pair, done in zip(pairs, linked, strict=True) if not done])


def _each(store: Store, work: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> None:
    """Call `work` with each of the arguments, several at a time."""
    arguments = list(arguments)
    if len(arguments) < (2 if is_remote(store) else _FEW):
        for some in arguments:
            work(*some)
        return

    def one(some: tuple[Any, ...]) -> None:
        work(*some)

    with Threads(config.requests_at_once if is_remote(store) else _THREADS) as pool:
        for _ in pool.map(as_durable_as_here(one), arguments):
            pass
