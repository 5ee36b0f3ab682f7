"""Findings of `blizzarr.check`: where something is wrong or worth knowing, what it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from blizzarr.printable import printable


class Severity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    """Damage: something cannot be read, or would be read wrong."""
    WARNING = "warning"
    """Nothing is lost, but somebody should look: leftovers, chunks outside the shape, documents of two formats."""
    NOTE = "note"
    """Nothing is wrong, like files that are not Zarr's."""


class Kind(NamedTuple):
    """The severity, heading and advice that all findings of one kind share."""

    severity: Severity
    title: str
    """The heading over findings of this kind."""
    advice: str
    repairable: bool = False


_ERROR, _WARNING, _NOTE = Severity
_LOST: Final = "restore the object from a copy, or write the chunk again"

KINDS: Final[dict[str, Kind]] = {
    "document": Kind(
        _ERROR, "documents that do not conform", "correct the document, or restore it; chunks are not affected"
    ),
    "no-document": Kind(
        _ERROR, "data without a document", "restore the document of the array, without which nobody reads the data"
    ),
    "chunk": Kind(_ERROR, "chunks that cannot be decoded", _LOST),
    "checksum": Kind(_ERROR, "chunks with a wrong checksum", _LOST),
    "inner-chunk": Kind(
        _ERROR,
        "inner chunks that cannot be decoded",
        "write the inner chunk again, or repair: the intact ones of the shard are saved",
        True,
    ),
    "shard-index": Kind(
        _ERROR,
        "shards with a damaged index",
        "restore the shard, or repair: inner chunks whose place is certain are saved",
        True,
    ),
    "changed": Kind(_ERROR, "not what was recorded", "restore it from a copy; or record anew, if the change was meant"),
    "missing": Kind(_ERROR, "recorded, and gone", "restore it from a copy; or record anew, if the removal was meant"),
    "no-file": Kind(_ERROR, "no files where objects should be", "move away what is there"),
    "archive": Kind(
        _ERROR, "damaged entries of the zip file", "get the file again, or save what is intact with copy --skip-damaged"
    ),
    "unreadable": Kind(_ERROR, "what could not be read", "look at permissions, and at the disk"),
    "chunk-encoding": Kind(
        _ERROR,
        "chunks that the array does not find",
        "compare the chunk key encoding in the document with the names of the chunks",
    ),
    "consolidated": Kind(
        _ERROR,
        "consolidated metadata that are wrong",
        "repair: they are rebuilt from the documents, once these are there and conform",
        True,
    ),
    "unfinished": Kind(_ERROR, "what is not finished", "unless it is still going on, finish it by the same command"),
    "two-formats": Kind(_WARNING, "nodes in two formats", "remove the documents that are out of date"),
    "document-warning": Kind(_WARNING, "documents to look at", "correct the document"),
    "not-supported": Kind(
        _WARNING, "what could not be checked", "do what the text says, or check it with a release that supports it"
    ),
    "unreachable": Kind(
        _WARNING,
        "nodes that no group leads to",
        "create the group with blizzarr.create_group, or move what is below it",
    ),
    "outside": Kind(
        _WARNING,
        "chunks outside the shape of their array",
        "repair: they are moved away; the array would show them if it grew",
        True,
    ),
    "ome-zarr": Kind(
        _WARNING,
        "OME-Zarr 0.4 that became v3 without being translated",
        "repair: the metadata become those of OME-Zarr 0.5, below the attribute ome",
        True,
    ),
    "surplus": Kind(
        _WARNING,
        "chunks followed by zeros",
        "copy the array, or write these chunks again, for other readers, which refuse them",
    ),
    "new": Kind(_WARNING, "not recorded", "record anew, if they are meant to be here"),
    "chunk-key": Kind(_WARNING, "chunks under keys that nobody reads", "rename or remove the object"),
    "leftover": Kind(
        _WARNING, "leftovers of writers that died", "repair: they are removed, if their writers are dead", True
    ),
    "standalone": Kind(
        _NOTE, "nodes that stand by themselves", "nothing; or create a group above them, to open them as one"
    ),
    "foreign": Kind(_NOTE, "files that are not Zarr's", "nothing, or move them away"),
    "shared": Kind(_NOTE, "shards in which inner chunks share bytes", "nothing: this is allowed"),
}
"""All kinds of findings by name, worst first. Names stay the same between releases; new ones may be added."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a store, or worth knowing.

    Examples
    --------
    >>> finding = Finding("checksum", "/a", "crc32c: expected 1, found 2", key="a/c/0/1", chunk=(0, 1), codec="crc32c")
    >>> print(finding)
    error: /a, a/c/0/1: crc32c: expected 1, found 2
    >>> finding.severity, finding.repairable
    (<Severity.ERROR: 'error'>, False)
    """

    kind: str
    """One of `KINDS`."""
    path: str
    """The path of the node, like ``/a/b``."""
    message: str
    key: str | None = None
    """The key of the stored object; where a finding is about several, the first of them."""
    chunk: tuple[int, ...] | None = None
    """The position in the chunk grid, followed by the position within the shard for an inner chunk."""
    codec: str | None = None
    repairable: bool = False
    """True if ``repair=True`` can help, unless nothing is left to be saved."""
    inner: tuple[int, ...] = ()
    """The end of `chunk`: the position of the inner chunk within its shard; empty if it is not about an inner chunk."""

    @property
    def severity(self) -> Severity:
        """The severity of its kind."""
        return KINDS[self.kind].severity

    @property
    def advice(self) -> str:
        """Advice for the user."""
        # Of a group that is missing, there is no key; a node in an array has one.
        inside_array = self.kind == "unreachable" and self.key is not None
        return "move the node, as an array can have none in it" if inside_array else KINDS[self.kind].advice

    @property
    def order(self) -> tuple[Any, ...]:
        """The sort key: worst kind first, then by path, chunk and key."""
        return _ORDER[self.kind], self.path, self.chunk or (), self.key or "", self.message

    def __str__(self) -> str:
        where = self.path if self.key is None else f"{self.path}, {self.key}"
        return printable(f"{self.severity}: {where}: {self.message}")

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return {
            "kind": self.kind,
            "severity": str(self.severity),
            "path": self.path,
            "key": self.key,
            "chunk": None if self.chunk is None else list(self.chunk),
            "codec": self.codec,
            "message": self.message,
            "advice": self.advice,
            "repairable": self.repairable,
        }


_ORDER: Final = {kind: number for number, kind in enumerate(KINDS)}
