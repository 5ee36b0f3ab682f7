"""Another handle of a store: what the engine and others have of the store itself, they have of the handle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from blizzarr.stores.wrapper import StoreWrapper

__all__ = ["StoreHandle"]


class StoreHandle(StoreWrapper):
    """A wrapper that the engine goes past: values are under the same keys, and are what they are in the store."""

    @property
    def native(self) -> Any:
        """The engine's handle of the store, if it has one."""
        return self.store.native  # type: ignore[attr-defined]  # its absence is ours

    @property
    def version(self) -> Callable[[str], str | bytes | None]:
        """What the store has for telling versions, if it has that."""
        return self.store.version  # type: ignore[attr-defined,no-any-return]  # its absence is ours

    def present(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys that have a value, as the store itself finds out."""
        present = getattr(self.store, "present", None)
        return super().present(keys) if present is None else list(present(keys))
