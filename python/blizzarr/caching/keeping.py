"""The settings for caching the arrays of a store: found in the wrappers around it, and passed to the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from blizzarr import _native
from blizzarr.caching.pool import CachePool
from blizzarr.caching.store import CachedStore, Recheck, native_recheck
from blizzarr.stores import ReadOnlyStore, Store, StoreWrapper


@dataclass(frozen=True, slots=True)
class Keeping:
    """A pool, and the rule for checking its entries."""

    pool: CachePool
    recheck: Recheck
    lifetime: Lifetime | None
    """The object that produces these values, where other handles of the same place may produce others."""

    def native(self) -> tuple[_native.CachePool, str, float, int] | None:
        """Return the arguments for the engine; None when nothing is kept."""
        pool = self.pool.native
        if pool is None:
            return None
        return pool, *native_recheck(self.recheck), 0 if self.lifetime is None else self.lifetime.number


_TRANSPARENT = (CachedStore, ReadOnlyStore, StoreWrapper)
"""Wrappers that return values unchanged; subclasses of them may not."""


def keeping_of(store: Store) -> Keeping | None:
    """Return the settings of the outermost `CachedStore` around a store; None where there is none."""
    outermost = None
    shown_by: Any = None
    while isinstance(store, StoreWrapper):
        if outermost is None and isinstance(store, CachedStore):
            outermost = store
        if shown_by is None and type(store) not in _TRANSPARENT:
            shown_by = store
        store = store.store
    if outermost is None:
        return None
    if shown_by is None and getattr(store, "native", None) is None:
        shown_by = getattr(store, "mapping", getattr(store, "target", store))
    # Only stores of the engine are known by where they are.
    return Keeping(outermost.pool, outermost.recheck, None if shown_by is None else Lifetime.of(shown_by))


_KINDS = {np.dtype(code): code for code in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}


def scalar_of(dtype: np.dtype[Any]) -> tuple[str, Callable[[Any], Any]]:
    """Return how the engine makes a scalar: from a Python number where that holds all bits, else from bytes."""
    kind = _KINDS.get(dtype)
    if kind is not None:
        return kind, dtype.type
    return "", lambda found: np.ndarray((), dtype, bytearray(found))[()]


_numbers = count(1)


class Lifetime:
    """A reference to an object with a number that no other object ever gets."""

    def __init__(self, of: Any) -> None:
        self._of = of
        self.number = next(_numbers)

    @staticmethod
    def of(behind: Any) -> Lifetime:
        """Return the lifetime of an object: a new one, if the object has none."""
        lifetime = _lifetimes.get(id(behind))
        # Two threads at once may get two, which is no more than two caches. A lock might stay held in a forked child.
        return _lifetimes.setdefault(id(behind), Lifetime(behind)) if lifetime is None else lifetime


_lifetimes: WeakValueDictionary[int, Lifetime] = WeakValueDictionary()
