"""P8: nodes change while others consolidate their metadata, and some of either are killed: no reader is misled.

Each actor changes nodes of its own, and says on a board which step it begins and which has returned. So a reader knows
what it must be shown at least, and what it may be shown.
"""

from __future__ import annotations

import itertools
import mmap
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.errors import ConflictError, NodeNotFoundError, OutOfBoundsError
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, Store
from soak.experiment import Experiment, Outcome
from soak.planned import BEFORE, STEPS, Plan, listed, stated
from support.stepped import Died, Stepped

PATIENCE = 60.0
"""Seconds after which an actor counts as hung."""
FORMATS = ("v3", "v2", "v3_draft_zarr_python")
CELLS = list(itertools.product(("processes", "threads", "memory"), FORMATS))
ACCESSES = 200
"""About as many as an actor makes to its store."""
BEGUN, RETURNED, CONSOLIDATED, CONFLICTS = range(4)
"""Columns of the board, which has a row for each actor."""


@dataclass
class Round:
    """One hierarchy, those who change it, and what they have done so far."""

    store: Store
    form: str
    plans: list[Plan]
    board: npt.NDArray[np.int64]

    def act(self, actor: int, store: Store, chance: random.Random, until: int = STEPS) -> None:
        """Take the steps of an actor, from where it is."""
        plan, row = self.plans[actor], self.board[actor]
        for step in range(int(row[RETURNED]) + 1, until + 1):
            row[BEGUN] = step
            kind, name = plan.steps[step]
            while True:
                try:
                    self._step(store, kind, name, step, actor, chance)
                    row[CONSOLIDATED] += kind == "consolidate"
                    break
                except ConflictError:
                    row[CONFLICTS] += 1
                    if kind == "consolidate":
                        break
            row[RETURNED] = step

    def _step(self, store: Store, kind: str, name: str, step: int, actor: int, chance: random.Random) -> None:
        options: dict[str, Any] = {"attributes": {"v": step}, "zarr_format": self.form, "overwrite": kind != "create"}
        key = "v" if name else f"v{actor}"
        near = store
        if isinstance(store, LocalStore) and self.form in ("v2", "v3") and "/" in name and chance.random() < 0.3:
            # By the path of a directory inside, from where the groups above are found, too.
            inside, _, name = name.rpartition("/")
            near = LocalStore(Path(str(store)) / inside)
        match kind:
            case "consolidate":
                # The draft's is at the root only.
                blizzarr.consolidate_metadata(near, path="" if self.form.startswith("v3_draft") else name)
            case "create" | "overwrite" if name[:1] == "g" and "/" not in name:
                blizzarr.create_group(near, path=name, **options)
            case "create" | "overwrite":
                data = np.full(2, step, "i2")
                blizzarr.create_array(near, name=name, data=data, chunks=2, fill_value=-1, **options)
            case "delete":
                del blizzarr.open_group(near, mode="r+")[name]
            case "annotate":
                blizzarr.open(near, path=name, mode="r+").attrs[key] = step
            case "resize":
                blizzarr.open_array(near, path=name, mode="r+").resize(2 + step)

    def read(self, chance: random.Random, use: bool | None = None) -> tuple[bool, list[str]]:
        """Open a group as readers do; return whether it was consolidated, and what was wrong about it."""
        actor = chance.randrange(len(self.plans))
        path = "" if chance.random() < 0.7 else f"g{actor}"
        returned = self.board[:, RETURNED].tolist()
        try:
            group = blizzarr.open_group(self.store, path=path, mode="r", use_consolidated=use)
            members = dict(group.members(max_depth=None))
        except NodeNotFoundError:
            group, members = None, {}
        begun = self.board[:, BEGUN].tolist()
        shown = {f"{path}/{name}".strip("/"): node for name, node in members.items()}
        if group is not None:
            shown[path] = group
        consolidated = group is not None and group.metadata.consolidated is not None
        wrong = []
        for number, plan in enumerate(self.plans):
            window = returned[number], begun[number]
            for name in plan.states[0]:
                if name != path and path and not name.startswith(f"{path}/"):
                    continue
                found, possible = stated(shown.get(name), name, number), plan.possible(name, *window)
                if path and group is None:
                    possible += [None] * (None in plan.possible(path, *window))
                if found not in possible:
                    said = f"/{name} is {found}, expected one of {possible}"
                    wrong.append(f"{'consolidated' if consolidated else 'plain'}, steps {window}: {said}")
        arrays = [name for name, node in shown.items() if isinstance(node, blizzarr.Array)]
        if arrays and not wrong:
            name = chance.choice(arrays)
            wrong += self._elements(name, shown[name], returned)
        return consolidated, wrong

    def _elements(self, name: str, array: Any, returned: list[int]) -> list[str]:
        """What is wrong about the elements that are read by way of that metadata."""
        number = int(name.partition("/")[0][1:])
        try:
            found: set[int] | str = set(array[:2].tolist())
        except (ConflictError, OutOfBoundsError, NodeNotFoundError) as error:
            found = type(error).__name__
        window = returned[number], int(self.board[number, BEGUN])
        if isinstance(found, str):
            # Only of an array that is no longer what was opened.
            same = len({self.plans[number].states[step][name] for step in range(window[0], window[1] + 1)}) == 1
            return [f"reading /{name}: {found}, although nobody changes it"] if same else []
        allowed = self.plans[number].values(name, *window)
        return [] if found <= allowed else [f"/{name} has {found}, expected {allowed}, steps {window}"]

    def judge(self, chance: random.Random, changer_died: bool) -> list[str]:
        """What is wrong after all is over; others consolidate then, and change something."""
        wrong = []
        for _ in range(2):
            wrong += [f"in the end, {one}" for use in (None, False) for one in self.read(chance, use)[1]]
        if not changer_died and listed(self.store, None) != listed(self.store, False):
            wrong.append(f"in the end: {listed(self.store, None)}, stored is {listed(self.store, False)}")
        blizzarr.consolidate_metadata(self.store)
        if not changer_died and listed(self.store, None) != listed(self.store, False):
            wrong.append("other nodes than before, after a consolidation at the end")
        blizzarr.create_group(self.store, path="last", zarr_format=self.form)
        if listed(self.store, None) != listed(self.store, False):
            wrong.append("a group that is made after the end is hidden")
        return wrong


