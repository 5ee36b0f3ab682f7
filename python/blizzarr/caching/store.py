"""A store whose arrays keep what they read in a pool, and when that must be checked before it is used again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from blizzarr.caching.pool import CachePool
from blizzarr.stores import Replaced, Store, Value
from blizzarr.stores.failures import changed
from blizzarr.stores.wrapper import StoreHandle


@dataclass(frozen=True, slots=True)
class Since:
    """Use entries without another check if they were checked at this moment or later."""

    seconds: float
    """Seconds since 1970, like `time.time()`."""

    @classmethod
    def now(cls) -> Since:
        """Return the current moment."""
        return cls(time.time())


Recheck: TypeAlias = bool | Literal["open"] | float | Since
"""When to check an entry. True: before each read. False: never. ``"open"``: once after the array was opened. A number:
if the last check is longer ago than so many seconds. `Since`: if the last check was before that moment.
"""


def check_recheck(recheck: Recheck) -> Recheck:
    """Check that a value is a valid `Recheck`."""
    if isinstance(recheck, bool | Since) or recheck == "open":
        return recheck
    if not isinstance(recheck, int | float):
        raise TypeError(f"expected recheck to be True, False, 'open', seconds or Since(...), found {recheck!r}")
    if math.isnan(recheck) or recheck < 0:
        raise ValueError(f"expected recheck to be 0 seconds or more, found {recheck!r}")
    return recheck


def native_recheck(recheck: Recheck) -> tuple[str, float]:
    """Return the argument for the engine, for an array that is opened now.

    >>> native_recheck(2.5), native_recheck(False), native_recheck(Since(12))
    (('age', 2.5), ('never', 0.0), ('since', 12.0))
    """
    if isinstance(recheck, bool):
        return ("always" if recheck else "never"), 0.0
    if recheck == "open":
        return "open", 0.0
    if isinstance(recheck, Since):
        return "since", float(recheck.seconds)
    assert not isinstance(recheck, str), "checked when the store was made"
    return ("age", float(recheck)) if recheck else ("always", 0.0)


class CachedStore(StoreHandle):
    """A wrapper of a store; arrays and groups that are opened from it use the pool.

    Parameters
    ----------
    store
        Where values are. Documents and other values that are asked for by key are not kept, only what arrays decode.
    pool
        What keeps them.
    recheck
        When something that is kept must be checked again before it is used: see `Recheck`.

    Examples
    --------
    >>> import blizzarr
    >>> pool = blizzarr.CachePool(1 << 20)
    >>> store = CachedStore(blizzarr.stores.MemoryStore(), pool, recheck=False)
    >>> group = blizzarr.create_group(store)
    >>> z = group.create_array("z", data=[1, 2, 3])
    >>> z[1], z[2], pool.info().hits
    (np.int64(2), np.int64(3), 1)
    """

    def __init__(self, store: Store, pool: CachePool, recheck: Recheck = True) -> None:
        if not isinstance(pool, CachePool):
            raise TypeError(f"expected a CachePool, found {type(pool).__name__}")
        if isinstance(store, CachedStore):
            store = store.store
        super().__init__(store)
        self.pool = pool
        self.recheck = check_recheck(recheck)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.store!r}, {self.pool!r}, recheck={self.recheck!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CachedStore):
            return NotImplemented
        return bool(self.store == other.store) and self.pool is other.pool and self.recheck == other.recheck

    def __hash__(self) -> int:
        return hash((id(self.pool), self.recheck))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.store, self.pool, self.recheck)

    def set(self, key: str, value: Value) -> None:
        with self._changing(key):
            self.store.set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        with self._changing(key):
            return super().replace(key, expected, value)

    def discard(self, key: str, expected: Value) -> bool:
        with self._changing(key):
            return super().discard(key, expected)

    @property
    def set_if_version(self) -> Callable[[str, Value, str | None], bool]:
        method: Callable[[str, Value, str | None], bool] = self.store.set_if_version  # type: ignore[attr-defined]

        def set_if_version(key: str, value: Value, version: str | None) -> bool:
            with self._changing(key):
                return method(key, value, version)

        return set_if_version

    def delete(self, key: str) -> object:
        with self._changing(key):
            return self.store.delete(key)

    def delete_prefix(self, prefix: str) -> None:
        with self._changing(prefix, is_prefix=True):
            super().delete_prefix(prefix)

    @contextmanager
    def _changing(self, name: str, *, is_prefix: bool = False) -> Iterator[None]:
        try:
            yield
        finally:
            # Stores of the engine tell by themselves.
            if getattr(self.store, "native", None) is None:
                changed(self, name, is_prefix=is_prefix)
