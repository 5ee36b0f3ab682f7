"""The module ``zarr.abc.store``: the abstract base class of asynchronous stores.

A store of a user that derives from it holds arrays and groups like any other; `blizzarr.zarr.storage` has those that
there are already.
"""

from __future__ import annotations

import asyncio
import builtins
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

from blizzarr.zarr.buffer import Buffer, BufferPrototype, default_buffer_prototype

__all__ = [
    *("ByteGetter", "ByteRequest", "ByteSetter", "OffsetByteRequest", "RangeByteRequest", "Store"),
    *("SuffixByteRequest", "SupportsDeleteSync", "SupportsGetSync", "SupportsSetSync", "SupportsSyncStore"),
    *("SyncByteGetter", "SyncByteSetter", "set_or_delete"),
]


@dataclass(frozen=True, slots=True)
class RangeByteRequest:
    """The bytes from `start` up to `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OffsetByteRequest:
    """The bytes from `offset` on."""

    offset: int


@dataclass(frozen=True, slots=True)
class SuffixByteRequest:
    """The last `suffix` bytes."""

    suffix: int


ByteRequest: TypeAlias = RangeByteRequest | OffsetByteRequest | SuffixByteRequest


@runtime_checkable
class ByteGetter(Protocol):
    """What bytes can be read from."""

    async def get(self, prototype: Any, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the bytes."""


@runtime_checkable
class ByteSetter(ByteGetter, Protocol):
    """What bytes can be written to."""

    async def set(self, value: Buffer) -> None:
        """Replace the bytes."""

    async def delete(self) -> None:
        """Remove the bytes."""

    async def set_if_not_exists(self, default: Buffer) -> None:
        """Set the bytes where there are none."""