class Actors:
    """Those who act: children in one thread or two each, or threads of this process; some are killed."""

    def __init__(self, here: Round, where: str, chance: random.Random, place: Path) -> None:
        self._here, self._place, self.died = here, place, 0
        self._children: dict[int, float] = {}
        self._threads: list[threading.Thread] = []
        each = 2 if where == "threads" else 1
        for first in range(0, len(here.plans), each):
            actors = range(len(here.plans))[first : first + each]
            how = chance.choice(["not", "at a moment", "at an access"])
            dies = chance.randrange(ACCESSES) if how == "at an access" else None
            moment = chance.uniform(0, 0.06) if how == "at a moment" else float("inf")
            if where == "memory":
                self._threads += self._begin(actors, dies, chance.random(), self._dies)
                continue
            child = os.fork()
            if child == 0:
                for thread in self._begin(actors, dies, chance.random(), lambda: os.kill(os.getpid(), signal.SIGKILL)):
                    thread.join()
                os._exit(0)
            self._children[child] = time.monotonic() + moment

    def _dies(self) -> None:
        self.died += 1
        raise Died

    def _begin(self, actors: range, dies: int | None, seed: float, die: Callable[[], None]) -> list[threading.Thread]:
        def act(actor: int, chance: random.Random) -> None:
            store: Store = self._here.store
            if dies is not None:
                store = Stepped(store, lambda number: die() if number == dies else None)
            try:
                self._here.act(actor, store, chance)
            except Died:
                pass
            except BaseException as error:
                step = self._here.plans[actor].steps[int(self._here.board[actor, BEGUN])]
                said = f"actor {actor}, {step}: {type(error).__name__}: {error}"
                self._place.with_name(f"{self._place.name}-{actor}.txt").write_text(said)

        threads = [threading.Thread(target=act, args=(actor, random.Random(seed + actor))) for actor in actors]
        for thread in threads:
            thread.start()
        return threads

    def going(self) -> bool:
        """Kill those whose time has come; return whether any is left."""
        for child, moment in list(self._children.items()):
            if time.monotonic() > moment:
                os.kill(child, signal.SIGKILL)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                del self._children[child]
                self.died += os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        return bool(self._children) or any(thread.is_alive() for thread in self._threads)

    def end(self) -> None:
        """Kill all that are left."""
        for child in self._children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def findings(self) -> list[str]:
        """What they did not expect."""
        return [file.read_text() for file in self._place.parent.glob(f"{self._place.name}-*.txt")]


def one_round(where: str, form: str, seed: str, place: Path) -> Outcome:
    """Make a hierarchy, let actors loose on it, read beside them, kill some, and judge what is left."""
    chance = random.Random(seed)
    plans = [Plan.make(form, actor, chance) for actor in range(chance.randint(2, 4))]
    board = np.frombuffer(mmap.mmap(-1, 8 * 4 * len(plans)), np.int64).reshape(-1, 4)
    store: Store = LocalStore(place)
    if where == "memory":
        store = MemoryStore() if chance.random() < 0.5 else MappingStore({})
    blizzarr.create_group(store, zarr_format=form)
    here = Round(store, form, plans, board)
    for actor in range(len(plans)):
        here.act(actor, store, chance, BEFORE)
    if chance.random() < 0.5:
        blizzarr.consolidate_metadata(store)
    opens, consolidated, wrong = 0, 0, []
    actors = Actors(here, where, chance, place)
    deadline = time.monotonic() + PATIENCE
    while actors.going():
        used, misled = here.read(chance)
        wrong += misled
        opens, consolidated = opens + 1, consolidated + used
        if time.monotonic() > deadline:
            actors.end()
            wrong.append(f"still at it after {PATIENCE} seconds: {board.tolist()}")
            break
    else:
        wrong += actors.findings() + here.judge(chance, changer_died=where == "memory" and actors.died > 0)
    figures = {
        "kills": actors.died,
        "consolidations": int(board[:, CONSOLIDATED].sum()),
        "conflicts": int(board[:, CONFLICTS].sum()),
        "opens": opens,
        "opens of consolidated metadata": consolidated,
    }
    return Outcome(1, len(wrong), figures, tuple(f"{where}, {form}, {seed}: {one}" for one in wrong))


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many rounds, of all kinds in turn."""
    total = Outcome(0)
    for turn in range(count):
        where, form = CELLS[(seed * count + turn) % len(CELLS)]
        total += one_round(where, form, f"{seed}, {turn}", scratch / str(turn))
        shutil.rmtree(scratch / str(turn), ignore_errors=True)
    return total


EXPERIMENT = Experiment(
    name="consolidations",
    promise="P8",
    what="Whoever is killed, consolidated metadata lacks no call that had returned when it was opened",
    unit="rounds",
    full=5000,
    ci=8,
    run=run,
    batch=100,
    needs=lambda: None if hasattr(os, "fork") else "needs processes that fork",
)
