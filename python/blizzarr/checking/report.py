"""What was looked at, what was found, and what was done about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from blizzarr.checking.finding import KINDS, Finding, Severity

__all__ = ["SCHEMA", "Checksums", "Repair", "Report"]

SCHEMA: Final = 1
"""Goes up when a member of `Report.to_dict` changes its meaning; new ones may come without."""

SHOWN: Final = 20
"""Findings that the text of a report lists."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that was done, or would be done, or could not be."""

    kind: str
    """Of the findings that it is about."""
    path: str
    key: str | None
    message: str
    done: bool
    """Whether it was done; with `dry_run`, whether it would be."""
    kept: str | None = None
    """Where what was there before is kept."""
    lost: tuple[tuple[int, ...], ...] = ()
    """Chunks that could not be saved, as `Finding.chunk` has them; in shards within shards the position in each."""

    def __str__(self) -> str:
        return f"{self.path if self.key is None else self.key}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "kind": self.kind,
            "path": self.path,
            "key": self.key,
            "message": self.message,
            "done": self.done,
            "kept": self.kept,
            "lost": [list(chunk) for chunk in self.lost],
        }


@dataclass(frozen=True, slots=True)
class Checksums:
    """What a report has to do with a manifest of checksums."""

    file: str
    done: Literal["recorded", "compared", "not recorded"]
    """It is not recorded when something is damaged: a damaged object must not pass for what it should be."""
    objects: int = 0
    """So many are in it."""
    recorded: str | None = None
    """When it was made, in ISO 8601."""

    def __str__(self) -> str:
        if self.done == "not recorded":
            return f"not recorded in {self.file}: something is damaged"
        objects = f"{self.objects:,} checksum{'' if self.objects == 1 else 's'}"
        return (
            f"{objects} recorded in {self.file}"
            if self.done == "recorded"
            else (f"compared with {objects} of {self.recorded} in {self.file}")
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {"file": self.file, "done": self.done, "objects": self.objects, "recorded": self.recorded}


@dataclass(slots=True)
class Report:
    """What `check` gives: printed it is for people, `to_dict` is for programs.

    Examples
    --------
    >>> report = Report("memory", "/")
    >>> report.findings.append(Finding("leftover", "/", "left by a writer that died", key=".blizzarr-1"))
    >>> report.clean, report.ok, report.count(Severity.WARNING)
    (False, True, 1)
    >>> print(report)
    warning: /, .blizzarr-1: left by a writer that died
    0 arrays, 0 groups, 0 objects, 0 chunks, 0 bytes in 0.0 s: 1 warning
    """

    store: str
    path: str
    """Of the node that was checked, like ``/a/b``."""
    fast: bool = False
    arrays: int = 0
    groups: int = 0
    objects: int = 0
    """Stored objects of chunks that were looked at: shards, where there are shards."""
    chunks: int = 0
    """Chunks in them."""
    bytes: int = 0
    """Of those objects, as they are stored."""
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    """Worst first."""
    left_out: int = 0
    """Inner chunks that are damaged, too, and have no finding of their own because their shard has so many."""
    repairs: list[Repair] = field(default_factory=list)
    dry_run: bool = False
    """Whether the repairs were only thought of."""
    manifest: Checksums | None = None
    """The manifest that was recorded or compared with, if any."""

    @property
    def ok(self) -> bool:
        """Whether nothing is damaged; there may be warnings and notes."""
        return not self.count(Severity.ERROR)

    @property
    def clean(self) -> bool:
        """Whether there is nothing that somebody should look at; there may be notes."""
        return self.ok and not self.count(Severity.WARNING)

    @property
    def repaired(self) -> bool:
        """Whether every damage was repaired without loss."""
        done = {(repair.path, repair.key) for repair in self.repairs if repair.done and not repair.lost}
        return not self.dry_run and all(
            (finding.path, finding.key) in done for finding in self.findings if finding.severity is Severity.ERROR
        )

    def count(self, severity: Severity) -> int:
        """How many findings there are of this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def of_kind(self, *kinds: str) -> list[Finding]:
        """The findings of these kinds."""
        return [finding for finding in self.findings if finding.kind in kinds]

    def kinds(self) -> dict[str, int]:
        """How many findings there are of each kind, worst first."""
        counts = Counter(finding.kind for finding in self.findings)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def summary(self) -> str:
        """What was looked at and how much was found, in a line."""
        looked = ", ".join(
            f"{count:,} {noun}{'' if count == 1 else 's'}"
            for count, noun in (
                (self.arrays, "array"),
                (self.groups, "group"),
                (self.objects, "object"),
                (self.chunks, "chunk"),
                (self.bytes, "byte"),
            )
        )
        return f"{looked} in {self.seconds:.1f} s: {self.verdict()}"

    def verdict(self) -> str:
        """How much was found."""
        counts = [(self.count(severity), str(severity)) for severity in Severity]
        said = [f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
        return ", ".join(said) or "nothing is wrong"

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings[:SHOWN]]
        if len(self.findings) > SHOWN:
            lines.append(f"and {len(self.findings) - SHOWN:,} more")
        if self.left_out:
            lines.append(f"and {self.left_out:,} more inner chunks of these shards")
        done = "would be repaired" if self.dry_run else "repaired"
        lines += [f"{done if repair.done else 'not repaired'}: {repair}" for repair in self.repairs]
        lines += [] if self.manifest is None else [str(self.manifest)]
        return "\n".join([*lines, self.summary()])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: what ``blizzarr check --json`` prints."""
        return {
            "blizzarr_check": SCHEMA,
            "store": self.store,
            "path": self.path,
            "fast": self.fast,
            "ok": self.ok,
            "clean": self.clean,
            "arrays": self.arrays,
            "groups": self.groups,
            "objects": self.objects,
            "chunks": self.chunks,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "errors": self.count(Severity.ERROR),
            "warnings": self.count(Severity.WARNING),
            "notes": self.count(Severity.NOTE),
            "left_out": self.left_out,
            "findings": [finding.to_dict() for finding in self.findings],
            "manifest": None if self.manifest is None else self.manifest.to_dict(),
            "dry_run": self.dry_run,
            "repairs": [repair.to_dict() for repair in self.repairs],
        }

    def add(self, findings: Iterable[Finding]) -> None:
        """Take these up, too, in their order."""
        self.findings = sorted([*self.findings, *findings], key=lambda finding: finding.order)
