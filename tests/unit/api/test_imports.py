"""Importing blizzarr loads what opening an array needs; the rest comes when it is asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

import blizzarr
from blizzarr import codecs, stores
from blizzarr.codecs import numcodecs, objects
from blizzarr.lazy_imports import lazy_names

RARE = (
    "blizzarr.array.info",
    "blizzarr.checking",
    "blizzarr.cli",
    "blizzarr.codecs.blosc",
    "blizzarr.codecs.configs",
    "blizzarr.codecs.n5",
    "blizzarr.codecs.numcodecs.compressors",
    "blizzarr.codecs.numcodecs.filters",
    "blizzarr.codecs.numcodecs.run",
    "blizzarr.codecs.objects.nested",
    "blizzarr.codecs.objects.vlen",
    "blizzarr.comparing",
    "blizzarr.copying",
    "blizzarr.display",
    "blizzarr.formats.draft.array",
    "blizzarr.formats.n5_array",
    "blizzarr.formats.v1_array",
    "blizzarr.formats.v2_array",
    "blizzarr.formats.v3_transitional",
    "blizzarr.futures",
    "blizzarr.group_tree",
    "blizzarr.neuroglancer",
    "blizzarr.recording",
    "blizzarr.spec",
    "blizzarr.stores.zip",
    "blizzarr.tensorstore",
    "blizzarr.testing",
    "blizzarr.transactions",
    "blizzarr.transformers",
    "blizzarr.upgrading",
    "blizzarr.views",
    "asyncio",
    "concurrent.futures",
    "difflib",
    "gzip",
    "hashlib",
    "logging",
    "numcodecs",
    "pathlib",
    "rich",
    "secrets",
    "tensorstore",
    "typer",
    "urllib.parse",
    "uuid",
)


RARE_IN_THE_FACE = (
    "blizzarr.checking",
    "blizzarr.cli",
    "blizzarr.comparing",
    "blizzarr.copying",
    "blizzarr.formats.draft.array",
    "blizzarr.formats.n5_array",
    "blizzarr.formats.v2_array",
    "blizzarr.neuroglancer",
    "blizzarr.stores.zip",
    "asyncio",
    "concurrent.futures",
    "difflib",
    "hashlib",
    "pathlib",
    "tensorstore",
    "urllib.parse",
    "zipfile",
)


def modules_after(program: str, *arguments: str) -> set[str]:
    """The modules that a new interpreter has imported once the program has run."""
    # Without what is installed beside: a file of another package may import anything when the interpreter starts.
    tell = "import sys; before = set(sys.modules); " + program + "; import json; print(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", tell, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout)) - modules_of_numpy()


@cache
def modules_of_numpy() -> set[str]:
    """Those that NumPy imports anyway, which differ from release to release."""
    tell = "import numpy, sys, json; print(json.dumps([*sys.modules]))"
    return set(json.loads(subprocess.run([sys.executable, "-c", tell], capture_output=True, check=True).stdout))


def below(names: set[str], packages: tuple[str, ...]) -> set[str]:
    """The names that are one of the packages, or in one."""
    return {name for name in names for package in packages if name == package or name.startswith(f"{package}.")}


def test_importing() -> None:
    """Nothing rare is imported with the package."""
    assert below(modules_after("import blizzarr"), RARE) == set()


@pytest.mark.parametrize("action", ["array[0]", "array[0] = 1"], ids=["read", "write"])
def test_the_first_call(action: str, tmp_path: Path) -> None:
    """Nor is it when the first array is opened and read or written: the cost was not only moved."""
    blizzarr.create_array(tmp_path / "data", data=[1, 2, 3, 4], chunks=2, compressors="zstd")
    made = modules_after(f"import blizzarr; array = blizzarr.open(sys.argv[1]); {action}", str(tmp_path / "data"))
    assert below(made, RARE) == set()


def test_the_first_new_array() -> None:
    """Nothing is imported that tells versions of packages, or whether elements are masked."""
    made = modules_after("import blizzarr; blizzarr.create_array({}, shape=4, dtype='int8')[:2] = [1, 2]")
    assert below(made, ("importlib.metadata", "numpy.ma")) == set()


def test_no_module_takes_the_place_of_a_public_name() -> None:
    """Importing a module sets its name in the package: what users call there stays when all are imported."""
    tell = """
    import importlib, pkgutil
    import blizzarr
    before = {name: getattr(blizzarr, name) for name in blizzarr.__all__}
    for module in pkgutil.walk_packages(blizzarr.__path__, "blizzarr."):
        if not module.name.startswith("blizzarr.testing") and "__main__" not in module.name:
            importlib.import_module(module.name)
    print([name for name in before if getattr(blizzarr, name) is not before[name]])
    """
    told = subprocess.run([sys.executable, "-c", dedent(tell)], capture_output=True, text=True, check=True).stdout
    assert told == "[]\n"


@pytest.mark.parametrize("opens", [False, True], ids=["import", "open"])
def test_the_face(opens: bool, tmp_path: Path) -> None:
    """TensorStore's face loads more, but nothing rare either, though an array is opened and read."""
    blizzarr.create_array(tmp_path / "data", data=[1, 2, 3, 4], chunks=2, compressors="zstd")
    program = "import blizzarr.tensorstore as ts"
    if opens:
        program += (
            "; ts.open({'driver': 'zarr3', 'kvstore': 'file://' + sys.argv[1] + '/'}).result()[0].read().result()"
        )
    assert below(modules_after(program, str(tmp_path / "data")), RARE_IN_THE_FACE) == set()


