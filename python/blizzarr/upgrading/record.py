"""That an upgrade is under way, and how far it has come: so that it can be run again after it was interrupted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Self

from blizzarr.stores import Store

__all__ = ["KEY", "Record"]

KEY: Final = "blizzarr-upgrade.json"
"""Where the record is, at the root of the hierarchy."""


@dataclass(frozen=True, slots=True)
class Record:
    """From which format to which, and whether all new documents are there but perhaps that of the root."""

    old: str
    new: str
    switching: bool = False

    @classmethod
    def read(cls, store: Store) -> Self | None:
        """The record of an upgrade that was interrupted; None where there is none."""
        raw = store.get(KEY)
        if raw is None:
            return None
        try:
            value = json.loads(bytes(raw))
            return cls(str(value["old"]), str(value["new"]), value["switching"] is True)
        except (ValueError, RecursionError, KeyError, TypeError):
            # Written in one step, so this is no record of ours.
            return None

    def write(self, store: Store) -> None:
        """Store the record."""
        store.set(KEY, json.dumps({"old": self.old, "new": self.new, "switching": self.switching}).encode())
