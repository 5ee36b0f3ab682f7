"""Arrays of N5 through NumPy's interface: made, changed, copied from and into every format, and checked."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore as ts

import blizzarr
from blizzarr.errors import MetadataError, NodeExistsError, NodeTypeError

DATA = np.arange(1, 36, dtype="uint16").reshape(5, 7)
FORMATS = ["v3", "v2", "v3_draft", "v3_draft_zarr_python", "v1"]
COMPRESSORS: list[Any] = [None, "gzip", "zlib", "bz2", "lzma", {"id": "lzma", "preset": 0}, "zstd", "blosc"]


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=str)
def test_what_is_made_is_what_tensorstore_reads(compressor: Any, tmp_path: Path) -> None:
    """Each compressor that N5 has, in blocks that stick out."""
    made = blizzarr.create_array(
        tmp_path / "a", data=DATA, chunks=(2, 3), compressors=compressor, dimension_names=["y", None], zarr_format="n5"
    )
    assert (made.metadata.format, made.order, made.chunks) == ("n5", "F", (2, 3))
    judged = ts.open({"driver": "n5", "kvstore": f"file://{tmp_path}/a/"}).result()
    assert judged.domain.labels == ("y", "")
    assert np.array_equal(judged.read().result(), DATA)
    again = blizzarr.open_array(tmp_path / "a", zarr_format="n5", mode="r")
    assert np.array_equal(again[::-2, 1:], DATA[::-2, 1:])
    assert again.metadata.dimension_names == ("y", None)


def test_changing(tmp_path: Path) -> None:
    """Shape and attributes change in the document, whose other members stay as they are."""
    text = '{"dataType":"int8","title":"a","compression":{"type":"gzip","level":-1},"blockSize":[4],"dimensions":[6]}'
    (tmp_path / "attributes.json").write_text(text)
    array = blizzarr.open(tmp_path)
    array[:] = [1, 2, 3, 4, 5, 6]
    assert (tmp_path / "attributes.json").read_text() == text
    array.append(np.array([7, 8, 9], "int8"))
    array.attrs["title"] = "b"
    array.attrs["n"] = 1.0
    changed = json.loads((tmp_path / "attributes.json").read_text())
    assert changed == {**json.loads(text), "dimensions": [9], "title": "b", "n": 1.0}
    assert list(changed) == [*json.loads(text), "n"]
    assert ts.open(f"file://{tmp_path}|n5:").result().read().result().tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    for name in ("dimensions", "compression"):
        with pytest.raises(MetadataError, match=f"attributes.{name}: expected no attribute of this name"):
            array.attrs[name] = 5


@pytest.mark.parametrize("new", FORMATS)
def test_copies_into_zarr(new: str, tmp_path: Path) -> None:
    """Elements, chunks, attributes and compressor arrive."""
    source = blizzarr.create_array(
        tmp_path / "a", data=DATA, chunks=(2, 3), compressors="zlib", attributes={"title": "b"}, zarr_format="n5"
    )
    # v1 has the first axis fastest with Blosc only.
    made = blizzarr.copy(source, {}, zarr_format=new, **({"compressors": "blosc"} if new == "v1" else {}))
    assert (made.metadata.format, made.chunks, made.attrs.asdict()) == (new, (2, 3), {"title": "b"})
    assert np.array_equal(made[:], DATA)
    if new != "v1":
        assert [codec.name for codec in made.metadata.codecs.all] == ["transpose", "bytes", "numcodecs.zlib"]


@pytest.mark.parametrize("old", FORMATS)
def test_copies_from_zarr(old: str, tmp_path: Path) -> None:
    """And the other way round, in other blocks too."""
    source: dict[str, Any] = {}
    blizzarr.create_array(source, data=DATA, chunks=(2, 3), compressors={"id": "zlib", "level": 3}, zarr_format=old)
    for options in ({}, {"chunks": (4, 4)}, {"compressors": "zstd"}, {"dtype": "float64"}):
        made = blizzarr.copy(source, tmp_path / "n5", overwrite=True, zarr_format="n5", **options)
        assert np.array_equal(made[:], DATA)
        assert np.array_equal(ts.open(f"file://{tmp_path}/n5|n5:").result().read().result(), DATA)
    again = blizzarr.copy(tmp_path / "n5", tmp_path / "other", chunks=(5, 5))
    assert (again.metadata.format, again.chunks) == ("n5", (5, 5))


def test_what_n5_cannot_say(tmp_path: Path) -> None:
    """Is named before anything is stored."""
    for options, said in (
        ({"dtype": "bool"}, "data_type: expected one of uint8"),
        ({"fill_value": 1}, "fill_value: expected zero"),
        ({"compressors": ["gzip", "crc32c"]}, "codecs: expected"),
        ({"compressors": "crc32c"}, "compression: expected a compression that N5 has"),
        ({"shards": (4, 4)}, "codecs: expected"),
        ({"filters": {"id": "delta", "dtype": "<i2"}}, "codecs: expected"),
        ({"attributes": {"blockSize": 1}}, "attributes.blockSize: expected no attribute"),
        ({"chunks": (1 << 16, 1 << 16), "shape": (1, 1)}, "2\\^31 bytes"),
    ):
        given: dict[str, Any] = {"shape": (4, 4), "dtype": "int16", "chunks": (2, 2), **options}
        with pytest.raises(MetadataError, match=said):
            blizzarr.create_array(tmp_path / "a", zarr_format="n5", **given)
    with pytest.raises(MetadataError, match="which make an array"):
        blizzarr.create_group(tmp_path / "a", attributes={"dimensions": [], "dataType": 1}, zarr_format="n5")
    with pytest.raises(MetadataError, match=r"attributes\.n5: expected no attribute"):
        blizzarr.create_group(tmp_path / "a", attributes={"n5": "1"}, zarr_format="n5")
    assert not (tmp_path / "a").exists()


def test_beside_zarr(tmp_path: Path) -> None:
    """Nothing of Zarr is put below a dataset or in its place; a document of Zarr counts, and is not warned of."""
    blizzarr.create_array(tmp_path / "a", data=DATA, zarr_format="n5")
    with pytest.raises(NodeTypeError, match="expected a group, found an array"):
        blizzarr.create_array(tmp_path, name="a/b", data=DATA)
    with pytest.raises(NodeExistsError, match=r"attributes.json"):
        blizzarr.create_array(tmp_path / "a", data=DATA)
    with pytest.raises(MetadataError, match="blocks of N5"):
        blizzarr.upgrade(tmp_path / "a")
    blizzarr.create_array(tmp_path / "c", data=DATA)
    (tmp_path / "c" / "attributes.json").write_bytes((tmp_path / "a" / "attributes.json").read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert blizzarr.open(tmp_path / "c").metadata.format == "v3"
    assert blizzarr.create_array(tmp_path / "a", data=DATA, overwrite=True).metadata.format == "v3"
    assert not (tmp_path / "a" / "attributes.json").exists()


def test_checking(tmp_path: Path) -> None:
    """A damaged block is found; the others are not."""
    blizzarr.create_array(tmp_path, data=DATA, chunks=(2, 3), compressors="zstd", zarr_format="n5")
    assert not blizzarr.check(tmp_path).findings
    block = tmp_path / "1" / "2"
    block.write_bytes(block.read_bytes()[:-1])
    assert [finding.key for finding in blizzarr.check(tmp_path).findings] == ["1/2"]
