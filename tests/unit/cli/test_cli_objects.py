"""Arrays of text and of other objects on the command line and in notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs.objects import JsonCodec

TEXTS = [["a", "b,c", 'say "d"'], ["\N{SNOWMAN}\n", "", "\x1b[2J\0"]]


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``a.zarr`` with the arrays ``text``, ``bytes``, ``any`` and ``one``, in the current directory."""
    monkeypatch.chdir(tmp_path)
    root = blizzarr.create_group("a.zarr", zarr_format=2)
    root.create_array("text", data=TEXTS, chunks=(1, 2))
    root.create_array("bytes", data=[b"a", b"\xff"])
    elements = np.fromiter([[1, 2], None, {"k": "v"}], object, 3)
    root.create_array("any", data=elements, filters=JsonCodec())
    root.create_array("one", data="a\0")
    return tmp_path


def test_cat_as_text(run: Any, there: Path) -> None:
    """Lines and columns stay what they are, and what a terminal would obey is shown."""
    shown = [f"{text:>11}" for text in ("a", "b,c", 'say "d"', "\N{SNOWMAN}\\n", "", "\\x1b[2J\\x00")]
    lines = run("cat", "a.zarr/text").out.splitlines()
    assert lines == [" ".join(shown[:3]), " ".join(shown[3:])]
    assert run("cat", "a.zarr/text[:, ::2]").out.splitlines() == [" ".join(shown[:3:2]), " ".join(shown[3::2])]
    assert run("cat", "a.zarr/bytes").out == "a\n\\xff\n"
    assert run("cat", "a.zarr/any").out == '[1, 2]\nnull\n{"k": "v"}\n'
    assert run("cat", "a.zarr/one").out == "a\\x00\n"


def test_cat_as_csv(run: Any, there: Path) -> None:
    found = run("cat", "a.zarr/text", "--format", "csv").raw.decode()
    assert found == 'a,"b,c","say ""d"""\n"\N{SNOWMAN}\n",,\x1b[2J\0\n'


def test_cat_as_json(run: Any, there: Path) -> None:
    assert json.loads(run("cat", "a.zarr/text", "--format", "json").out) == TEXTS
    assert json.loads(run("cat", "a.zarr/text[1]", "--format", "json").out) == TEXTS[1]
    assert json.loads(run("cat", "a.zarr/any", "--format", "json").out) == [[1, 2], None, {"k": "v"}]
    assert json.loads(run("cat", "a.zarr/any[0]", "--format", "json").out) == [1, 2]
    assert json.loads(run("cat", "a.zarr/one", "--format", "json").out) == "a\0"
    assert json.loads(run("cat", "a.zarr/bytes", "--format", "json").out) == ["a", "\\xff"]


def test_cat_as_npy_is_refused(run: Any, there: Path) -> None:
    """NumPy's files would hold addresses; nothing is made."""
    found = run("cat", "a.zarr/text", "-o", "x.npy")
    assert found.code == 2
    assert "expected elements of a fixed size for npy, found string" in found.err
    assert not (there / "x.npy").exists()


def test_no_pictures(run: Any, there: Path) -> None:
    found = run("show", "a.zarr/text", "-o", "x.png")
    assert found.code == 1
    assert "expected numbers to make a picture of, found objects, such as text; blizzarr cat shows them" in found.err
    assert not (there / "x.png").exists()


def test_info(run: Any, there: Path) -> None:
    """Of what the elements take in memory nothing is said, as nobody knows."""
    said = run("info", "a.zarr/text").out
    assert "Data type    string" in said
    assert "Chunks       1 \N{MULTIPLICATION SIGN} 2 (4)" in said
    assert 'Fill value   ""' in said
    assert "Raw size" not in said
    assert "ratio" not in said
    document = json.loads(run("info", "a.zarr/text", "--json").out)
    assert (document["data_type"], document["fill_value"], document["raw_bytes"]) == ("string", "", None)
    info = blizzarr.open_array("a.zarr", path="text").info_complete()
    assert (info.bytes, info.chunks_stored) == (None, 4)
    assert "Serializer   : VlenUtf8Codec()" in repr(info)
    assert "Ratio" not in repr(info)


def test_html(there: Path) -> None:
    said = blizzarr.open_array("a.zarr", path="text")._repr_html_()
    assert "string" in said
    assert "vlen-utf8" in said
    assert "of the raw size is stored" not in said
    assert "text" in blizzarr.open_group("a.zarr")._repr_html_()


def test_create_and_copy(run: Any, there: Path) -> None:
    assert run("create", "b.zarr/new", "--shape", "4", "--dtype", "string", "--chunks", "2").code == 0
    assert blizzarr.open_array("b.zarr", path="new")[...].tolist() == [""] * 4
    assert run("copy", "a.zarr/text", "b.zarr/text", "--chunks", "2,3", "--codec", "gzip").code == 0
    assert blizzarr.open_array("b.zarr", path="text")[...].tolist() == TEXTS
