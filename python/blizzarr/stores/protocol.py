"""What a store is: values under keys, and six methods to reach them."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

__all__ = ["ByteRange", "Listing", "Store", "Value"]

Value: TypeAlias = bytes | bytearray | memoryview
"""What is stored under a key."""

ByteRange: TypeAlias = tuple[int, int | None]
"""`(start, length)`; a length of None runs to the end; a negative start means the last ``-start`` bytes."""


class Listing(NamedTuple):
    """What lies directly under a prefix, both sorted: values, and prefixes of further keys.

    Examples
    --------
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
    for everything. **A missing key is a value, not an error**: `get` and `get_ranges` return None. Everything else that
    goes wrong is a `StoreError`, because "not found" reads as the fill value and nothing else may.

    A store may also have

    - ``read_only``: True when `set` and `delete` will be refused; arrays look before they begin a write,
    - ``supports_delete``: False when `delete` will be refused (zip files),
    - ``supports_list``: False when `list` and `list_dir` will be refused,
    - ``shows_at_once``: True when others see what is set without `flush`, which then is about power cuts alone,
    - ``deletes_at_once``: True when others see `delete_prefix` as one step,
    - ``native``: the handle that the engine should use instead of calling back into Python,
    - ``get_many(keys)``: many values in one request, None for each that is missing,
    - ``replace(key, expected, value)``: set the value only if it still is `expected`, and say whether it was,
    - ``discard(key, expected)``: delete the value only if it still is `expected`, and say whether it was,
    - ``version(key)``: text or bytes that differ between two versions of the value, told without reading it; None when
      there is no value. With it caches can tell whether what they have is still what is stored,
    - ``delete_prefix(prefix)``, ``flush()`` and ``close()``.

    Methods are called from several threads at once.
    """

    def get(self, key: str) -> Value | None:
        """The value, or None when there is none."""
        ...

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Parts of one version of the value, in the order asked for; None when there is no value.

        A range that runs past the end gives the bytes that are there.
        """
        ...

    def set(self, key: str, value: Value) -> None:
        """Replace the value atomically: readers see the old or the new. The bytes are copied before returning."""
        ...

    def delete(self, key: str) -> object:
        """Remove the value; one that is missing is fine."""
        ...

    def list(self, prefix: str = "") -> Iterable[str]:
        """All keys under the prefix, at any depth."""
        ...

    def list_dir(self, prefix: str = "") -> Listing:
        """The keys and prefixes directly under the prefix."""
        ...
