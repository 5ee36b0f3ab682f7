"""The base class of stores that store chunks as other bytes under the same keys."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Sequence

from blizzarr.stores import ByteRange, Replaced, Store, StoreWrapper, Value
from blizzarr.stores.ranges import slice_ranges
from blizzarr.transformers.array_keys import ArrayKeys


class EncodingStore(StoreWrapper):
    """A store that encodes the chunks of one array, and passes all other values through unchanged.

    A codec does the same faster, but does not know the name of the chunk, nor the other keys of the store.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> class Signed(EncodingStore):
    ...     def encode(self, name, value): return name.encode() + b":" + value
    ...     def decode(self, name, value): return value.removeprefix(name.encode() + b":")
    >>> memory = MemoryStore()
    >>> store = Signed(memory, ArrayKeys("a/", head="c.", separator=".", scalar="c", rank=2))
    >>> store.set("a/c.0.1", b"chunk")
    >>> memory.get("a/c.0.1"), store.get("a/c.0.1"), store.size("a/c.0.1")
    (b'c.0.1:chunk', b'chunk', 5)
    """

    def __init__(self, store: Store, keys: ArrayKeys) -> None:
        super().__init__(store)
        self.keys = keys

    @abstractmethod
    def encode(self, name: str, value: bytes) -> bytes:
        """Return the bytes to store for the chunk of this name."""

    @abstractmethod
    def decode(self, name: str, value: bytes) -> bytes:
        """Return the chunk of this name from its stored bytes."""

    def get(self, key: str) -> Value | None:
        return self._decoded(key, super().get(key))

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        return [self._decoded(key, value) for key, value in zip(keys, super().get_many(keys), strict=True)]

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Return parts of the value; `None` if there is no value. Chunks are read as a whole."""
        if self._name(key) is None:
            return super().get_ranges(key, ranges)
        value = self.get(key)
        return None if value is None else slice_ranges(value, ranges)

    def set(self, key: str, value: Value) -> None:
        super().set(key, self._encoded(key, value))

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        if self._name(key) is None:
            return super().replace(key, expected, value)
        # The stored bytes are compared below: encoding a chunk again need not give the same bytes.
        stored = self.store.get(key)
        current = self._decoded(key, stored)
        if (current is None) != (expected is None) or (current is not None and current != expected):
            return False
        return super().replace(key, stored, self._encoded(key, value))

    def size(self, key: str) -> int | None:
        """Return the length of the value in bytes; `None` if there is no value. Chunks are read to find it out."""
        if self._name(key) is None:
            return super().size(key)
        value = self.get(key)
        return None if value is None else len(value)

    def _name(self, key: str) -> str | None:
        start = self.keys.prefix
        return name if key.startswith(start) and self.keys.is_name(name := key[len(start) :]) else None

    def _encoded(self, key: str, value: Value) -> Value:
        name = self._name(key)
        return value if name is None else self.encode(name, bytes(value))

    def _decoded(self, key: str, value: Value | None) -> Value | None:
        name = self._name(key)
        return value if name is None or value is None else self.decode(name, bytes(value))
