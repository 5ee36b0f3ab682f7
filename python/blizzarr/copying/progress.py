"""Records of copies: how many regions are done, kept beside the destination until the copy is complete.

While an array is being copied there is one more key under its prefix, `formats.PROGRESS`: a JSON document
with a fingerprint of the copy (source, both layouts, the regions), one of the state of the source when the copy began
(see `source_state`), and the number of regions that are done. Regions are written one after the other, each completely,
and the number grows after each, so an interruption costs at most one region. Other Zarr readers ignore the key.

The record is stored before the array's document, and removed after the last region. So there are four states:

==========  ==========  =========================================================
record      document    state
==========  ==========  =========================================================
no          no          not begun
yes         no          begun, nothing written
yes         yes         interrupted: the first `done` regions are there
no          yes         complete
==========  ==========  =========================================================

The record of a group is beside its outermost document until all its arrays and groups are there; none of its regions
are counted.

A zip file, which cannot delete, leaves the record out of its directory in the end. In any other store that cannot
delete, a record that says ``"complete"`` counts as none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from blizzarr.errors import ConflictError, NodeExistsError
from blizzarr.formats import PROGRESS, unfinished
from blizzarr.model.names import join
from blizzarr.stores import Store


def fingerprint(*parts: Any) -> str:
    """Return a short text that is the same for the same parts."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one destination."""

    store: Store
    path: str

    @property
    def key(self) -> str:
        """The key of the record."""
        return join(self.path, PROGRESS)

    def read(self) -> dict[str, Any] | None:
        """Return the content of the record; None if there is none, or the copy is complete."""
        return unfinished(self.store, self.path)

    def refusal(self) -> NodeExistsError:
        """Make the error about an interrupted copy in the place of a new one."""
        reason = "an interrupted copy is here; resume=True finishes it, overwrite=True begins again"
        return NodeExistsError(reason, array=f"/{self.path}", store=str(self.store))

    def is_of(self, mark: Callable[[], str]) -> bool:
        """Return whether there is a record of a copy with this fingerprint."""
        record = self.read()
        return record is not None and record.get("copy") == mark()

    def done(self, mark: str, state: str | None, count: int) -> int:
        """Return the number of regions that are done, of the copy with this fingerprint and state of the source.

        Raise `ConflictError` if the record is that of another copy, or the source has changed.
        """
        record = self.read()
        if record is None:
            return 0
        done = record.get("done")
        # A number beyond `count` would leave fill values in place of elements.
        if record.get("copy") != mark or type(done) is not int or not 0 <= done <= count:
            raise ConflictError(
                "the interrupted copy that is here has another source, layout or memory limit, or skips what is "
                "damaged; copy with the same arguments to finish it, or with overwrite=True to begin again",
                key=self.key,
                store=str(self.store),
            )
        if record.get("source") != state:
            raise ConflictError(
                "the source has changed since the interrupted copy that is here began, so the copy would mix old and "
                "new elements; copy with overwrite=True to begin again",
                key=self.key,
                store=str(self.store),
            )
        return done

    def write(self, mark: str, state: str | None, done: int) -> None:
        """Store the number of regions that are done."""
        self.store.set(self.key, json.dumps({"copy": mark, "source": state, "done": done}).encode())

    def finish(self) -> None:
        """Remove the record, or mark it as complete, as the copy is."""
        if getattr(self.store, "supports_delete", True):
            self.store.delete(self.key)
        elif (unlist := getattr(self.store, "unlist", None)) is not None:
            unlist(self.key)
        else:
            self.store.set(self.key, b'{"complete": true}')
