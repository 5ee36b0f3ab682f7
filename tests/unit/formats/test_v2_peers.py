"""Documents of v2 that other implementations write mean the same to us, and ours to them; elements are for interop."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.dtypes import DataType
from blizzarr.formats.v2 import V2
from blizzarr.model import ArrayMeta, GroupMeta

zarr = pytest.importorskip("zarr", "3.1.3")
tensorstore = pytest.importorskip("tensorstore")
numcodecs = pytest.importorskip("numcodecs")

COMMON: dict[str, Any] = {"shape": (6, 4), "chunks": (2, 3), "dtype": "<i4", "fill_value": 0}
CASES: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "big-endian": {"dtype": ">i4", "fill_value": 258},
    "order F": {"order": "F"},
    "slashes": {"chunk_key_encoding": {"name": "v2", "separator": "/"}},
    "no compressor": {"compressors": None},
    "gzip": {"compressors": numcodecs.GZip(3)},
    "zlib": {"compressors": numcodecs.Zlib(3)},
    "zstd": {"compressors": numcodecs.Zstd(3)},
    "blosc": {"compressors": numcodecs.Blosc("zstd", 9, 2)},
    "delta": {"filters": [numcodecs.Delta("<i4")]},
    "NaN": {"dtype": "<f4", "fill_value": float("nan")},
    "minus infinity": {"dtype": ">f8", "fill_value": float("-inf")},
    "complex": {"dtype": "<c8", "fill_value": complex(1, float("nan"))},
    "bool": {"dtype": "|b1", "fill_value": True},
    "bytes": {"dtype": "|S3", "fill_value": b"abc"},
    "text": {"dtype": "<U3", "fill_value": "aé"},
    "moments": {"dtype": "<M8[10us]", "fill_value": np.datetime64(5, "10us")},
    "not-a-time": {"dtype": ">M8[s]", "fill_value": np.datetime64("NaT", "s")},
    "struct": {
        "dtype": np.dtype([("a", "<i4"), ("b", "<f8")]),
        "fill_value": np.void((1, 2.5), [("a", "<i4"), ("b", "<f8")]),
    },
    "no dimensions": {"shape": (), "chunks": ()},
    "no elements": {"shape": (0, 4)},
    "attributes": {"attributes": {"a": [1, None], "_ARRAY_DIMENSIONS": ["y", "x"]}},
    "strings": {"dtype": str, "fill_value": "x"},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_zarr_python(case: dict[str, Any], tmp_path: Path) -> None:
    """V-1: an array that zarr-python 3 makes is that array for us, and what we write is the same one for it."""
    options = {**COMMON, **case}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(tmp_path / "theirs", zarr_format=2, **options)
    meta = V2.decode("", documents(tmp_path / "theirs"))
    assert isinstance(meta, ArrayMeta)
    assert meta.shape == array.shape
    assert meta.write_shape == array.chunks
    assert meta.order == array.order
    assert meta.attributes == dict(array.attrs)
    assert meta.chunk_keys.separator == array.metadata.dimension_separator
    if options["dtype"] is str:
        assert (meta.dtype, meta.fill_value) == (DataType.parse("string"), "x")
    else:
        assert meta.dtype.numpy == np.dtype(options["dtype"]).newbyteorder("=")
        assert np.array([meta.fill_value], meta.dtype.numpy).tobytes() == fill_bytes(array.fill_value, meta)
    written = V2.encode(replace(meta, source=None), "")
    store(tmp_path / "ours", written)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = zarr.open_array(tmp_path / "ours", zarr_format=2, mode="r")
    assert again.metadata.to_dict() == array.metadata.to_dict()


def fill_bytes(value: Any, meta: ArrayMeta) -> bytes:
    return np.array([value]).astype(meta.dtype.numpy).tobytes()


def documents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.startswith(".z")}


def store(folder: Path, raw: dict[str, bytes]) -> None:
    for key, value in raw.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(value)


def test_zarr_python_groups(tmp_path: Path) -> None:
    """V-1: a hierarchy with consolidated metadata, there and back."""
    root = zarr.open_group(tmp_path / "theirs", zarr_format=2, mode="w", attributes={"title": "t"})
    root.create_array("g/x", shape=(4,), chunks=(2,), dtype="f4", fill_value=float("nan"), attributes={"a": 1})
    root.require_group("e/f")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(tmp_path / "theirs", zarr_format=2)
    group = V2.decode("", documents(tmp_path / "theirs"))
    assert isinstance(group, GroupMeta)
    assert group.attributes == {"title": "t"}
    assert group.consolidated is not None
    assert sorted(group.consolidated) == ["e", "e/f", "g", "g/x"]
    assert group.consolidated["g/x"].attributes == {"a": 1}
    anew = replace(
        group, source=None, consolidated={path: replace(node, source=None) for path, node in group.consolidated.items()}
    )
    store(tmp_path / "ours", V2.encode(anew, ""))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = zarr.open_consolidated(tmp_path / "ours", zarr_format=2)
    assert again.attrs["title"] == "t"
    assert again["g/x"].attrs["a"] == 1
    assert np.isnan(again["g/x"].fill_value)
    assert sorted(again.group_keys()) == ["e", "g"]


TENSORSTORE: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "big-endian": {"dtype": ">u2"},
    "order F, slashes": {"order": "F", "dimension_separator": "/"},
    "zstd": {"compressor": {"id": "zstd", "level": 3}},
    "zlib": {"compressor": {"id": "zlib", "level": 1}},
    "bz2": {"compressor": {"id": "bz2", "level": 1}},
    "no compressor": {"compressor": None},
    "minus infinity": {"dtype": "<f4", "fill_value": "-Infinity"},
    "complex": {"dtype": "<c8", "fill_value": [1.5, "-Infinity"]},
    "null": {"fill_value": None},
}


@pytest.mark.parametrize("case", TENSORSTORE.values(), ids=TENSORSTORE)
def test_tensorstore(case: dict[str, Any], tmp_path: Path) -> None:
    """V-1: an array that TensorStore makes is that array for us, and what we write is the same one for it."""
    blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    usual = {"shape": [6, 4], "chunks": [2, 3], "dtype": "<i4", "fill_value": 7, "compressor": blosc}
    metadata = {**usual, **case}
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": f"{tmp_path}/theirs"}}
    tensorstore.open({**spec, "metadata": metadata}, create=True).result()
    raw = documents(tmp_path / "theirs")
    document = json.loads(raw[".zarray"])
    assert {name: document[name] for name in metadata} == metadata
    meta = V2.decode("", raw)
    assert isinstance(meta, ArrayMeta)
    assert meta.shape == (6, 4)
    assert meta.write_shape == (2, 3)
    assert meta.order == document["order"]
    assert meta.chunk_keys.separator == document["dimension_separator"]
    assert meta.fill_undefined == (document["fill_value"] is None)
    written = V2.encode(replace(meta, source=None), "")
    assert json.loads(written[".zarray"]) == document
    store(tmp_path / "ours", written)
    theirs = tensorstore.open({**spec, "kvstore": {"driver": "file", "path": f"{tmp_path}/ours"}}).result()
    assert theirs.schema == tensorstore.open(spec).result().schema
