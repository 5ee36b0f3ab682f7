"""The asynchronous face of a store of blizzarr, which the engine reads and writes without it."""

from __future__ import annotations

import builtins
import weakref
from collections.abc import AsyncIterator, Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from blizzarr.stores import Store as EngineStoreLike
from blizzarr.stores import StoreWrapper
from blizzarr.stores import read_only as only_readable
from blizzarr.stores.keys import check_key
from blizzarr.stores.requests import delete_many
from blizzarr.stores.wrapper import unwrapped
from blizzarr.zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from blizzarr.zarr.buffer import Buffer, BufferPrototype, check_prototype
from blizzarr.zarr.sync import in_thread, in_thread_to_the_end

T = TypeVar("T")

_FACES: weakref.WeakValueDictionary[int, EngineStore] = weakref.WeakValueDictionary()
"""The faces by the identity of their stores, which live as long as their faces do."""


def _asynchronous(name: str) -> Any:
    """Return the method to be awaited for one whose name ends in ``_sync``."""

    run = in_thread_to_the_end if name.startswith(("set", "delete")) else in_thread

    @wraps(getattr(Store, name), updated=())
    async def call(self: EngineStore, *args: Any, **named: Any) -> Any:
        return await self._call(getattr(self, f"{name}_sync"), *args, run=run, **named)

    return call


class EngineStore(Store):
    """The asynchronous methods of a store of zarr-python, over a store of blizzarr.

    Parameters
    ----------
    engine
        The store of blizzarr.
    """

    supports_writes = True
    supports_deletes = True
    supports_listing = True

    def __init__(self, engine: Any, *, read_only: bool = False) -> None:
        # In a wrapper, which `with_read_only` can take off again.
        engine = only_readable(engine) if read_only else engine
        super().__init__(read_only=bool(getattr(engine, "read_only", False)))
        self.engine = engine
        self.supports_deletes = bool(getattr(engine, "supports_delete", True))
        self.supports_listing = bool(getattr(engine, "supports_list", True))
        remember(self)

    @property
    def engine_store(self) -> Any:
        """The store of blizzarr; None in classes of users, which may have changed what any method does."""
        return self.engine if type(self).__module__.startswith(__package__ or "") else None

    @classmethod
    def over(cls, engine: Any) -> EngineStore:
        """Return the face of a store of blizzarr."""
        face = cls.__new__(cls)
        EngineStore.__init__(face, engine)
        return face

    def with_read_only(self, read_only: bool = False) -> EngineStore:
        engine = self.engine
        while not read_only and isinstance(engine, StoreWrapper) and engine.read_only:
            engine = engine.store
        return type(self).over(only_readable(engine) if read_only else engine)

    def get_sync(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none."""
        check_prototype(prototype)
        if byte_range is None:
            value = self.engine.get(key)
        else:
            parts = self.engine.get_ranges(key, [_range(byte_range)])
            value = None if parts is None else parts[0]
        return None if value is None else Buffer.from_bytes(value)

    get, set, delete = map(_asynchronous, ("get", "set", "delete"))

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        return [await self.get(key, prototype, part) for key, part in key_ranges]

    async def exists(self, key: str) -> bool:
        return await self.get(key) is not None

    def set_sync(self, key: str, value: Buffer) -> None:
        """Set the value of a key."""
        self._check_writable()
        if not isinstance(value, Buffer):
            raise TypeError(
                f"{type(self).__name__}.set(): `value` must be a Buffer instance. Got an instance of {type(value)} "
                "instead."
            )
        self.engine.set(key, value.to_bytes())

    def delete_sync(self, key: str) -> None:
        """Remove the value of a key."""
        self._check_writable()
        self.engine.delete(key)

    async def delete_dir(self, prefix: str) -> None:
        self._check_writable()
        prefix = prefix.strip("/")
        keys = await self._call(lambda: builtins.list(self.engine.list(prefix)))
        if self.engine_store is not None:
            await self._call(delete_many, self.engine, keys, run=in_thread_to_the_end)
            return
        for key in keys:
            await self.delete(key)

    async def list(self) -> AsyncIterator[str]:
        for key in await self._call(lambda: builtins.list(self.engine.list())):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        above = prefix.rpartition("/")[0]
        for key in await self._call(lambda: builtins.list(self.engine.list(above))):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        listed = await self._call(self.engine.list_dir, prefix.strip("/"))
        for name in (*listed.keys, *listed.prefixes):
            yield name.rstrip("/").rpartition("/")[2]

    async def getsize(self, key: str) -> int:
        size = getattr(self.engine, "size", None)
        size_there = await (super().getsize(key) if size is None else self._call(size, check_key(key)))
        if size_there is None:
            raise FileNotFoundError(key)
        return int(size_there)

    def close(self) -> None:
        super().close()
        close = getattr(self.engine, "close", None)
        if close is not None:
            close()

    async def _call(self, function: Callable[..., T], *args: Any, run: Any = in_thread, **named: Any) -> T:
        if getattr(self.engine, "remote", False):
            return await run(function, *args, **named)
        return function(*args, **named)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, EngineStore)
            and type(self) is type(other)
            and self.read_only == other.read_only
            and _same(self.engine, other.engine)
        )

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).over, (self.engine,)

    def __str__(self) -> str:
        return str(self.engine)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


def remember(face: EngineStore) -> None:
    """Remember the face of a store, so that an array in the store shows the one that it was given."""
    _FACES[id(face.engine)] = face


def face_of(engine: EngineStoreLike, make: Callable[[Any], EngineStore]) -> EngineStore:
    """Return the face of a store of blizzarr; make it if there is none."""
    face = _FACES.get(id(engine))
    return make(engine) if face is None or face.engine is not engine else face


def _same(one: Any, other: Any) -> bool:
    one, other = unwrapped(one), unwrapped(other)
    return one is other or bool(one == other)


def _range(part: ByteRequest) -> tuple[int, int | None]:
    if isinstance(part, RangeByteRequest):
        return part.start, part.end - part.start
    if isinstance(part, OffsetByteRequest):
        return part.offset, None
    if isinstance(part, SuffixByteRequest):
        return -part.suffix, None
    raise ValueError(f"Unexpected byte_range, got {part!r}; expected a RangeByteRequest, or another of zarr.abc.store")
