"""Ctrl-C at any moment: at most one line, the status 130, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import blizzarr

MOMENTS = {
    "importing NumPy": ("import", "numpy.lib"),
    "importing the package": ("import", "blizzarr.group"),
    "importing the command line": ("import", "blizzarr.cli.app"),
    "importing typer": ("import", "typer.main"),
    "importing what a verb needs": ("import", "blizzarr.comparing.elements"),
    "reading": ("call", ""),
    "a finalizer": ("finalizer", ""),
    "the end": ("end", ""),
}

CHILD = """
import atexit, gc, importlib.abc, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
kind, name, *sys.argv = sys.argv[1:]

def interrupt(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, module, path, target=None):
        if module == name:
            interrupt()

class Finalized:
    def __del__(self):
        interrupt()

if kind == "import":
    sys.meta_path.insert(0, Finder())
if kind == "end":
    atexit.register(interrupt)
from blizzarr.cli import main
if kind == "call":
    from blizzarr.array import Array
    Array.__getitem__ = interrupt
if kind == "finalizer":
    from blizzarr.array import Array
    plain = Array.__getitem__
    Array.__getitem__ = lambda self, key: (Finalized(), plain(self, key))[1]
main()
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        blizzarr.create_array(tmp_path / name, data=np.arange(6), chunks=4 if name == "a" else 3)
    return tmp_path


def interrupted(moment: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    kind, name = MOMENTS[moment]
    command = [sys.executable, "-c", CHILD, kind, name, "/usr/bin/blizzarr", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupted_comparison(data: Path, moment: str) -> None:
    done = interrupted(moment, "diff", data / "a", data / "b")
    assert (done.returncode, done.stderr) == (130, "")


def test_the_package_run_as_a_command(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = CHILD.partition("from blizzarr")[0].replace("kind, name, *sys.argv = sys.argv[1:]", "kind, name = MOMENT")
    (data / "sitecustomize.py").write_text(start.replace("MOMENT", str(MOMENTS["importing NumPy"])))
    monkeypatch.setenv("PYTHONPATH", str(data), prepend=os.pathsep)
    command = [sys.executable, "-m", "blizzarr", "diff", data / "a", data / "b"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["copy", "c"],
        ["rm"],
        *(
            pytest.param([verb], marks=pytest.mark.thorough)
            for verb in ("check", "show", "cat", "ls", "tree", "info", "upgrade", "create")
        ),
    ],
    ids=lambda arguments: arguments[0],
)
def test_other_verbs_at_their_start_and_end(data: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data)  # where pictures go
    verb, *more = arguments
    for moment in ("importing the command line", "the end"):
        done = interrupted(moment, verb, data / "a", *(data / name for name in more))
        assert done.returncode == 130
        assert "Traceback" not in done.stderr
        assert "lost" not in done.stderr


def test_a_program_that_only_imports_the_library_keeps_its_handler() -> None:
    program = "import signal, blizzarr; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run(
        [sys.executable, "-c", f"import signal; signal.signal(2, signal.default_int_handler); {program}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "True\n"
