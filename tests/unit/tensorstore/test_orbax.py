"""Orbax, the library for checkpoints of JAX, saves and restores on blizzarr in place of TensorStore.

Orbax and JAX are large, and not among the packages of the tests. They are found beside blizzarr, or in an environment
of their own, `.envs/orbax`, which `make interop` makes and then runs this test with.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import blizzarr
from interop.environments import ENVIRONMENTS

PROGRAM = Path(__file__).parents[2] / "support" / "orbax_checkpoint.py"
PAGE = Path(__file__).parents[3] / "docs" / "jax.md"


@pytest.fixture
def python() -> str:
    """Return an interpreter that has Orbax."""
    own = ENVIRONMENTS / "orbax"
    if find_spec("orbax") is not None:
        return sys.executable
    if (own / "made-from").exists():
        return str(own / "bin/python")
    pytest.skip("needs orbax-checkpoint and jax: python tests/interop/environments.py orbax")


def run(command: list[str], folder: Path) -> str:
    env = {**os.environ, "PYTHONPATH": str(Path(blizzarr.__file__).parents[1])}
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_sharded_tree_is_saved_and_restored(python: str, tmp_path: Path) -> None:
    shown = run([python, str(PROGRAM), str(tmp_path / "checkpoint")], tmp_path)
    assert shown.splitlines()[-1] == "restored what was saved"


def test_a_tree_in_ocdbt_is_restored(python: str, tmp_path: Path) -> None:
    """The format that Orbax saves in unless it is told otherwise, written by TensorStore."""
    for step in ("save", "restore"):
        shown = run([python, str(PROGRAM), str(tmp_path / "checkpoint"), step], tmp_path)
        assert shown.splitlines()[-1] == "restored what was saved"


def test_the_page_about_jax(python: str, tmp_path: Path) -> None:
    """Its blocks put blizzarr in the place of TensorStore, so they run in a process of their own."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    run([python, "-c", "\n".join(blocks)], tmp_path)
