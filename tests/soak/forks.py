"""P11: children that are forked at any moment, while threads read and write, do their work and end."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np

import blizzarr
from soak.experiment import Experiment, Outcome

PATIENCE = 10.0
"""Seconds after which a child counts as hung."""


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """Fork so many times, from this process, with two threads at work."""
    local = blizzarr.create_array(scratch / "x.zarr", data=np.arange(4096), chunks=64)
    memory = blizzarr.create_array(blizzarr.stores.MemoryStore(), data=np.arange(4096), chunks=64)
    over = threading.Event()

    def work(number: int) -> None:
        rng = np.random.default_rng((seed, number))
        while not over.is_set():
            start = int(rng.integers(0, 3000))
            for array in (local, memory):
                array[start : start + 500] = np.arange(start, start + 500)
                assert (array[start : start + 500] == np.arange(start, start + 500)).all()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    findings, slowest = [], 0.0
    try:
        for turn in range(count):
            began = time.monotonic()
            child = os.fork()
            if child == 0:
                _live(local, memory, turn)
            status = _wait(child, began + PATIENCE)
            slowest = max(slowest, time.monotonic() - began)
            if status is None:
                findings.append(f"fork {turn} hangs")
            elif status != 0:
                findings.append(f"fork {turn} ended with {status}")
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return Outcome(count, len(findings), {"max_seconds": round(slowest, 3)}, tuple(findings))


def _live(local: blizzarr.Array, memory: blizzarr.Array, turn: int) -> None:
    """What a child does: it reads, it writes what everybody writes, and it never returns."""
    status = 1
    try:
        start = 37 * turn % 3000
        for array in (local, memory):
            array[start : start + 200] = np.arange(start, start + 200)
            status = 0 if (array[...] == np.arange(4096)).all() else 2
            if status:
                break
    finally:
        os._exit(status)


def _wait(child: int, until: float) -> int | None:
    """How the child has ended; None when it was ended because it hung."""
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


EXPERIMENT = Experiment(
    name="forks",
    promise="P11",
    what="A child that is forked while other threads read and write does not hang, and can read and write",
    unit="forks",
    full=1000,
    ci=24,
    run=run,
    batch=100,
    needs=lambda: None if hasattr(os, "fork") else "needs processes that fork",
)
