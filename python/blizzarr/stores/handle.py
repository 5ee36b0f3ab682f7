"""Another handle of a store, which has the native handle and the versions of the store itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from blizzarr.stores.foreign import RangesOfVersion
from blizzarr.stores.protocol import Value
from blizzarr.stores.wrapper import StoreWrapper


class StoreHandle(StoreWrapper):
    """A wrapper that the engine bypasses: keys and values are those of the store."""

    @property
    def native(self) -> Any:
        """The engine's handle of the store, if it has one."""
        return self.store.native  # type: ignore[attr-defined]  # its absence is ours

    @property
    def object_client(self) -> Any:
        """The engine's client of the store, if it is one of objects."""
        return self.store.object_client  # type: ignore[attr-defined]  # its absence is ours

    @property
    def version(self) -> Callable[[str], str | bytes | None]:
        """The store's method that returns the version of a value, if it has one."""
        return self.store.version  # type: ignore[attr-defined,no-any-return]  # its absence is ours

    @property
    def get_with_version(self) -> Callable[[str], tuple[Value, str] | None]:
        """The store's method that returns a value with the name of its version, if it has one."""
        return self.store.get_with_version  # type: ignore[attr-defined,no-any-return]  # its absence is ours

    @property
    def get_ranges_of_version(self) -> RangesOfVersion:
        """The store's method that returns parts of one version of a value, if it has one."""
        return self.store.get_ranges_of_version  # type: ignore[attr-defined,no-any-return]  # its absence is ours

    @property
    def set_if_version(self) -> Callable[[str, Value, str | None], bool]:
        """The store's method that replaces a value only if it is of a certain version, if it has one."""
        return self.store.set_if_version  # type: ignore[attr-defined,no-any-return]  # its absence is ours

    def present(self, keys: Sequence[str]) -> list[str]:
        present = getattr(self.store, "present", None)
        return super().present(keys) if present is None else list(present(keys))
