"""The record of an upgrade in progress, by which an interrupted one can be finished."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from blizzarr.formats.document import load
from blizzarr.problems import Problems
from blizzarr.stores import Store

KEY: Final = "blizzarr-upgrade.json"
"""The key of the record, at the root of the hierarchy."""


@dataclass(frozen=True, slots=True)
class Record:
    """The old and the new format, and which steps are done."""

    old: str
    new: str
    switching: bool = False
    """True once all new documents but the root's are stored."""
    copied: bool = False
    """True once all chunks that need other keys have them; a new document may be stored only then."""
    gone: tuple[str, ...] = ()
    """The old keys of these chunks, where they can go only after the old documents, which tell them."""

    @classmethod
    def read(cls, store: Store) -> Self | None:
        """Read the record of an interrupted upgrade; `None` if there is none."""
        raw = store.get(KEY)
        if raw is None:
            return None
        try:
            value: Any = load(bytes(raw), Problems())
            names, gone = (str(value["old"]), str(value["new"])), tuple(map(str, value.get("gone", ())))
            return cls(*names, value["switching"] is True, value.get("copied") is True, gone)
        except (KeyError, TypeError):
            # Records are stored atomically, so this is not one.
            return None

    def write(self, store: Store) -> None:
        """Store the record."""
        store.set(KEY, json.dumps(asdict(self)).encode())
