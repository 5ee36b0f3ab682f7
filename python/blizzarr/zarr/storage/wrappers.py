"""Stores around other stores, through which every call goes."""

from __future__ import annotations

import builtins
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from typing import Any, Generic, TypeVar

from blizzarr.zarr.abc.store import ByteRequest, Store
from blizzarr.zarr.buffer import Buffer, BufferPrototype

__all__ = ["LoggingStore", "WrapperStore"]

S = TypeVar("S", bound=Store)


class WrapperStore(Store, Generic[S]):
    """A store that passes everything on to another one; derive from it to change what you like.

    Parameters
    ----------
    store
        The other store.
    """

    _store: S

    def __init__(self, store: S) -> None:
        self._store = store

    def _with_store(self, store: S) -> Any:
        return type(self)(store)

    def with_read_only(self, read_only: bool = False) -> Any:
        """Return the same store for reading, or for writing."""
        inner: Any = self._store.with_read_only(read_only)
        return self._with_store(inner)

    async def _open(self) -> None:
        await self._store._open()

    async def _ensure_open(self) -> None:
        await self._store._ensure_open()

    @property
    def _is_open(self) -> bool:
        return self._store._is_open

    @_is_open.setter
    def _is_open(self, value: bool) -> None:
        raise NotImplementedError("whether a WrapperStore is open is up to the store in it")

    @property
    def read_only(self) -> bool:
        """True if values cannot be set."""
        return self._store.read_only

    @property
    def supports_writes(self) -> bool:
        """True if values can be set."""
        return self._store.supports_writes

    @property
    def supports_deletes(self) -> bool:
        """True if values can be deleted."""
        return self._store.supports_deletes

    @property
    def supports_listing(self) -> bool:
        """True if keys can be listed."""
        return self._store.supports_listing

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none."""
        return await self._store.get(key, prototype, byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        """Return parts of values."""
        return await self._store.get_partial_values(prototype, key_ranges)

    async def exists(self, key: str) -> bool:
        """Return whether the key has a value."""
        return await self._store.exists(key)

    async def set(self, key: str, value: Buffer) -> None:
        """Set the value of a key."""
        await self._store.set(key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Set the value of a key that has none."""
        await self._store.set_if_not_exists(key, value)

    async def delete(self, key: str) -> None:
        """Remove the value of a key."""
        await self._store.delete(key)

    async def delete_dir(self, prefix: str) -> None:
        """Remove everything below a prefix."""
        await self._store.delete_dir(prefix)

    async def clear(self) -> None:
        """Remove everything."""
        await self._store.clear()

    async def is_empty(self, prefix: str) -> bool:
        """Return whether there is nothing below a prefix."""
        return await self._store.is_empty(prefix)

    def list(self) -> AsyncIterator[str]:
        """Iterate over all keys."""
        return self._store.list()

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Iterate over the keys that begin like this."""
        return self._store.list_prefix(prefix)

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Iterate over the names directly below a prefix."""
        return self._store.list_dir(prefix)

    async def getsize(self, key: str) -> int:
        """Return the number of bytes of a value."""
        return await self._store.getsize(key)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._store == other._store

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return f"wrapping-{self._store}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._store).__name__}, '{self._store}')"


_LOGGED = ("get", "get_partial_values", "exists", "set", "delete", "delete_dir", "clear", "is_empty", "getsize")


class LoggingStore(WrapperStore[S]):
    """A store that writes every call of another one to a log.

    Parameters
    ----------
    store
        The other store.
    log_level
        The level of the messages.
    log_handler
        Where the messages go; by default to the standard error.
    """

    counter: Counter[str]

    def __init__(self, store: S, log_level: str = "DEBUG", log_handler: logging.Handler | None = None) -> None:
        super().__init__(store)
        self.counter = Counter()
        self.log_level, self.log_handler = log_level, log_handler
        self.logger = logging.getLogger(f"LoggingStore({store})")
        self.logger.setLevel(log_level)
        if not self.logger.handlers:
            handler = log_handler or logging.StreamHandler()
            handler.setLevel(log_level)
            handler.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s"))
            self.logger.addHandler(handler)

    def _with_store(self, store: S) -> LoggingStore[S]:
        return type(self)(store, self.log_level, self.log_handler)

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return _logged(self, name, value) if name in _LOGGED else value

    def __str__(self) -> str:
        return f"logging-{self._store}"


def _logged(store: LoggingStore[Any], name: str, method: Any) -> Any:
    async def call(*args: Any, **named: Any) -> Any:
        shown = f"{type(store._store).__name__}.{name}({', '.join(map(str, args[:1]))})"
        store.counter[name] += 1
        store.logger.info(" Calling %s", shown)
        begun = time.perf_counter()
        try:
            return await method(*args, **named)
        finally:
            store.logger.info("Finished %s [%.2f s]", shown, time.perf_counter() - begun)

    return call
