"""How far a copy has come, kept beside the destination until it is done.

While an array is being copied there is one more value under its prefix, `hierarchy.remove.PROGRESS`: a JSON document
with a fingerprint of the copy (source, both layouts, the regions), one of what the source was like when it began (see
`source_state`), and the number of regions that are done. Regions are
written one after the other, each as a whole, and the number grows after the region, so an interruption costs at most
one region. Other readers of Zarr do not know the key and pass over it.

The record comes before the array's own document and goes after the last region. Hence

==========  ==========  =========================================================
record      document    state
==========  ==========  =========================================================
no          no          not begun
yes         no          begun, nothing written
yes         yes         interrupted: the first `done` regions are there
no          yes         complete
==========  ==========  =========================================================

In a store that cannot delete, a record that says so takes the place of none.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from blizzarr.errors import ConflictError
from blizzarr.hierarchy.belongings import PROGRESS
from blizzarr.stores import Store

__all__ = ["Record", "fingerprint"]


def fingerprint(*parts: Any) -> str:
    """A short text that is the same for the same copy.

    Examples
    --------
    >>> fingerprint("a", (1, 2)) == fingerprint("a", [1, 2]), fingerprint("a", (1, 2)) == fingerprint("a", (2, 1))
    (True, False)
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one destination."""

    store: Store
    path: str

    @property
    def key(self) -> str:
        """Where it is."""
        return f"{self.path}/{PROGRESS}" if self.path else PROGRESS

    def read(self) -> dict[str, Any] | None:
        """What it says, or None when there is none."""
        raw = self.store.get(self.key)
        if raw is None:
            return None
        try:
            found = json.loads(bytes(raw))
        except (ValueError, RecursionError):
            found = {}
        if not isinstance(found, dict):
            found = {}
        return None if found.get("complete") is True else found

    def done(self, mark: str, state: str | None, count: int) -> int:
        """How many of the regions of the copy with this fingerprint, of a source in this state, are done.

        Raises
        ------
        ConflictError
            When the record is that of another copy, or of the source as it no longer is.
        """
        found = self.read()
        if found is None:
            return 0
        done = found.get("done")
        # More than there are would leave fill values where there should be elements.
        if found.get("copy") != mark or type(done) is not int or not 0 <= done <= count:
            raise ConflictError(
                "the interrupted copy that is here has another source, layout or memory limit; "
                "copy with the same arguments to finish it, or with overwrite=True to begin again",
                key=self.key,
                store=str(self.store),
            )
        if found.get("source") != state:
            raise ConflictError(
                "the source has changed since the interrupted copy that is here began, which would be of both; "
                "copy with overwrite=True to begin again",
                key=self.key,
                store=str(self.store),
            )
        return done

    def write(self, mark: str, state: str | None, done: int) -> None:
        """Say how many regions are done."""
        self.store.set(self.key, json.dumps({"copy": mark, "source": state, "done": done}).encode())

    def finish(self) -> None:
        """Say that all of it is done."""
        if getattr(self.store, "supports_delete", True):
            self.store.delete(self.key)
        else:
            self.store.set(self.key, b'{"complete": true}')
