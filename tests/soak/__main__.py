"""`make soak`: repeat every experiment until the count that is promised, or until the time is over; go on another day.

In this folder's parent::

    python -m soak                     all experiments, each to its full count
    python -m soak kills writers       only these
    python -m soak --seconds 600       at most so long for each
    python -m soak --count 2000        at most so many of each
    python -m soak --anew kills        forget what was counted before
    python -m soak --page              only make docs/reliability.md from the figures
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from soak.experiment import Experiment
from soak.ledger import FIGURES, Ledger
from soak.page import write_page
from soak.table import EXPERIMENTS


def main() -> int:
    """Run what was asked for; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help=", ".join(EXPERIMENTS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most so long for each")
    parser.add_argument("--count", type=int, help="at most so many of each; by default what is promised")
    parser.add_argument("--anew", action="store_true", help="forget what was counted before")
    parser.add_argument("--page", action="store_true", help="only make the page from the figures")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="the file that they are kept in")
    given = parser.parse_args()
    unknown = set(given.names) - EXPERIMENTS.keys()
    if unknown:
        parser.error(f"no such experiment: {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}")
    ledger = Ledger(given.figures)
    broken = False
    for name in () if given.page else given.names or EXPERIMENTS:
        if given.anew:
            ledger.forget(name)
        broken |= _repeat(EXPERIMENTS[name], ledger, given.seconds, given.count)
    if given.figures == FIGURES:
        write_page(ledger.entries())
    return int(broken)


def _repeat(experiment: Experiment, ledger: Ledger, seconds: float, count: int | None) -> bool:
    """Batch after batch; True when the promise was broken."""
    reason = experiment.needs()
    if reason is not None:
        print(f"{experiment.name}: left out, {reason}", flush=True)
        return False
    full = experiment.full if count is None else min(count, experiment.full)
    entry = ledger.entries().get(experiment.name)
    began = time.monotonic()
    while (entry is None or entry.outcome.done < full) and time.monotonic() - began < seconds:
        batches, done = (0, 0) if entry is None else (entry.batches, entry.outcome.done)
        scratch = Path(tempfile.mkdtemp(prefix="soak-"))
        before = time.monotonic()
        try:
            outcome = experiment.run(min(experiment.batch, full - done), batches, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        # Nothing counted would be repeated for ever.
        assert outcome.done > 0, f"{experiment.name} has tried nothing"
        entry = ledger.add(experiment.name, outcome, time.monotonic() - before)
        _tell(experiment, f"{entry.outcome.done:,} of {full:,} {experiment.unit}, {entry.outcome.wrong} wrong")
        for finding in outcome.findings:
            print(f"\n{experiment.name}, batch {batches}: {finding}", flush=True)
    print(flush=True)
    return entry is not None and entry.outcome.wrong > 0


def _tell(experiment: Experiment, text: str) -> None:
    start, end = ("\r", "\x1b[K") if sys.stdout.isatty() else ("", "\n")
    print(f"{start}{experiment.name} ({experiment.promise}): {text}", end=end, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
