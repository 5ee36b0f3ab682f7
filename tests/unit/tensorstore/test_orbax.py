"""Orbax, the library for checkpoints of JAX, saves and restores on blizzarr in place of TensorStore.

Orbax and JAX are not among the packages of the tests; with them (and Python 3.12), these tests run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "support" / "orbax_checkpoint.py"


def test_a_sharded_tree_is_saved_and_restored(tmp_path: Path) -> None:
    pytest.importorskip("orbax.checkpoint", reason="needs orbax-checkpoint and jax")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path / "checkpoint")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "restored what was saved"
