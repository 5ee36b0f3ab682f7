"""How far each experiment has come: kept after each batch, so that a run may stop at any time and go on later."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from soak.experiment import Outcome

__all__ = ["FIGURES", "Entry", "Ledger"]

FIGURES = Path(__file__).with_name("figures.json")
"""What was measured, kept with the project; `docs/reliability.md` is made from it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one experiment."""

    outcome: Outcome
    batches: int
    seconds: float
    date: str
    versions: Mapping[str, str]


class Ledger:
    """The figures of all experiments, in one file."""

    def __init__(self, file: Path = FIGURES) -> None:
        self._file = file

    def entries(self) -> dict[str, Entry]:
        """What has been measured so far, by the names of the experiments."""
        if not self._file.exists():
            return {}
        return {name: _entry(stored) for name, stored in json.loads(self._file.read_text()).items()}

    def add(self, name: str, outcome: Outcome, seconds: float) -> Entry:
        """Add one batch."""
        entries = self.entries()
        before = entries.get(name)
        entries[name] = Entry(
            outcome if before is None else before.outcome + outcome,
            1 + (before.batches if before else 0),
            round(seconds + (before.seconds if before else 0), 1),
            datetime.now(UTC).date().isoformat(),
            versions(),
        )
        self._store(entries)
        return entries[name]

    def forget(self, name: str) -> None:
        """Begin anew, as one must when the code that was tried has changed."""
        entries = self.entries()
        entries.pop(name, None)
        self._store(entries)

    def _store(self, entries: Mapping[str, Entry]) -> None:
        text = json.dumps({name: _stored(entries[name]) for name in sorted(entries)}, indent=1)
        beside = self._file.with_suffix(".new")
        beside.write_text(text + "\n")
        beside.replace(self._file)


def versions() -> dict[str, str]:
    """What ran: blizzarr, Python, the system."""
    import numpy

    import blizzarr

    return {
        "blizzarr": blizzarr.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "system": f"{platform.system()} {platform.release().split('-')[0]}" if sys.platform != "win32" else "Windows",
    }


def _stored(entry: Entry) -> dict[str, Any]:
    return {
        "date": entry.date,
        "done": entry.outcome.done,
        "wrong": entry.outcome.wrong,
        "figures": dict(entry.outcome.figures),
        "findings": list(entry.outcome.findings),
        "batches": entry.batches,
        "seconds": entry.seconds,
        "versions": dict(entry.versions),
    }


def _entry(stored: Mapping[str, Any]) -> Entry:
    outcome = Outcome(stored["done"], stored["wrong"], stored["figures"], tuple(stored["findings"]))
    return Entry(outcome, stored["batches"], stored["seconds"], stored["date"], stored["versions"])
