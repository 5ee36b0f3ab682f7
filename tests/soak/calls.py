"""P4, rows 86 and 87: each system call of each kind of write is where its process dies, or fails, one after the other.

The points are counted through: batch by batch all scenarios, all their steps, all calls of each. As threads work side
by side, what the Nth call is may differ from run to run, and so may how many there are.
"""

from __future__ import annotations

import errno
import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from blizzarr import errors
from soak.dying.nursery import Nursery
from soak.dying.scenarios import SCENARIOS
from soak.dying.snapshot import Snapshot, equal, snapshot
from soak.experiment import Experiment, Outcome
from soak.kills import fresh, judge
from support.shim import reason_without

CHANGING = "tmpfile,create,write,link,rename,unlink,mkdir,rmdir,ftruncate,flock,fsync,fdatasync"
"""Between two calls of other kinds nothing changes that others could see."""
ALL = CHANGING + ",open,read,lock,close"
HARMLESS = [("read,write", "short"), ("read,write,open,lock", str(errno.EINTR))]
"""What every program has to live with: nobody is told, and it is done all the same."""
FAILURES = [(ALL, str(errno.EIO)), (CHANGING, str(errno.ENOSPC)), (CHANGING, str(errno.EDQUOT))]
OURS = {name for name in errors.__all__ if name != "InternalError"}


@dataclass(frozen=True, slots=True)
class Point:
    """One call of one step that is hit."""

    scenario: int
    step: int
    calls: str
    do: str
    at: int

    def __str__(self) -> str:
        return f"{SCENARIOS[self.scenario].name}, step {self.step}, {self.do} at call {self.at} of {self.calls}"


class Stage:
    """The states of all scenarios, made when they are first wanted."""

    def __init__(self, nursery: Nursery, scratch: Path) -> None:
        self._nursery, self._scratch = nursery, scratch
        self._starts: dict[tuple[int, int], Path] = {}
        self._states: dict[int, list[Snapshot]] = {}
        self._numbers = itertools.count()

    def states(self, scenario: int) -> list[Snapshot]:
        """What is there before the first step and after each."""
        if scenario not in self._states:
            what = SCENARIOS[scenario]
            place = self._folder() / ("x" + what.suffix)
            place.parent.mkdir()
            what.before(place)
            self._states[scenario] = [snapshot(place)]
            for number, step in enumerate(what.steps):
                self._starts[scenario, number] = fresh(place, self._folder())
                step(place)
                self._states[scenario].append(snapshot(place))
        return self._states[scenario]

    def place(self, scenario: int, step: int) -> Path:
        """A copy of what is there before a step."""
        self.states(scenario)
        return fresh(self._starts[scenario, step], self._folder())

    def calls(self, scenario: int, step: int, calls: str) -> int:
        """How many calls a step makes."""
        lines = self.run(Point(scenario, step, calls, "exit", 0), self.place(scenario, step))
        return next(int(line.split()[1]) for line in lines if line.startswith("calls"))

    def run(self, point: Point, place: Path) -> list[str]:
        """What a child says that takes one step and is hit there."""
        self._nursery.begin(
            point.scenario, place, point.step, point.step + 1, calls=point.calls, at=point.at, do=point.do
        )
        lines = []
        while not (line := self._nursery.line()).startswith("end"):
            lines.append(line)
        return lines

    def _folder(self) -> Path:
        return self._scratch / str(next(self._numbers))


def points(stage: Stage, effects: list[tuple[str, str]]) -> Iterator[Point]:
    """All of them, again and again: first the first calls of all scenarios, so that a few are of many kinds."""
    counts = {}
    for at in itertools.count(1):
        there = False
        for number, scenario in enumerate(SCENARIOS):
            for step, (calls, do) in itertools.product(range(len(scenario.steps)), effects):
                key = number, step, calls
                if key not in counts:
                    counts[key] = stage.calls(*key)
                if at <= counts[key]:
                    there = True
                    yield Point(number, step, calls, do, at)
        if not there:
            return


def die(point: Point, stage: Stage) -> tuple[list[str], bool]:
    """What is wrong when this is the first call that is not made. And whether the step was left unfinished."""
    place = stage.place(point.scenario, point.step)
    lines = stage.run(point, place)
    done = point.step + any(line.startswith("done") for line in lines)
    problems = judge(SCENARIOS[point.scenario], stage.states(point.scenario), place, done)
    shutil.rmtree(place.parent)
    return problems, done == point.step


def fail(point: Point, stage: Stage) -> tuple[list[str], bool]:
    """What is wrong when this call fails: it is told by an error of ours, or it does not matter. And whether it was."""
    place = stage.place(point.scenario, point.step)
    lines = stage.run(point, place)
    raised = next((json.loads(line.partition(" ")[2]) for line in lines if line.startswith("raised")), None)
    done = any(line.startswith("done") for line in lines)
    problems = []
    if raised is None and not done:
        problems.append(f"the process has died: {lines}")
    elif raised is not None and raised[0] not in OURS:
        problems.append(f"raised {raised[2]}")
    elif raised is not None and (point.calls, point.do) in HARMLESS:
        problems.append(f"gave up: {raised[1]}")
    states = stage.states(point.scenario)
    if done and not equal(snapshot(place), states[point.step + 1]):
        problems.append("it was said to be done, and is not")
    if raised is not None and place.is_dir():
        left = [path.name for path in place.rglob(".blizzarr-*")]
        # What could not be removed may stay: it was the removal that failed.
        problems += [f"left {name}" for name in left if "unlink" not in point.calls]
    problems += judge(SCENARIOS[point.scenario], states, place, point.step + done)
    shutil.rmtree(place.parent)
    return problems, raised is not None


Hit: TypeAlias = Callable[[Point, Stage], tuple[list[str], bool]]


def all_of(count: int, seed: int, scratch: Path, effects: list[tuple[str, str]], hit: Hit) -> Outcome:
    """Try the next so many points."""
    findings: list[str] = []
    done = broken_off = 0
    with Nursery(with_shim=True) as nursery:
        stage = Stage(nursery, scratch)
        # A batch goes on where the one before it has ended, and at the end begins again.
        every = itertools.chain.from_iterable(points(stage, effects) for _ in itertools.count())
        for point in itertools.islice(every, seed * count, (seed + 1) * count):
            problems, unfinished = hit(point, stage)
            broken_off += unfinished
            findings += [f"{point}: {problem}" for problem in problems]
            done += 1
    return Outcome(done, len(findings), {"broken off": broken_off}, tuple(findings))


def run_dying(count: int, seed: int, scratch: Path) -> Outcome:
    """Die before each call."""
    return all_of(count, seed, scratch, [(CHANGING, "exit")], die)


def run_failing(count: int, seed: int, scratch: Path) -> Outcome:
    """Have each call fail in several ways."""
    return all_of(count, seed, scratch, FAILURES + HARMLESS, fail)


EXPERIMENT = Experiment(
    name="dying at each call",
    promise="P4",
    what="A writer that dies before any one of its system calls leaves the old or the new value",
    unit="calls",
    full=3000,
    ci=24,
    run=run_dying,
    batch=300,
    needs=reason_without,
)
EXPERIMENTS = (
    EXPERIMENT,
    Experiment(
        name="failing at each call",
        promise="P4",
        what="If a system call of a write fails, the write still succeeds, or raises and leaves the old or new value",
        unit="calls",
        full=6000,
        ci=24,
        run=run_failing,
        batch=300,
        needs=reason_without,
    ),
)
