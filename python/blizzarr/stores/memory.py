"""Memory as a store."""

from __future__ import annotations

from typing import Final

from blizzarr import _native
from blizzarr.stores.native import NativeStore

COPIED: Final = (
    "this is the copy of a store in memory that pickling made, as for another process, and what is written to it would "
    "be lost; write to a directory or URL, or with threads instead of processes"
)
"""The reason why a store in memory that was pickled can only be read."""


class MemoryStore(NativeStore):
    """Values in the memory of this process; `set` copies them, so the caller's buffer may change afterwards.

    Pickling takes a snapshot, and the unpickled store is read-only: values that were written to a copy in another
    process would be lost.

    Parameters
    ----------
    read_only
        Refuse `set` and `delete`.

    Examples
    --------
    >>> store = MemoryStore()
    >>> store.set("a/b", b"value")
    >>> store.get("a/b"), store.get("a/c")
    (b'value', None)
    """

    native: _native.MemoryStore
    only_readable: str | None = None
    """The reason why the store can never be written to; None if it can."""

    def __init__(self, *, read_only: bool = False) -> None:
        self.read_only = read_only
        self.native = _native.MemoryStore()

    def __repr__(self) -> str:
        return f"<MemoryStore at {id(self):#x}{', read only' if self.read_only else ''}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _snapshot, ({key: bytes(value) for key in self.list() if (value := self.get(key)) is not None},)


def _snapshot(values: dict[str, bytes]) -> MemoryStore:
    store = MemoryStore(read_only=True)
    store.only_readable = COPIED
    for key, value in values.items():
        store.native.set(key, value)
    return store
