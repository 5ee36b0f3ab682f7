"""Stores that let others act between any two accesses, and writers that die there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from blizzarr.stores import Store, StoreWrapper

__all__ = ["Died", "Stepped"]


class Died(BaseException):
    """As a kill, but in this process."""


class Stepped(StoreWrapper):
    """Calls `before` with the number of each access; if that raises `Died`, nothing reaches the store any more."""

    def __init__(self, store: Store, before: Callable[[int], None]) -> None:
        super().__init__(store)
        self._before, self._steps, self._dead = before, count(), False

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name in ("get", "get_many", "set", "replace", "discard", "delete", "delete_prefix", "list", "list_dir"):
            if self._dead:
                raise Died
            try:
                self._before(next(self._steps))
            except Died:
                self._dead = True
                raise
        return found
