"""A store whose values take a while, so that workers can be killed in the middle of their work."""

from __future__ import annotations

import time

from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.protocol import Value

__all__ = ["SlowStore"]


class SlowStore(StoreWrapper):
    """Waits for so many seconds before it returns a chunk."""

    def __init__(self, store: Store, seconds: float) -> None:
        super().__init__(store)
        self.seconds = seconds

    def get(self, key: str) -> Value | None:
        """Return the value."""
        if not key.endswith(".json"):
            time.sleep(self.seconds)
        return super().get(key)