def test_zarr_needs_no_volumes(tmp_path: Path) -> None:
    """Nothing of Neuroglancer is imported for an array of Zarr, also where its format is detected."""
    blizzarr.create_array(tmp_path / "data", data=[1, 2, 3, 4])
    program = (
        "import blizzarr, blizzarr.tensorstore as ts; blizzarr.open(sys.argv[1], mode='r+').resize(5); "
        "ts.open('file://' + sys.argv[1] + '/').result()[0].read().result()"
    )
    loaded = modules_after(program, str(tmp_path / "data"))
    assert below(loaded, ("blizzarr.neuroglancer", "importlib.metadata")) == set()


@pytest.mark.parametrize("package", [codecs, numcodecs, objects, stores], ids=lambda package: package.__name__)
def test_names_of_packages(package: object) -> None:
    """Every name that a package promises is there, shows, and no other is."""
    promised = set(getattr(package, "__all__", dir(package)))
    for name in promised:
        assert hasattr(package, name)
    assert promised <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = package.Nothing  # type: ignore[attr-defined]


def test_a_name_that_is_nowhere() -> None:
    """A place with nothing in it is an error that names it."""
    get, names = lazy_names("blizzarr.codecs", ["blizzarr.codecs.zstd:NoCodec"])
    assert "NoCodec" in names()
    with pytest.raises(AttributeError, match="NoCodec"):
        get("NoCodec")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_another_thread_imports(tmp_path: Path) -> None:
    """The child has no thread that would ever be done with the module."""
    (tmp_path / "begun.py").write_text("import time\nimport blizzarr\nblizzarr.begun.set()\ntime.sleep(0.3)\n")
    tell = """
    import os, signal, sys, threading
    import blizzarr
    blizzarr.__path__.append(sys.argv[1])
    blizzarr.begun = threading.Event()
    thread = threading.Thread(target=lambda: __import__("blizzarr.begun"))
    begun = blizzarr.begun
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)
        import blizzarr.begun
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    thread.join()
    """
    command = [sys.executable, "-W", "ignore", "-c", dedent(tell), str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"


def test_dir_lists_what_is_public() -> None:
    """What completion offers: no modules of the inside, and what `import *` leaves out as it needs zarr-python."""
    assert [name for name in dir(blizzarr) if not name.startswith("__")] == sorted(
        ["ZarrPipeline", *(name for name in blizzarr.__all__ if not name.startswith("__"))]
    )
