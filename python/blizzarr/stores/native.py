"""The base class of stores that the engine reads and writes without calling back into Python."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from blizzarr import _native
from blizzarr.stores.base import BaseStore
from blizzarr.stores.keys import UNUSABLE, check_key, check_keys, check_prefix
from blizzarr.stores.protocol import ByteRange, Listing, Value
from blizzarr.stores.ranges import check_lengths


class NativeStore(BaseStore):
    """Checks keys and permission, and passes the rest to a native handle, which releases the GIL.

    The methods that `Store` does not have raise the same errors as those that it has: `PathError` for a key or prefix
    that may not be used, `ReadOnlyError` for a change if the store was opened for reading, otherwise `StoreError`.
    """

    deletes_at_once = True
    shows_at_once = True
    native: _native.NativeStore
    """The handle that the engine reads and writes array data through."""

    def get(self, key: str) -> Value | None:
        if UNUSABLE.search(key):
            check_key(key)
        return self.native.get(key)

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        if any(map(UNUSABLE.search, keys)):
            check_keys(keys)
        return [*self.native.get_many(keys)]

    def present(self, keys: Sequence[str]) -> builtins.list[str]:
        """Return the keys that have a value, without reading any."""
        if any(map(UNUSABLE.search, keys)):
            check_keys(keys)
        return self.native.present(keys)

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        check_lengths(ranges)
        parts = self.native.get_ranges(check_key(key), ranges)
        return None if parts is None else [*parts]

    def set(self, key: str, value: Value) -> None:
        self._check_writable(check_key(key))
        self.native.set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        """Set the value only if it is still `expected`; excludes other threads and, in directories, other processes."""
        self._check_writable(check_key(key))
        return self.native.replace(key, None if expected is None else bytes(expected), bytes(value))

    def discard(self, key: str, expected: Value) -> bool:
        self._check_writable(check_key(key))
        return self.native.replace(key, bytes(expected), None)

    def delete(self, key: str) -> bool:
        self._check_writable(check_key(key))
        return self.native.delete(key)

    def set_many(self, values: Sequence[tuple[str, Value]]) -> None:
        """Replace many values, each atomically, in no particular order; if one cannot be, others may have been."""
        for key, _ in values:
            self._check_writable(check_key(key))
        self.native.set_many(values)

    def delete_many(self, keys: Sequence[str]) -> None:
        """Remove many values, in no particular order; missing ones are skipped. After an error, others may be gone."""
        for key in keys:
            self._check_writable(check_key(key))
        self.native.delete_many(keys)

    def delete_prefix(self, prefix: str) -> None:
        prefix = check_prefix(prefix)
        self._check_writable(prefix)
        self.native.delete_prefix(prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        return sorted(self.native.list(check_prefix(prefix)))

    def list_dir(self, prefix: str = "") -> Listing:
        keys, prefixes = self.native.list_dir(check_prefix(prefix))
        return Listing(tuple(sorted(keys)), tuple(sorted(prefixes)))

    def others(self, prefix: str, limit: int) -> builtins.list[str]:
        """Return up to `limit` file names under the prefix that are not valid keys."""
        return self.native.others(check_prefix(prefix), limit)

    def version(self, key: str) -> bytes | None:
        """Return bytes that differ between two versions of the value; None if there is no value."""
        return self.native.version(check_key(key))

    def size(self, key: str) -> int | None:
        """Return the length of the value in bytes, without reading it; None if there is no value."""
        return self.native.size(check_key(key))
