"""The result of `blizzarr.check`: what was examined, the findings, and the repairs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from blizzarr.checking.finding import KINDS, Finding, Severity
from blizzarr.printable import printable
from blizzarr.size_text import count_text

SCHEMA: Final = 1
"""The version of `Report.to_dict`: it increases when a member changes its meaning, not when one is added."""

SHOWN: Final = 20
"""The number of findings that the text of a report lists."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair that was made, would be made (with `dry_run`), or was not possible."""

    kind: str
    """The kind of the findings that it repairs; see `Finding.kind`."""
    path: str
    key: str | None
    message: str
    done: bool
    """True if it was done, or with `dry_run`, if it would be."""
    kept: str | None = None
    """The place in the quarantine where the replaced value is kept."""
    lost: tuple[tuple[int, ...], ...] = ()
    """The chunks that could not be saved, as in `Finding.chunk`; for nested shards, with the position in each level.

    If nothing of a chunk or shard could be saved and it was moved away, this is its own position, `chunk`."""
    chunk: tuple[int, ...] | None = None
    """The position of the chunk or shard in the chunk grid, with which each of `lost` begins."""

    def outcome(self, *, dry_run: bool = False) -> str:
        """Return what was done, or with `dry_run` what would be: "repaired", "moved away" or "not repaired"."""
        if not self.done:
            return "not repaired"
        whole = self.chunk is not None and self.lost == (self.chunk,)
        return ("would be " if dry_run else "") + ("moved away" if whole else "repaired")

    def __str__(self) -> str:
        return printable(f"{self.path if self.key is None else self.key}: {self.message}")

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        fields: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return fields


@dataclass(frozen=True, slots=True)
class Checksums:
    """The manifest of checksums that was recorded, or with which the data was compared."""

    file: str
    done: Literal["recorded", "compared", "not recorded"]
    """No manifest is recorded if something is damaged: it would give damaged objects valid checksums."""
    objects: int = 0
    """The number of objects in the manifest."""
    recorded: str | None = None
    """The time at which it was recorded, in ISO 8601."""

    def __str__(self) -> str:
        file = printable(self.file)
        if self.done == "not recorded":
            return f"not recorded in {file}: something is damaged"
        objects = count_text(self.objects, "checksum")
        return (
            f"{objects} recorded in {file}"
            if self.done == "recorded"
            else (f"compared with {objects} of {printable(str(self.recorded))} in {file}")
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return asdict(self)


@dataclass(slots=True)
class Report:
    """The result of `blizzarr.check`. `str` is meant for people, `to_dict` for programs.

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
    """The path of the node that was checked, like ``/a/b``."""
    fast: bool = False
    arrays: int = 0
    groups: int = 0
    objects: int = 0
    """The number of stored chunk objects that were examined; in sharded arrays, of shards."""
    chunks: int = 0
    """The number of chunks in these objects; in sharded arrays, of inner chunks."""
    bytes: int = 0
    """The stored size of these objects in bytes."""
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    """Worst first."""
    left_out: int = 0
    """The number of damaged inner chunks without a finding of their own, because their shard has very many."""
    repairs: list[Repair] = field(default_factory=list)
    dry_run: bool = False
    """True if repairs were only planned and nothing was changed."""
    manifest: Checksums | None = None
    """The manifest that was recorded or compared with, if any."""

    @property
    def ok(self) -> bool:
        """True if there are no errors, and everything could be checked; there may be other warnings, and notes."""
        return not self.count(Severity.ERROR) and not self.of_kind("not-supported")

    @property
    def clean(self) -> bool:
        """True if there are no errors and no warnings; there may be notes."""
        return self.ok and not self.count(Severity.WARNING)

    @property
    def repaired(self) -> bool:
        """True if every error was repaired without losing a chunk."""
        done = {(repair.path, repair.key) for repair in self.repairs if repair.done and not repair.lost}
        return not self.dry_run and all(
            (finding.path, finding.key) in done for finding in self.findings if finding.severity is Severity.ERROR
        )

    def count(self, severity: Severity) -> int:
        """Return the number of findings of this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def of_kind(self, *kinds: str) -> list[Finding]:
        """Return the findings of these kinds."""
        return [finding for finding in self.findings if finding.kind in kinds]

    def kinds(self) -> dict[str, int]:
        """Return the number of findings of each kind that occurs, worst first."""
        counts = Counter(finding.kind for finding in self.findings)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def summary(self) -> str:
        """Return one line: what was examined, how long it took, and the number of findings of each severity."""
        nouns = ("array", "group", "object", "chunk", "byte")
        looked = ", ".join(count_text(getattr(self, f"{noun}s"), noun) for noun in nouns)
        return f"{looked} in {self.seconds:.1f} s: {self.verdict()}"

    def verdict(self) -> str:
        """Return the number of findings of each severity as text, or "nothing is wrong"."""
        counts = [(self.count(severity), str(severity)) for severity in Severity]
        parts = [count_text(count, noun) for count, noun in counts if count]
        return ", ".join(parts) or "nothing is wrong"

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings[:SHOWN]]
        if len(self.findings) > SHOWN:
            lines.append(f"and {len(self.findings) - SHOWN:,} more")
        if self.left_out:
            lines.append(f"and {self.left_out:,} more inner chunks of these shards")
        lines += [f"{repair.outcome(dry_run=self.dry_run)}: {repair}" for repair in self.repairs]
        lines += [] if self.manifest is None else [str(self.manifest)]
        return "\n".join([*lines, self.summary()])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values, as ``blizzarr check --json`` prints them."""
        names = ("store", "path", "fast", "ok", "clean", "arrays", "groups", "objects", "chunks", "bytes")
        return {
            "blizzarr_check": SCHEMA,
            **{name: getattr(self, name) for name in names},
            "seconds": round(self.seconds, 3),
            **{f"{severity}s": self.count(severity) for severity in Severity},
            "left_out": self.left_out,
            "findings": [finding.to_dict() for finding in self.findings],
            "manifest": None if self.manifest is None else self.manifest.to_dict(),
            "dry_run": self.dry_run,
            "repairs": [repair.to_dict() for repair in self.repairs],
        }

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings, and sort all of them."""
        self.findings = sorted([*self.findings, *findings], key=lambda finding: finding.order)
