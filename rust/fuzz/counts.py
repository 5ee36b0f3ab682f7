"""How often each target was executed: counted by every run, kept until it is recorded, then committed.

Runs add to a ledger beside what they build; `record` moves its sums into `figures.json` and makes the table of
`docs/reliability.md` from that.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- fuzzing: made by `fuzz.py --record` -->", "<!-- end of fuzzing -->"

#: What is counted of a target. `bare` executions are those without a sanitizer; `since` the last finding there were so
#: many, in so many `quiet` seconds; `seconds` are the processor's, but for those before 2026-11-21 12:00, which are the
#: clock's.
NOTHING: dict[str, float] = {"executions": 0, "bare": 0, "since": 0, "seconds": 0.0, "quiet": 0.0, "findings": 0}


@dataclass
class Counts:
    """Those of one folder."""

    ledger: Path
    figures: Path
    page: Path
    _keeping: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, name: str, executions: int, seconds: float, findings: int, bare: bool = False) -> None:
        """Add what was done, and the processor's seconds that it took, to the ledger."""
        done = {"executions": executions, "bare": executions * bare, "seconds": seconds, "findings": findings}
        done |= {"since": 0, "quiet": 0.0} if findings else {"since": executions, "quiet": seconds}
        with self._keeping:
            ledger = _load(self.ledger)
            ledger[name] = added(ledger.get(name, NOTHING), done)
            _store(self.ledger, ledger)

    def since(self, name: str) -> int:
        """Executions of a target by all runs since it has found something, recorded or not."""
        with self._keeping:
            recorded = _load(self.figures).get("targets", {}).get(name, NOTHING)
            return int(added(recorded, _load(self.ledger).get(name, NOTHING))["since"])

    def record(self, **about: str) -> None:
        """Add the ledger to the figures that are committed, begin a new one, and make the table anew."""
        figures = _load(self.figures) | about
        targets = figures.setdefault("targets", {})
        with self._keeping:
            for name, done in _load(self.ledger).items():
                targets[name] = added(targets.get(name, NOTHING), done)
            self.ledger.unlink(missing_ok=True)
        _store(self.figures, figures)
        self.page.write_text(page(self.page.read_text(), figures))


def added(before: dict[str, float], done: dict[str, float]) -> dict[str, float]:
    """Both together; what was found last began a new count.

    >>> added({"executions": 10, "since": 10, "findings": 0}, {"executions": 5, "since": 2, "findings": 1})["since"]
    2
    """
    total = {key: round(before.get(key, 0) + done.get(key, 0), 1) for key in NOTHING}
    if done.get("findings", 0):
        total |= {key: done.get(key, 0) for key in ("since", "quiet")}
    return total


def page(text: str, figures: dict[str, Any]) -> str:
    """The page with these figures between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table(figures['targets'])}\n{END}{after}"


def table(targets: dict[str, dict[str, float]]) -> str:
    """One row for each target."""
    rows = [
        "| target | executions | with AddressSanitizer | hours | executions since the last finding | hours since |",
        "|---|---|---|---|---|---|",
    ]
    for name, done in sorted(targets.items()):
        sanitized = "" if name == "documents" else f"{done['executions'] - done['bare']:,.0f}"
        executions, since = (f"{done[key]:,.0f}" for key in ("executions", "since"))
        hours, quiet = (f"{done[key] / 3600:.1f}" for key in ("seconds", "quiet"))
        rows.append(f"| {name} | {executions} | {sanitized} | {hours} | {since} | {quiet} |")
    return "\n".join(rows) + "\n"


def _load(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text()) if file.exists() else {}


def _store(file: Path, content: dict[str, Any]) -> None:
    beside = file.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
    beside.replace(file)