@runtime_checkable
class SyncByteGetter(Protocol):
    """What bytes can be read from without waiting for an event loop."""

    def get_sync(self, prototype: Any = None, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the bytes."""


@runtime_checkable
class SyncByteSetter(SyncByteGetter, Protocol):
    """What bytes can be written to without waiting for an event loop."""

    def set_sync(self, value: Buffer) -> None:
        """Replace the bytes."""

    def delete_sync(self) -> None:
        """Remove the bytes."""


@runtime_checkable
class SupportsGetSync(Protocol):
    """A store whose values can be read without an event loop."""

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none."""


@runtime_checkable
class SupportsSetSync(Protocol):
    """A store whose values can be set without an event loop."""

    def set_sync(self, key: str, value: Buffer) -> None:
        """Set the value of a key."""


@runtime_checkable
class SupportsDeleteSync(Protocol):
    """A store whose values can be removed without an event loop."""

    def delete_sync(self, key: str) -> None:
        """Remove the value of a key."""


@runtime_checkable
class SupportsSyncStore(SupportsGetSync, SupportsSetSync, SupportsDeleteSync, Protocol):
    """A store that can do all of this."""


def call_sync(store: Any, name: str, *args: Any, **named: Any) -> Any:
    """Call a synchronous method of a store, which not every store has.

    Raise `TypeError` if the store has none.
    """
    method = getattr(store, name, None)
    if method is None:
        verb = name.removesuffix("_sync")
        raise TypeError(f"Store {type(store).__name__} does not support synchronous {verb}; await its {verb}()")
    return method(*args, **named)


class Store(ABC):
    """The base class of asynchronous stores."""

    _read_only: bool
    _is_open: bool

    def __init__(self, *, read_only: bool = False) -> None:
        self._is_open = False
        self._read_only = read_only

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a store, and open it."""
        store = cls(*args, **kwargs)
        await store._open()
        return store

    async def _open(self) -> None:
        if self._is_open:
            raise ValueError("store is already open")
        self._is_open = True

    async def _ensure_open(self) -> None:
        if not self._is_open:
            await self._open()

    def with_read_only(self, read_only: bool = False) -> Store:
        """Return the same store for reading, or for writing.

        Raises
        ------
        NotImplementedError
            If the class does not say how.
        """
        raise NotImplementedError(
            f"with_read_only is not implemented for the {type(self)} store type; create a new instance with "
            "read_only=True instead"
        )

    @property
    def read_only(self) -> bool:
        """True if values cannot be set."""
        return self._read_only

    def _check_writable(self) -> None:
        if self.read_only:
            raise ValueError("store was opened in read-only mode and does not support writing")

    @property
    @abstractmethod
    def supports_writes(self) -> bool:
        """True if values can be set."""

    @property
    @abstractmethod
    def supports_deletes(self) -> bool:
        """True if values can be deleted."""

    @property
    @abstractmethod
    def supports_listing(self) -> bool:
        """True if keys can be listed."""

    @property
    def supports_partial_writes(self) -> bool:
        """False: values are set as a whole."""
        return False

    @property
    def supports_consolidated_metadata(self) -> bool:
        """True if a group can have consolidated metadata."""
        return True

    @abstractmethod
    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none."""

    @abstractmethod
    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        """Return parts of values."""

    async def get_ranges(
        self, key: str, byte_ranges: Iterable[ByteRequest | None], *, prototype: BufferPrototype, **limits: int
    ) -> AsyncIterator[builtins.list[tuple[int, Buffer | None]]]:
        """Yield parts of a value, each with the number of its range; limits of requests are ignored.

        Raises
        ------
        ExceptionGroup
            With a `FileNotFoundError` in it, if there is no such value.
        """
        yield _all_there(key, await self.get_partial_values(prototype, [(key, one) for one in byte_ranges]))

    def get_ranges_sync(
        self, key: str, byte_ranges: Iterable[ByteRequest | None], *, prototype: BufferPrototype, **limits: int
    ) -> builtins.list[tuple[int, Buffer | None]]:
        """Return what `get_ranges` yields, of a store that has `get_sync`."""
        read = partial(call_sync, self, "get_sync", key, prototype=prototype)
        return _all_there(key, [read(byte_range=one) for one in byte_ranges])

    @abstractmethod
    async def exists(self, key: str) -> bool:
        """Return whether the key has a value."""

    @abstractmethod
    async def set(self, key: str, value: Buffer) -> None:
        """Set the value of a key."""

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Set the value of a key that has none."""
        if not await self.exists(key):
            await self.set(key, value)

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        await asyncio.gather(*(self.set(key, value) for key, value in values))

    @abstractmethod
    async def delete(self, key: str) -> None:
        """Remove the value of a key."""

    @abstractmethod
    def list(self) -> AsyncIterator[str]:
        """Iterate over all keys."""

    @abstractmethod
    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Iterate over the keys that begin like this."""

    @abstractmethod
    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Iterate over the names directly below a prefix."""

    def _below(self, prefix: str) -> AsyncIterator[str]:
        return self.list_prefix(f"{prefix}/" if prefix and not prefix.endswith("/") else prefix)

    async def is_empty(self, prefix: str) -> bool:
        """Return whether there is nothing below a prefix."""
        async for _ in self._below(prefix):
            return False
        return True

    async def clear(self) -> None:
        """Remove everything."""
        self._check_writable()
        await self.delete_dir("")

    async def delete_dir(self, prefix: str) -> None:
        """Remove everything below a prefix."""
        self._check_writable()
        for key in [key async for key in self._below(prefix)]:
            await self.delete(key)

    async def getsize(self, key: str) -> int:
        """Return the number of bytes of a value.

        Raises
        ------
        FileNotFoundError
            If there is none.
        """
        value = await self.get(key, default_buffer_prototype())
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    async def getsize_prefix(self, prefix: str) -> int:
        """Return the number of bytes of all values below a prefix."""
        return sum(await asyncio.gather(*[self.getsize(key) async for key in self._below(prefix)]))

    def close(self) -> None:
        """Close the store."""
        self._is_open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def __eq__(self, value: object) -> bool: ...

    __hash__ = object.__hash__


def _all_there(key: str, parts: builtins.list[Buffer | None]) -> builtins.list[tuple[int, Buffer | None]]:
    if any(part is None for part in parts):
        raise ExceptionGroup(f"cannot read ranges of {key!r}", [FileNotFoundError(key)])
    return [*enumerate(parts)]


async def set_or_delete(byte_setter: ByteSetter, value: Buffer | None) -> None:
    """Set bytes, or delete them if there are none."""
    if value is None:
        await byte_setter.delete()
    else:
        await byte_setter.set(value)
