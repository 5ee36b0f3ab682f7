"""The environment of a suite in ``.envs/downstream/``: a virtual environment, and the archive with the tests.

blizzarr itself comes from this checkout, through PYTHONPATH: its extension module works in every Python from 3.11 on.
So that others find its entry points, they are declared as those of an installed package.
"""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
from pathlib import Path

from downstream.suite import Suite
from interop.environments import ENVIRONMENTS, find_python

__all__ = ["FOLDER", "MissingError", "declared", "prepare"]

ROOT = ENVIRONMENTS.parent
FOLDER = ENVIRONMENTS / "downstream"
OURS = ["numpy>=2.0", "typer>=0.15.4", "rich>=13"]


class MissingError(Exception):
    """Something that a suite needs is not on this machine; the text says what."""


def prepare(suite: Suite) -> tuple[Path, Path]:
    """Return the interpreter of the suite and the top of its archive, both made unless they are there.

    Raises
    ------
    MissingError
        If there is no such Python on this machine.
    """
    folder = FOLDER / suite.environment
    interpreter = folder / "bin" / "python"
    wanted = "\n".join([f"{suite.package}=={suite.version}", *suite.extra, *suite.requires, *OURS])
    mark = folder / "made.txt"
    made = mark.read_text(encoding="utf-8").split("\n") if mark.exists() else []
    if not set(wanted.split("\n")) <= set(made):
        if not made:
            python = find_python((suite.python,))
            if python is None:
                raise MissingError(f"no Python {suite.python} was found on the path or in pyenv")
            subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        pip(interpreter, "install", *sorted({*wanted.split("\n"), *made}))
        mark.write_text("\n".join(sorted({*wanted.split("\n"), *made})), encoding="utf-8")
    return interpreter, _archive(suite, interpreter, folder)


def declared() -> Path:
    """Return a folder for PYTHONPATH, in which blizzarr is declared as an installed package with its entry points."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = FOLDER / "declared"
    facts = folder / "blizzarr-0.0.0.dist-info"
    facts.mkdir(parents=True, exist_ok=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: blizzarr\nVersion: 0.0.0\n", encoding="utf-8")
    lines = [
        line
        for group, entries in project.get("entry-points", {}).items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in entries.items()))
    ]
    (facts / "entry_points.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


def pip(interpreter: Path, *arguments: str) -> None:
    """Run pip."""
    subprocess.run([str(interpreter), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


def _archive(suite: Suite, interpreter: Path, folder: Path) -> Path:
    tops = folder / "source"
    if not tops.exists():
        fetched = folder / "archive"
        only = ["--no-binary", suite.package, "--no-deps"]
        pip(interpreter, "download", *only, "--dest", str(fetched), f"{suite.package}=={suite.version}")
        (archive,) = fetched.glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(tops, filter="data")
    (top,) = tops.iterdir()
    return top
