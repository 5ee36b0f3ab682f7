"""P11: Ctrl-C at random moments of commands in a shell: they end with the status 130, without a traceback."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import blizzarr
from soak.experiment import Experiment, Outcome

ARRAYS, CHUNKS, LENGTH = 24, 12, 1 << 14
PATIENCE = 60.0
"""Seconds after which a command counts as hung."""
BROKEN = 10.0
"""Seconds. Half of one is promised; a process on a busy machine waits longer for its turn to end. The slowest
is published."""
VERBS = {
    "check": ["check", "x"],
    "diff": ["diff", "x", "same"],
    "copy": ["copy", "x", "y"],
    "tree": ["tree", "x"],
    "ls": ["ls", "-l", "x"],
    "upgrade": ["upgrade", "x"],
    "cat": ["cat", "x/0[:50]"],
    "info": ["info", "x/0"],
}
INTERRUPTED = 130, -signal.SIGINT
"""The second is the same to a shell. Python ends so in its last moments, when it has no handlers any more."""
UNSEEN = ("Traceback", "lost sys.stderr", "Exception ignored", "KeyboardInterrupt")

# It tells when the package is being imported: what comes before is Python's own.
PROGRAM = """
import importlib.abc, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what it starts in the background ignore it

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, module, path, target=None):
        if module == "blizzarr._native":
            sys.meta_path.remove(self)
            os.write(int(told), b"x")

_, told, *more = sys.argv
sys.argv = ["/usr/bin/blizzarr", *more]
sys.meta_path.insert(0, Finder())
from blizzarr.cli import main
main()
"""


def data(place: Path, numbers: np.ndarray) -> None:
    """A hierarchy of some arrays that `upgrade` changes."""
    root = blizzarr.create_group(place, zarr_format=2)
    for number in range(ARRAYS):
        root.create_array(f"{number}", data=numbers + number, chunks=LENGTH)


def interrupted(arguments: list[str], folder: Path, after: float | None) -> tuple[int | None, str, float]:
    """Run a command and interrupt it so many seconds after its start: its status, its complaints, how long it went on.

    Without a moment it is not interrupted. The status is None if it has to be killed.
    """
    hears, tells = os.pipe()
    command = [sys.executable, "-c", PROGRAM, str(tells), *arguments]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=folder, pass_fds=[tells], text=True, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE
    ) as child:
        os.close(tells)
        os.read(hears, 1)
        os.close(hears)
        if after is not None:
            time.sleep(after)
            child.send_signal(signal.SIGINT)
        began = time.monotonic()
        try:
            _, complaints = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            return None, "", PATIENCE
        return child.returncode, complaints, time.monotonic() - began


def judge(verb: str, folder: Path, numbers: np.ndarray) -> list[str]:
    """What is wrong with what the command has read and written; it is finished then."""
    wrong = []
    if not same(folder / "x", numbers):
        wrong.append("the hierarchy has other values")
    if verb == "copy":
        blizzarr.copy(folder / "x", folder / "y", resume=True)
        if not same(folder / "y", numbers):
            wrong.append("the copy that was resumed has other values")
    if verb == "upgrade":
        blizzarr.upgrade(folder / "x")
        if not same(folder / "x", numbers) or blizzarr.open_group(folder / "x").metadata.format != "v3":
            wrong.append("the upgrade that was finished has other values")
    return wrong


def same(place: Path, numbers: np.ndarray) -> bool:
    """Whether all arrays are there with their values."""
    found = dict(blizzarr.open_group(place, mode="r").arrays())
    return len(found) == ARRAYS and all(
        np.array_equal(found[f"{number}"][...], numbers + number) for number in range(ARRAYS)
    )


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many commands of all kinds in turn."""
    chance = random.Random(seed)
    numbers = np.random.default_rng(seed).integers(0, 1 << 40, CHUNKS * LENGTH)
    data(scratch / "start", numbers)
    lengths: dict[str, float] = {}
    findings, in_time, late = [], 0, 0.0
    for turn in range(count):
        verb = list(VERBS)[(seed * count + turn) % len(VERBS)]
        folder = scratch / f"{turn}"
        shutil.copytree(scratch / "start", folder / "x")
        (folder / "same").symlink_to(scratch / "start")
        if verb not in lengths:
            shutil.copytree(folder, scratch / verb, symlinks=True)
            _, _, lengths[verb] = interrupted(VERBS[verb], scratch / verb, None)
            shutil.rmtree(scratch / verb)
        moment = chance.uniform(0, lengths[verb])
        status, complaints, seconds = interrupted(VERBS[verb], folder, moment)
        wrong = []
        # It may have ended before.
        if status not in (*INTERRUPTED, 0):
            wrong.append(f"status {status}")
        if any(word in complaints for word in UNSEEN):
            wrong.append(f"it says {complaints!r}")
        if status in INTERRUPTED:
            in_time, late = in_time + 1, max(late, seconds)
            if seconds > BROKEN:
                wrong.append(f"it ended after {seconds:.2f} s")
        wrong += judge(verb, folder, numbers)
        findings += [f"seed {seed}, turn {turn}, {verb} after {moment:.3f} s: {one}" for one in wrong]
        shutil.rmtree(folder)
    figures = {"before they had ended": in_time, "max_seconds": round(late, 3)}
    return Outcome(count, len(findings), figures, tuple(findings))


EXPERIMENT = Experiment(
    name="commands",
    promise="P11",
    what="Ctrl-C ends a command of the shell with the status 130, without a traceback, and it can be repeated",
    unit="interrupts",
    full=500,
    ci=3,
    run=run,
    batch=40,
    needs=lambda: None if sys.platform == "linux" else "needs signals of Linux",
)
