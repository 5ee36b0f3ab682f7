"""A warm interpreter that forks: each child takes the steps of a scenario, and dies when it is told or made to.

Run as a program it reads one JSON object a line: the number of a scenario, a place, its steps, and what the shim is to
do, if it is loaded. It answers on the same pipe: the child's process id, a line before and after each step, and how
the child has ended.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import blizzarr
from support.shim import shim

__all__ = ["Nursery"]

TESTS = Path(__file__).parents[2]


class Nursery:
    """The interpreter, seen from the outside."""

    def __init__(self, *, with_shim: bool = False) -> None:
        paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
        if with_shim:
            environment["LD_PRELOAD"] = str(shim())
        command = [sys.executable, "-m", "soak.dying.nursery"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=TESTS)

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def begin(self, scenario: int, place: Path, first: int = 0, end: int | None = None, **hit: Any) -> int:
        """Start a child that takes the steps from `first` to before `end`; gives its process id."""
        assert self._process.stdin is not None
        order = {"scenario": scenario, "place": str(place), "first": first, "end": end, "hit": hit}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self.line())

    def line(self) -> str:
        """The next line that the child or its parent says."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery has died"
        return line.rstrip("\n")


def _serve() -> None:
    from soak.dying.scenarios import SCENARIOS

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _live(SCENARIOS[order["scenario"]].steps[order["first"] : order["end"]], Path(order["place"]), order["hit"])
        _, status = os.waitpid(child, 0)
        _say(f"end {os.waitstatus_to_exitcode(status)}")


def _live(steps: Any, place: Path, hit: dict[str, Any]) -> None:
    """What a child does; it never returns."""
    _say(os.getpid())
    counted = ctypes.CDLL(None)
    if hit:
        # All that can fail, and in an order that does not depend on threads.
        blizzarr.config.set(durability="full", threads=1)
        counted.shim_arm(
            os.fsencode(place.parent), hit["calls"].encode(), ctypes.c_long(hit["at"]), hit["do"].encode(), 0
        )
    for number, step in enumerate(steps):
        _say(f"begin {number}")
        try:
            step(place)
        except BaseException as error:
            text = "".join(traceback.format_exception(error))
            _say("raised " + json.dumps([type(error).__name__, str(error), text]))
            os._exit(1)
        _say(f"done {number}")
    if hit:
        counted.shim_count.restype = ctypes.c_long
        _say(f"calls {counted.shim_count()}")
    os._exit(0)


def _say(what: object) -> None:
    os.write(1, f"{what}\n".encode())


if __name__ == "__main__":
    _serve()
