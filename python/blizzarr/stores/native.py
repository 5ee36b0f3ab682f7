"""The Python face of a store that the engine reads and writes without calling back into Python."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from blizzarr.stores.base import BaseStore
from blizzarr.stores.keys import check_key, check_prefix
from blizzarr.stores.protocol import ByteRange, Listing, Value

__all__ = ["NativeStore"]


class NativeStore(BaseStore):
    """Checks keys and permission, and hands the rest to a native handle, which releases the GIL."""

    deletes_at_once = True
    shows_at_once = True
    native: Any
    """The handle that array data goes through."""

    def get(self, key: str) -> Value | None:
        """The value, or None when there is none."""
        value: bytes | None = self.native.get(check_key(key))
        return value

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        """The values under many keys, read in parallel; None for each that is missing."""
        for key in keys:
            check_key(key)
        values: builtins.list[Value | None] = self.native.get_many(keys)
        return values

    def present(self, keys: Sequence[str]) -> builtins.list[str]:
        """Those of the keys that have a value, without reading any."""
        for key in keys:
            check_key(key)
        there: builtins.list[str] = self.native.present(keys)
        return there

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Parts of one version of the value; None when there is no value."""
        parts: builtins.list[Value] | None = self.native.get_ranges(check_key(key), ranges)
        return parts

    def set(self, key: str, value: Value) -> None:
        """Replace the value atomically."""
        self._check_writable(check_key(key))
        self.native.set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        """Set the value only if it still is `expected`; excludes other threads, and other processes on this machine."""
        self._check_writable(check_key(key))
        return bool(self.native.replace(key, None if expected is None else bytes(expected), bytes(value)))

    def discard(self, key: str, expected: Value) -> bool:
        """Delete the value only if it still is `expected`; excludes whom `replace` excludes."""
        self._check_writable(check_key(key))
        return bool(self.native.replace(key, bytes(expected), None))

    def delete(self, key: str) -> bool:
        """Remove the value; False when there was none."""
        self._check_writable(check_key(key))
        return bool(self.native.delete(key))

    def set_many(self, values: Sequence[tuple[str, Value]]) -> None:
        """Replace many values, each atomically, in no particular order."""
        for key, _ in values:
            self._check_writable(check_key(key))
        self.native.set_many(values)

    def delete_many(self, keys: Sequence[str]) -> None:
        """Remove many values, those that there are, in no particular order."""
        for key in keys:
            self._check_writable(check_key(key))
        self.native.delete_many(keys)

    def delete_prefix(self, prefix: str) -> None:
        """Remove every key under the prefix."""
        prefix = check_prefix(prefix)
        self._check_writable(prefix)
        self.native.delete_prefix(prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        """All keys under the prefix, sorted."""
        return sorted(self.native.list(check_prefix(prefix)))

    def list_dir(self, prefix: str = "") -> Listing:
        """The keys and prefixes directly under the prefix."""
        keys, prefixes = self.native.list_dir(check_prefix(prefix))
        return Listing(tuple(sorted(keys)), tuple(sorted(prefixes)))

    def others(self, prefix: str, limit: int) -> builtins.list[str]:
        """Names under the prefix that are no keys, but of files that are there: no more than `limit` of them."""
        names: builtins.list[str] = self.native.others(check_prefix(prefix), limit)
        return names

    def version(self, key: str) -> bytes | None:
        """What differs between two versions of the value; None when there is none."""
        version: bytes | None = self.native.version(check_key(key))
        return version

    def size(self, key: str) -> int | None:
        """The length of the value in bytes without reading it; None when there is none."""
        size: int | None = self.native.size(check_key(key))
        return size
