"""What stores written in Python share: fallbacks, and the face of one that may not be written."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from blizzarr.errors import ReadOnlyError
from blizzarr.stores.conditional import discard_value, replace_value
from blizzarr.stores.keys import check_prefix
from blizzarr.stores.listing import list_sorted_dir
from blizzarr.stores.protocol import ByteRange, Listing, Store, Value
from blizzarr.stores.ranges import slice_ranges

__all__ = ["BaseStore"]


class BaseStore(ABC):
    """A store that needs four methods: `get`, `set`, `delete`, `list`; the rest follows from them.

    Examples
    --------
    >>> class Shelf(BaseStore):
    ...     def __init__(self): self.values = {}
    ...     def get(self, key): return self.values.get(key)
    ...     def set(self, key, value): self.values[key] = bytes(value)
    ...     def delete(self, key): self.values.pop(key, None)
    ...     def list(self, prefix=""): return [key for key in self.values if key.startswith(prefix)]
    >>> shelf = Shelf()
    >>> shelf.set("a/b", b"value")
    >>> shelf.list_dir("").prefixes
    ('a/',)
    >>> [bytes(part) for part in shelf.get_ranges("a/b", [(1, 2)])]
    [b'al']
    """

    read_only: bool = False
    supports_delete: bool = True
    supports_list: bool = True
    deletes_at_once: bool = False
    shows_at_once: bool = False

    @abstractmethod
    def get(self, key: str) -> Value | None:
        """The value, or None when there is none."""

    @abstractmethod
    def set(self, key: str, value: Value) -> None:
        """Replace the value atomically."""

    @abstractmethod
    def delete(self, key: str) -> object:
        """Remove the value; one that is missing is fine."""

    @abstractmethod
    def list(self, prefix: str = "") -> Iterable[str]:
        """All keys under the prefix, at any depth."""

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Parts of the value, in the order asked for; None when there is no value."""
        value = self.get(key)
        return None if value is None else slice_ranges(value, ranges)

    def list_dir(self, prefix: str = "") -> Listing:
        """The keys and prefixes directly under the prefix."""
        return list_sorted_dir(sorted(self.list(prefix)), check_prefix(prefix))

    def delete_prefix(self, prefix: str) -> None:
        """Remove every key under the prefix."""
        for key in builtins.list(self.list(prefix)):
            self.delete(key)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        """Set the value only if it still is `expected` (None: only if there is none); False when it is not.

        This fallback excludes the threads of this process; stores that can exclude others do.
        """
        return replace_value(self, key, expected, value)

    def discard(self, key: str, expected: Value) -> bool:
        """Delete the value only if it still is `expected`; False when it is not. Excludes whom `replace` excludes."""
        return discard_value(self, key, expected)

    def flush(self) -> None:  # noqa: B027 (most stores have nothing to do)
        """Make what was set so far visible to other openers, and durable where the store can promise that."""

    def close(self) -> None:  # noqa: B027
        """Give back files and connections; a store that keeps none can be used on."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _allow_what(self, store: Store) -> None:
        """Allow what the store underneath allows; one of somebody else's need not say what that is."""
        self.read_only = bool(getattr(store, "read_only", False))
        self.supports_delete = bool(getattr(store, "supports_delete", True))
        self.supports_list = bool(getattr(store, "supports_list", True))

    def _check_writable(self, key: str) -> None:
        """Refuse to change anything through a handle that only reads."""
        if self.read_only:
            raise ReadOnlyError(
                "the store was opened for reading; open it with mode 'r+' or 'a' to change it", key=key, store=str(self)
            )
