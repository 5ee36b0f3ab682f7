"""Every codec of imagecodecs-zarr, which is found by its entry point, crosses to zarr-python and back."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from interop.environments import ENVIRONMENTS, HERE, ROOT

PYTHON = ENVIRONMENTS / "imagecodecs" / "bin" / "python"
AT_LEAST = 60
"""The codecs that zarr-python can write with their default options; 66 of 81 in the package for Linux."""


def test_every_codec_of_imagecodecs() -> None:
    """What zarr-python writes is read, it reads what is written, and the bytes of the chunks are the same."""
    if not PYTHON.exists():
        pytest.skip("the environment imagecodecs is not there: make interop")
    program = HERE / "imagecodecs" / "every_codec.py"
    # Another test in this process may have set our pipeline, which no entry point names there.
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("ZARR_")}
    environment = {**theirs, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([str(PYTHON), str(program)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = {name: result for name, result in json.loads(done.stdout).items() if result is not None}
    same = {"reads": True, "is read": True, "same bytes": True}
    assert {name: result for name, result in results.items() if result != same} == {}
    assert len(results) >= AT_LEAST
