"""The template of a package with a codec and a data type is installed, and passes its tests."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import copytree

import pytest

import blizzarr

ROOT = Path(blizzarr.__file__).parents[2]


def test_the_template_works_as_it_is(tmp_path: Path) -> None:
    """Its entry points are all that blizzarr needs to know of it."""
    try:
        recent = int(version("setuptools").partition(".")[0]) >= 77
    except PackageNotFoundError:
        recent = False
    if not recent:
        pytest.skip("needs setuptools 77, with which the package is built")
    package, installed = tmp_path / "package", tmp_path / "installed"
    copytree(ROOT / "examples" / "codec-package", package)
    flags = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *flags, "--target", installed, package], check=True)
    path = os.pathsep.join([str(installed), str(ROOT / "python")])
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--noconftest", "tests"]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(run, cwd=package, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
