"""Stores around other stores, through which every call goes."""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, Generic, Self, TypeVar

from blizzarr.zarr.abc.store import Store, call_sync

S = TypeVar("S", bound=Store)

_METHODS: Final = (
    *("_open", "_ensure_open", "get", "get_partial_values", "exists", "set", "set_if_not_exists", "delete"),
    *("delete_dir", "clear", "is_empty", "list", "list_prefix", "list_dir", "getsize", "close"),
)
_SYNC: Final = ("get_sync", "set_sync", "delete_sync")
_PROPERTIES: Final = ("read_only", "supports_writes", "supports_deletes", "supports_listing")


def _method(name: str) -> Any:
    @wraps(getattr(Store, name), updated=())
    def call(self: Any, *args: Any, **named: Any) -> Any:
        return getattr(self._store, name)(*args, **named)

    return call


def _property(name: str) -> Any:
    return property(lambda self: getattr(self._store, name), doc=getattr(Store, name).__doc__)


_passed = {name: _method(name) for name in _METHODS} | {name: _property(name) for name in _PROPERTIES}
_Passing: Any = type("_Passing", (Store,), _passed)


def _sync_method(name: str) -> Any:
    def call(self: Any, *args: Any, **named: Any) -> Any:
        return call_sync(self._store, name, *args, **named)

    call.__doc__ = f"""Call ``{name}`` of the other store; a `TypeError` if it has no such method."""
    call.__name__ = name
    return call


class WrapperStore(_Passing, Generic[S]):  # type: ignore[misc]
    """A store that passes everything on to another one; derive from it to change what you like.

    Parameters
    ----------
    store
        The other store.
    """

    _store: S

    def __init__(self, store: S) -> None:
        self._store = store

    @classmethod
    async def open(cls, store_cls: Any, *args: Any, **kwargs: Any) -> Self:
        """Make a store of another class, open it, and return a wrapper of it."""
        return cls(await store_cls.open(*args, **kwargs))

    get_sync, set_sync, delete_sync = map(_sync_method, _SYNC)

    def _with_store(self, store: S) -> Any:
        return type(self)(store)

    def with_read_only(self, read_only: bool = False) -> Any:
        inner: Any = self._store.with_read_only(read_only)
        return self._with_store(inner)

    @property
    def _is_open(self) -> bool:
        return self._store._is_open

    @_is_open.setter
    def _is_open(self, value: bool) -> None:
        raise NotImplementedError(f"{type(self).__name__} must be opened via the `_open` method")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._store == other._store

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return f"wrapping-{self._store}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._store).__name__}, '{self._store}')"


_LOGGED: Final = (
    *("get", "get_partial_values", "exists", "set", "delete", "delete_dir", "clear", "is_empty", "getsize"),
    *_SYNC,
)


class LoggingStore(WrapperStore[S]):
    """A store that writes every call of another one to a log.

    Parameters
    ----------
    store
        The other store.
    log_level
        The level of the messages.
    log_handler
        Where the messages go; by default to the standard output.
    """

    counter: Counter[str]

    def __init__(self, store: S, log_level: str = "DEBUG", log_handler: logging.Handler | None = None) -> None:
        super().__init__(store)
        self.counter = Counter()
        self.log_level, self.log_handler = log_level, log_handler
        self.logger = logging.getLogger(f"LoggingStore({store})")
        self.logger.setLevel(log_level)
        if not self.logger.handlers:
            handler = log_handler or logging.StreamHandler(sys.stdout)
            handler.setLevel(log_level)
            handler.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s"))
            self.logger.addHandler(handler)

    @classmethod
    async def open(
        cls, store_cls: Any, log_level: str = "DEBUG", log_handler: logging.Handler | None = None, **kwargs: Any
    ) -> Self:
        """Make a store of another class, open it, and return one that logs its calls."""
        return cls(await store_cls.open(**kwargs), log_level, log_handler)

    def _with_store(self, store: S) -> LoggingStore[S]:
        return type(self)(store, self.log_level, self.log_handler)

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return _logged(self, name, value) if name in _LOGGED else value

    def __str__(self) -> str:
        return f"logging-{self._store}"


@contextmanager
def _log(store: LoggingStore[Any], name: str, args: tuple[Any, ...]) -> Iterator[None]:
    shown = f"{type(store._store).__name__}.{name}({', '.join(map(str, args[:1]))})"
    store.counter[name] += 1
    store.logger.info(" Calling %s", shown)
    begun = time.perf_counter()
    try:
        yield
    finally:
        store.logger.info("Finished %s [%.2f s]", shown, time.perf_counter() - begun)


def _logged(store: LoggingStore[Any], name: str, method: Any) -> Any:
    def call_at_once(*args: Any, **named: Any) -> Any:
        with _log(store, name, args):
            return method(*args, **named)

    async def call(*args: Any, **named: Any) -> Any:
        with _log(store, name, args):
            return await method(*args, **named)

    return call_at_once if name in _SYNC else call
