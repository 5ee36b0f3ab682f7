"""Stores that count as far away."""

from __future__ import annotations

import threading

from blizzarr.stores import MappingStore
from blizzarr.stores.protocol import Replaced, Value


class TwoAtOnce(MappingStore):
    """A store in which first chunks and changed documents of arrays are stored only if two are at the same time."""

    remote = True

    def __init__(self) -> None:
        super().__init__({})
        self.both = threading.Barrier(2, timeout=30)

    def set(self, key: str, value: Value) -> None:
        if key.endswith("c/0"):
            self.both.wait()
        super().set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        if expected is not None and "/" in key:
            self.both.wait()
        return super().replace(key, expected, value)
