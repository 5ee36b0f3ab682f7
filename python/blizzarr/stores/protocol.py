"""The protocol of stores: values under keys, and six methods to reach them."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

Value: TypeAlias = bytes | bytearray | memoryview
"""The bytes that are stored under a key."""

ByteRange: TypeAlias = tuple[int, int | None]
"""`(start, length)`; a length of None runs to the end; a negative start means the last ``-start`` bytes."""

Replaced: TypeAlias = bool | None
"""True if a value was set on a condition; None if that was refused, but the value may have been set before."""


class Listing(NamedTuple):
    """The keys and the prefixes of further keys that are directly under a prefix, both sorted.

    >>> Listing(keys=("a/zarr.json",), prefixes=("a/c/",)).prefixes
    ('a/c/',)
    """

    keys: tuple[str, ...]
    """Full keys, like ``a/zarr.json``."""
    prefixes: tuple[str, ...]
    """Full prefixes, each ending with a slash, like ``a/c/``."""


@runtime_checkable
class Store(Protocol):
    """The six methods of a store; anything that has them can hold arrays.

    A key consists of segments joined by ``/``: no slash at either end; no segment that is empty, ``.`` or ``..``; no
    NUL and no backslash. Other keys raise `PathError`. A prefix is a key, with or without a slash at its end, or ``""``
    for everything. **A missing key is not an error**: `get` and `get_ranges` return None. All other failures must be a
    `StoreError`, because a missing key reads as the fill value, and nothing else may: a `ReadOnlyError` if a value is
    set or deleted in a store that was opened for reading, an `UnsupportedOperationError` if the store cannot delete or
    list.

    A store may also have

    - ``read_only``: True if `set` and `delete` raise `ReadOnlyError`; arrays check this before they begin to write,
    - ``supports_delete``: False if `delete` is refused (as in zip files),
    - ``supports_list``: False if `list` and `list_dir` are refused,
    - ``remote``: True if a request takes long, so that many are made at once: `config.concurrent_requests` of them,
    - ``near``: True if a value takes next to no time, so that each read looks whether its array was replaced,
    - ``in_memory``: True if `get` returns `bytes` that lie in memory already; the engine takes parts of them itself,
    - ``has_documents``: False if the metadata of arrays in it are not stored, but known otherwise,
    - ``shows_at_once``: True if others see new values without `flush`, which then only matters for power cuts,
    - ``deletes_at_once``: True if others see `delete_prefix` as one step,
    - ``native``: the handle that the engine should use instead of calling back into Python,
    - ``get_many(keys)``: many values in one request, None for each that is missing,
    - ``get_up_to(key, limit)``: the value, or the first ``limit + 1`` bytes of a longer one; for stores that expand
      what is stored, so that they stop where chunks and documents of that length are refused,
    - ``replace(key, expected, value)``: set the value only if it is still `expected`, and return whether it was; None
      if it was refused, but may have been set by an earlier request, whose answer was lost,
    - ``discard(key, expected)``: delete the value only if it is still `expected`, and return whether it was,
    - ``version(key)``: text or bytes that differ between two versions of the value, obtained without reading it; None
      if there is no value. Caches use it to find out whether they are up to date,
    - ``get_with_version(key)``: the value and the name of its version, a text; None if there is no value,
    - ``set_if_version(key, value, version)``: set the value only if it is still of that version (None: only if there is
      none), and return whether it was, as far as is known. With both, parts of a chunk or shard that several processes
      or machines write at once are all kept, without locks: each is merged into what is stored, again if somebody else
      was faster,
    - ``get_ranges_of_version(key, ranges, version)``: as `get_ranges`, with the name of the version that the parts are
      of: ``(parts, version)``, or None if there is no value. With a `version`, parts of this one only, and a
      `ConflictError` if the value is of another version. What is read of a shard in several requests is then of one
      version,
    - ``delete_prefix(prefix)``, ``flush()`` and ``close()``.

    Methods are called from several threads at once.
    """

    def get(self, key: str) -> Value | None:
        """Return the value; None if there is none."""
        ...

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Return parts of one version of the value, in the order of `ranges`; None if there is no value.

        A range that runs past the end gives the bytes that are there.
        """
        ...

    def set(self, key: str, value: Value) -> None:
        """Replace the value atomically: readers see the old one or the new one; after an error it is the old one.

        The bytes are copied before it returns.
        """
        ...

    def delete(self, key: str) -> object:
        """Remove the value, if there is one."""
        ...

    def list(self, prefix: str = "") -> Iterable[str]:
        """Return all keys under the prefix, at any depth."""
        ...

    def list_dir(self, prefix: str = "") -> Listing:
        """Return the keys and prefixes directly under the prefix."""
        ...
