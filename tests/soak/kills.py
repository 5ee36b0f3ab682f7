"""P4: `kill -9` at random moments of every kind of write."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import time
from pathlib import Path

from blizzarr.stores import LocalStore
from soak.dying.nursery import Nursery
from soak.dying.scenarios import SCENARIOS, Scenario
from soak.dying.snapshot import Snapshot, between, equal, snapshot
from soak.experiment import Experiment, Outcome


class History:
    """A scenario with what is there after each step, and how long the steps take together."""

    def __init__(self, number: int, nursery: Nursery, scratch: Path) -> None:
        self.number, self.scenario = number, SCENARIOS[number]
        self.start = scratch / f"{number}-start" / ("x" + self.scenario.suffix)
        self.start.parent.mkdir()
        self.scenario.before(self.start)
        place = fresh(self.start, scratch / f"{number}-whole")
        self.states: list[Snapshot] = [snapshot(place)]
        for step in self.scenario.steps:
            step(place)
            self.states.append(snapshot(place))
        place = fresh(self.start, scratch / f"{number}-timed")
        began = time.monotonic()
        nursery.begin(number, place)
        while not nursery.line().startswith("end"):
            pass
        self.seconds = time.monotonic() - began


def fresh(start: Path, folder: Path) -> Path:
    """The scenario's beginning, copied to where it will suffer."""
    folder.mkdir()
    place = folder / start.name
    if start.is_dir():
        shutil.copytree(start, place)
    elif start.exists():
        shutil.copy(start, place)
    return place


def judge(scenario: Scenario, states: list[Snapshot], place: Path, done: int) -> list[str]:
    """What is wrong after a death when so many steps had been acknowledged; goes on to finish and to sweep."""
    problems = []
    after = min(done + 1, len(scenario.steps))
    try:
        problem = between(snapshot(place), states[done], states[after], may_be_gone=scenario.may_be_gone)
        if problem is not None:
            problems.append(f"between steps {done} and {after}: {problem}")
        if place.is_dir():
            shown = [key for key in LocalStore(place).list() if ".blizzarr-" in key]
            problems += [f"a listing shows {key}" for key in shown]
        for step in scenario.steps[done:]:
            step(place)
        if not equal(snapshot(place), states[-1]):
            problems.append(f"finished from step {done}, it is not what it should be")
        if place.is_dir():
            LocalStore(place).sweep()
    except Exception as error:
        problems.append(f"after {done} steps: {type(error).__name__}: {error}")
    problems += [f"left after a sweep: {path.name}" for path in place.parent.rglob(".blizzarr-*")]
    return problems


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """Kill so many writers, of all kinds in turn."""
    chance = random.Random(seed)
    findings: list[str] = []
    figures = {"inside of a call": 0, "leftovers": 0}
    histories: dict[int, History] = {}
    with Nursery() as nursery:
        for turn in range(count):
            number = (seed * count + turn) % len(SCENARIOS)
            if number not in histories:
                histories[number] = History(number, nursery, scratch)
            history = histories[number]
            place = fresh(history.start, scratch / f"{number}-{turn}")
            child = nursery.begin(number, place)
            time.sleep(chance.uniform(0, history.seconds))
            with contextlib.suppress(ProcessLookupError):  # it was faster
                os.kill(child, signal.SIGKILL)
            done, inside = 0, False
            while not (line := nursery.line()).startswith("end"):
                done += line.startswith("done")
                inside = line.startswith("begin")
                if line.startswith("raised"):
                    findings.append(f"{history.scenario.name}: {line}")
            figures["inside of a call"] += inside
            figures["leftovers"] += len(list(place.parent.rglob(".blizzarr-*")))
            problems = judge(history.scenario, history.states, place, done)
            findings += [f"seed {seed}, turn {turn}, {history.scenario.name}: {problem}" for problem in problems]
            shutil.rmtree(place.parent)
    return Outcome(count, len(findings), figures, tuple(findings))


EXPERIMENT = Experiment(
    name="kills",
    promise="P4",
    what="After a kill, each chunk, shard and document is the old or the new one, and finished calls have their effect",
    unit="kills",
    full=2000,
    ci=16,
    run=run,
    batch=100,
    needs=lambda: None if hasattr(os, "fork") else "needs processes that fork",
)
