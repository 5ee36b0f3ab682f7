"""Orbax, the library for checkpoints of JAX, saves and restores on blizzarr in place of TensorStore.

Orbax and JAX are large, and not among the packages of the tests. They are found beside blizzarr, or in an environment
of their own, `.envs/orbax`, which `make interop` makes and then runs this test with.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import blizzarr
from interop.environments import ENVIRONMENTS

PROGRAM = Path(__file__).parents[2] / "support" / "orbax_checkpoint.py"


def test_a_sharded_tree_is_saved_and_restored(tmp_path: Path) -> None:
    own = ENVIRONMENTS / "orbax"
    if find_spec("orbax") is not None:
        python = sys.executable
    elif (own / "made-from").exists():
        python = str(own / "bin/python")
    else:
        pytest.skip("needs orbax-checkpoint and jax: python tests/interop/environments.py orbax")
    done = subprocess.run(
        [python, str(PROGRAM), str(tmp_path / "checkpoint")],
        env={**os.environ, "PYTHONPATH": str(Path(blizzarr.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "restored what was saved"
