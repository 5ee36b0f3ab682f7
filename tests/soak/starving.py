"""P3: operations with hardly any address space left: each is done or raises a MemoryError; nothing dies or hangs."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from select import select
from typing import IO, Any

from soak.experiment import Experiment, Outcome

TESTS = Path(__file__).parents[1]
PATIENCE = 60.0
"""Seconds after which an operation counts as hung."""


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many operations; whenever a child dies or hangs, another one goes on."""
    figures = Counter(done=0, memory=0, hung_in_thread_start=0)
    findings: list[str] = []
    first = 0
    while first < count:
        folder = scratch / str(first)
        folder.mkdir()
        first = _child(folder, seed, first, count, figures, findings)
        shutil.rmtree(folder)
    names = {"done": "were done", "memory": "errors", "hung_in_thread_start": "hung in CPython's Thread.start"}
    return Outcome(count, len(findings), {names[key]: value for key, value in figures.items()}, tuple(findings))


def _child(folder: Path, seed: int, first: int, count: int, figures: Counter[str], findings: list[str]) -> int:
    """Let a child do what is left; return the number of the operation to go on with."""
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
    command = [sys.executable, "-m", "soak.starved", str(folder), *map(str, (seed, first, count - first))]
    with (folder / "complaints").open("w+b") as complaints:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=complaints, bufsize=0, env=environment, cwd=TESTS
        )
        assert child.stdout is not None
        begun: dict[str, Any] | None = None
        try:
            while told := _line(child.stdout):
                if "what" in told:
                    begun = told
                    continue
                for how in told["ended"]:
                    figures["done" if how == "fine" else "memory"] += 1
                wrong = [how for how in told["ended"] if how not in ("fine", "error")] + told["wrong"]
                findings += [f"seed {seed}, {begun}: {one}" for one in wrong]
                assert begun is not None
                first, begun = begun["number"] + 1, None
            if child.wait(PATIENCE) == 0 and first == count:
                return count
            said = f"ended with {child.returncode}"
        except TimeoutError:
            # It says where each of its threads is.
            child.send_signal(signal.SIGUSR1)
            time.sleep(2)
            said = "hangs"
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
        complaints.seek(0)
        where = complaints.read().decode(errors="replace")
    if said == "hangs" and re.search(r'threading\.py", line \d+ in start\b', where):
        figures["hung_in_thread_start"] += 1
    else:
        findings.append(f"seed {seed}, {begun}: {said}: {where[-1500:]}")
    return (first if begun is None else begun["number"]) + 1


def _line(stream: IO[bytes]) -> dict[str, Any]:
    """The next thing that is told; nothing at the end."""
    if not select([stream], [], [], PATIENCE)[0]:
        raise TimeoutError
    line = stream.readline()
    return json.loads(line) if line.endswith(b"\n") else {}


EXPERIMENT = Experiment(
    name="starving",
    promise="P3",
    what="When memory runs out, calls succeed or raise a MemoryError; no process dies or hangs, and no value is wrong",
    unit="operations",
    full=5000,
    ci=8,
    run=run,
    batch=250,
    needs=lambda: None if sys.platform == "linux" else "the address space can be capped on Linux",
)
