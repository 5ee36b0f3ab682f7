"""What an experiment is: one that can be run in batches of any size, and counts what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

__all__ = ["MAXIMUM", "Experiment", "Outcome", "Run"]

MAXIMUM = "max_"
"""Figures whose names begin so are maxima over batches; all others are sums."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one batch, or of several together.

    Examples
    --------
    >>> Outcome(20, figures={"torn": 0, "max_seconds": 2}) + Outcome(10, figures={"torn": 1, "max_seconds": 1})
    Outcome(done=30, wrong=0, figures={'torn': 1, 'max_seconds': 2}, findings=())
    """

    done: int
    """How often it was tried."""
    wrong: int = 0
    """How often the promise was broken."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What else was counted."""
    findings: tuple[str, ...] = ()
    """Each broken promise in words that let it be repeated."""

    def __add__(self, other: Outcome) -> Outcome:
        figures = dict(self.figures)
        for name, value in other.figures.items():
            if name not in figures:
                figures[name] = value
            else:
                figures[name] = max(figures[name], value) if name.startswith(MAXIMUM) else figures[name] + value
        return Outcome(
            self.done + other.done, self.wrong + other.wrong, figures, (*self.findings, *other.findings)[:KEPT_FINDINGS]
        )


KEPT_FINDINGS = 50
"""More of them say nothing new."""


class Run(Protocol):
    """One batch: try about `count` times, with this seed, in this empty folder."""

    def __call__(self, count: int, seed: int, scratch: Path) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class Experiment:
    """A promise to users, and how it is put to the test."""

    name: str
    promise: str
    """Its number in the catalogue, ``P4``."""
    what: str
    """The promise in one sentence."""
    unit: str
    """What is counted: kills, writes, reads, ..."""
    full: int
    """How many of them make the figure that is published."""
    ci: int
    """How many of them make a test of a few seconds."""
    run: Run
    batch: int = 100
    """How many at a time, in a long run."""
    needs: Callable[[], str | None] = lambda: None
    """Why it cannot be run on this machine; None when it can."""
