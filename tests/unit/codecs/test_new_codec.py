"""The steps of CONTRIBUTING.md under which a codec is added, followed in a copy of the package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from textwrap import dedent

import blizzarr

ROOT = Path(blizzarr.__file__).parents[2]
STEPS = re.findall(
    r"^\d\. (.*?)(?=^\d\. |^\S|\Z)",
    (ROOT / "CONTRIBUTING.md").read_text().partition("## Add a codec")[2].partition("\n## ")[0],
    re.DOTALL | re.MULTILINE,
)
PROGRAM = """
import doctest
import numpy as np
import blizzarr
from blizzarr.codecs import XorCodec, xor

data = np.arange(100, dtype="uint8")
array = blizzarr.create_array("data.zarr", data=data, chunks=10, compressors=XorCodec(key=7))
assert open("data.zarr/c/1", "rb").read() == bytes(value ^ 7 for value in range(10, 20))
assert np.array_equal(blizzarr.open("data.zarr")[:], data)
assert blizzarr.open("data.zarr").compressors == (XorCodec(key=7),)
sharded = blizzarr.create_array("sharded.zarr", data=data, chunks=10, shards=50, compressors={"name": "xor"})
assert np.array_equal(sharded[:], data)
assert doctest.testmod(xor) == (0, 1)
"""


def blocks(step: str) -> list[str]:
    """The code of a step, without what Markdown indents."""
    return [
        re.sub(r"^   ", "", code, flags=re.MULTILINE) for code in re.findall(r"```python\n(.*?) *```", step, re.DOTALL)
    ]


def test_the_steps_suffice(tmp_path: Path) -> None:
    """At most six files change, and with those of Python alone, data of the codec are written and read."""
    assert len(STEPS) == 6
    files = [re.findall(r"`((?:python|rust|tests)/[\w/<>]+\.\w+)`", step) for step in STEPS]
    assert [len(paths) for paths in files] == [1] * 6
    assert all((ROOT / path.replace("<name>", "zstd")).is_file() for (path,) in files)

    package = tmp_path / "python" / "blizzarr"
    package.mkdir(parents=True)
    for part in (ROOT / "python" / "blizzarr").iterdir():
        if part.name != "codecs":
            (package / part.name).symlink_to(part)
    copytree(ROOT / "python/blizzarr/codecs", package / "codecs", ignore=lambda *_: ["__pycache__"])
    (module,), (name, row), (options,) = map(blocks, STEPS[:3])
    (tmp_path / files[0][0].replace("<name>", "xor")).write_text(module)
    catalogue = tmp_path / files[1][0]
    after_import = insert(catalogue.read_text(), "if TYPE_CHECKING:\n", name)
    catalogue.write_text(insert(after_import, '"blizzarr.codecs",\n    {\n', row))
    assert eval(f"{{{dedent(options)}}}") == {"xor": {"key": 7}}

    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def insert(text: str, line: str, addition: str) -> str:
    """The text with an addition after this line, which it has once."""
    before, found, behind = text.partition(line)
    assert found
    assert line not in behind
    return before + line + addition + behind
