"""Make the environments of the peers that cannot live in ours: `python tests/interop/environments.py [NAME ...]`.

=============  ===================================================================================================
zarr-python    a virtual environment of Python 3.12 or later with the newest zarr-python
zarrita        a folder with zarrita and what it needs, by npm
bench          a virtual environment of Python 3.12 or later with every implementation that `make bench` compares
=============  ===================================================================================================

They go to ``.envs/`` at the root of the repository. One that is there and up to date is left alone. A tool that is
missing (Python 3.12, npm) is a message and not an error: the tests of that peer are then skipped, and say so.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".envs"
NEWEST_FIRST = ("3.14", "3.13", "3.12")


def find_python() -> str | None:
    """Return an interpreter of Python 3.12 or later: this one, one on the path, or one of pyenv's."""
    for candidate in _candidates():
        probe = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))"
        if subprocess.run([candidate, "-c", probe], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def _candidates() -> Iterator[str]:
    yield sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    # 3.12 first: every peer has wheels for it.
    for version in reversed(NEWEST_FIRST):
        if found := shutil.which(f"python{version}"):
            yield found
        for folder in sorted(pyenv.glob(f"{version}*"), reverse=True):
            yield str(folder / "bin" / "python")


def make_virtual_environment(folder: Path, requirements: Path) -> str | None:
    """Make a virtual environment with what the file lists; return why not, or None."""
    python = find_python()
    if python is None:
        return "no Python 3.12 or later was found on the path or in pyenv"
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-r", str(requirements)], check=True)
    return None


def make_node_folder(folder: Path, requirements: Path) -> str | None:
    """Install what package.json lists; return why not, or None."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm was not found on the path"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(requirements, folder / "package.json")
    subprocess.run([npm, "install", "--silent", "--no-package-lock", "--no-audit", "--no-fund"], cwd=folder, check=True)
    return None


Maker = Callable[[Path, Path], str | None]
RECIPES: dict[str, tuple[Maker, Path]] = {
    "zarr-python": (make_virtual_environment, HERE / "peers-py312.txt"),
    "zarrita": (make_node_folder, HERE / "zarrita" / "package.json"),
    "bench": (make_virtual_environment, ROOT / "bench" / "requirements.txt"),
}


def make(name: str) -> None:
    """Make one environment, unless it was made from the same list before."""
    maker, requirements = RECIPES[name]
    folder = ENVIRONMENTS / name
    mark = folder / "made-from"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        print(f"{name}: up to date")
        return
    print(f"{name}: making {folder.relative_to(ROOT)}", flush=True)
    if problem := maker(folder, requirements):
        print(f"{name}: not made, its tests will be skipped: {problem}")
        return
    mark.write_text(wanted)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or ["zarr-python", "zarrita"]:
        make(wanted)
