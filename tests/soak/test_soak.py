"""A small run of every experiment: the promises hold, and the figures that are published are those that were kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from soak.experiment import Outcome
from soak.ledger import FIGURES, Ledger
from soak.page import PAGE, page
from soak.table import EXPERIMENTS

# Of these there are smaller tests, too: in `faults`, `fuzz`, `unit/cli`, `unit/copying` and `unit/zarr_pipeline`.
LONG = [
    "commands",
    "documents",
    "dying at each call",
    "forks",
    "interrupts",
    "kills",
    "memory",
    "power_cuts",
    "servers",
    "starving",
    "zarr_writers",
]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (name in LONG)) for name in EXPERIMENTS]
)
def test_a_promise_holds(name: str, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[name]
    reason = experiment.needs()
    if reason is not None:
        pytest.skip(reason)
    outcome = experiment.run(experiment.ci, 0, tmp_path)
    assert outcome.done > 0
    assert (outcome.wrong, outcome.findings) == (0, ())


def test_the_page_has_the_figures_that_were_kept() -> None:
    text = PAGE.read_text()
    assert page(text, Ledger(FIGURES).entries()) == text, "python -m soak --page"


def test_batches_add_up(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "figures.json")
    ledger.add("kills", Outcome(20, figures={"torn": 0, "max_seconds": 2.5}), 1.25)
    entry = ledger.add("kills", Outcome(10, 1, {"torn": 1, "max_seconds": 1}, ("seed 1: torn",)), 2)
    assert entry == ledger.entries()["kills"]
    assert entry.outcome == Outcome(30, 1, {"torn": 1, "max_seconds": 2.5}, ("seed 1: torn",))
    assert (entry.batches, entry.seconds) == (2, 3.2)
    ledger.forget("kills")
    assert ledger.entries() == {}
