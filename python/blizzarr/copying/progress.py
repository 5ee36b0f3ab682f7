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

If a group is copied, it and each group below it have a record until all arrays and groups are there; none of their
regions are counted.

A zip file, which cannot delete, leaves the record out of its directory in the end. In any other store that cannot
delete, a record that says ``"complete"`` counts as none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from blizzarr.errors import ConflictError, NodeExistsError
from blizzarr.formats import PROGRESS, encode, find_again, unfinished
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join
from blizzarr.problems import MISSING, describe
from blizzarr.stores import Store

ORIGIN: Final = "origin"
_SHOWN: Final = 4
"""The most differences between two copies that an error names."""


def _members(documents: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the members of the documents of a node."""
    return {name: value for document in documents.values() for name, value in json.loads(document).items()}


def _difference(name: str, owner: str, then: Any, now: Any) -> str:
    """Return both values as text; of long ones that begin alike, the first members that differ."""
    while describe(then) == describe(now) and isinstance(then, dict | list) and type(then) is type(now):
        old, new = (value if isinstance(value, dict) else dict(enumerate(value)) for value in (then, now))
        member = next(key for key in {**old, **new} if old.get(key, MISSING) != new.get(key, MISSING))
        name += f".{member}" if isinstance(then, dict) else f"[{member}]"
        then, now = old.get(member, MISSING), new.get(member, MISSING)
    return f"{name}{owner} {describe(then)} then, {describe(now)} now"


def fingerprint(*parts: Any) -> str:
    """Return a short text that is the same for the same parts."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one destination."""

    store: Store
    path: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else the copy depends on, by name: if it is resumed as another one, the error says what differs. The source
    is a fingerprint, as its place may have secrets."""

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

    def done(self, mark: str, state: str | None, count: int, planned: Mapping[str, ArrayMeta | GroupMeta]) -> int:
        """Return the number of regions that are done, of the copy with this fingerprint and state of the source.

        - `planned`: the metadata of its nodes, by path.

        Raise `ConflictError` if the record is that of another copy, or the source has changed.
        """
        record = self.read()
        if record is None:
            return 0
        done = record.get("done")
        # A number beyond `count` would leave fill values in place of elements.
        if record.get("copy") != mark or type(done) is not int or not 0 <= done <= count:
            raise ConflictError(
                f"the interrupted copy that is here is another one{self._differences(record, planned)}; copy with the "
                "same arguments to finish it, or with overwrite=True to begin again",
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

    def _differences(self, record: Mapping[str, Any], planned: Mapping[str, ArrayMeta | GroupMeta]) -> str:
        pairs = [(name, "", record.get(name), now) for name, now in self.facts.items()]
        for path, meta in planned.items():
            here = find_again(self.store, path)
            old, new = (_members({} if one is None else encode(one, path)) for one in (here and here.meta, meta))
            both = {**old, **new} if here else ()
            pairs += [(name, f" of /{path}", old.get(name), new.get(name)) for name in both]
        texts = [
            _difference(name, owner, then, now) if name != ORIGIN else "another source"
            for name, owner, then, now in pairs
            if then != now
        ]
        return ": " + "; ".join(texts[:_SHOWN]) if texts else ", of another source, or of one with another layout"

    def write(self, mark: str, state: str | None, done: int) -> None:
        """Store the number of regions that are done."""
        self.store.set(self.key, json.dumps({**self.facts, "copy": mark, "source": state, "done": done}).encode())

    def finish(self) -> None:
        """Remove the record, or mark it as complete, as the copy is."""
        if getattr(self.store, "supports_delete", True):
            self.store.delete(self.key)
        elif (unlist := getattr(self.store, "unlist", None)) is not None:
            unlist(self.key)
        else:
            self.store.set(self.key, b'{"complete": true}')
