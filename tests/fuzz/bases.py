"""Hierarchies that are right, before they are damaged: of each format, with what its documents can say."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from typing import Any

import numpy as np

import blizzarr

__all__ = ["bases", "zipped"]

DATA = np.arange(24, dtype="int32").reshape(4, 6)
WORDS = np.array(["", "a", "bc", "é"] * 6, dtype=object).reshape(4, 6)
RECORDS = np.zeros(4, dtype=[("x", "<i2"), ("y", ">f8"), ("z", "U2")])
MOMENTS = np.arange(4).astype("M8[s]")
BLOSC = {"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 2, "blocksize": 0}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}


def _v3(store: Any, zarr_format: Any = "v3") -> None:
    group = blizzarr.create_group(store, attributes={"a": [1, {"b": None}], "big": 2**70}, zarr_format=zarr_format)
    group.create_array("plain", data=DATA, chunks=(2, 3), codecs=[BYTES, GZIP], dimension_names=["y", None])
    index = [BYTES, {"name": "crc32c"}]
    options = {"chunk_shape": [2, 3], "codecs": [BYTES, {"name": "crc32c"}], "index_codecs": index}
    sharding = {"name": "sharding_indexed", "configuration": {**options, "index_location": "start"}}
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    inner = {"name": "sharding_indexed", "configuration": {**options, "chunk_shape": [3, 2], "index_location": "end"}}
    group.create_array("shard", data=DATA, chunks=(4, 6), codecs=[sharding])
    group.create_array(
        "turned", data=DATA.astype("f2"), chunks=(4, 6), codecs=[transpose, inner, GZIP], fill_value="NaN"
    )
    group.create_array("words", data=WORDS, dtype="string", chunks=(2, 6))
    group.create_array("records", data=RECORDS)
    group.create_array("moments", data=MOMENTS, chunk_key_encoding="v2")
    group.create_array(
        "bool",
        data=DATA % 2 == 0,
        chunks=(3, 4),
        compressors={"name": "zstd", "configuration": {"level": 1, "checksum": True}},
    )
    group.create_group("in/ner", attributes={"x": 1})


def _v2(store: Any) -> None:
    group = blizzarr.create_group(store, attributes={"a": [1, {"b": None}]}, zarr_format=2)
    group.create_array("plain", data=DATA, chunks=(2, 3), compressors={"id": "zlib", "level": 1}, fill_value=None)
    group.create_array(
        "delta", data=DATA, filters=[{"id": "delta", "dtype": "<i4", "astype": "<i2"}], compressors=BLOSC
    )
    group.create_array("f", data=DATA.astype(">f4"), order="F", chunk_key_encoding={"name": "v2", "separator": "/"})
    group.create_array("words", data=WORDS, filters=[{"id": "vlen-utf8"}], compressors={"id": "lz4", "acceleration": 1})
    group.create_array("json", data=WORDS, filters=[{"id": "json2"}], compressors=None)
    group.create_array("records", data=RECORDS, compressors={"id": "bz2", "level": 1})
    packed = [{"id": "packbits"}, {"id": "crc32"}]
    group.create_array("bits", data=DATA % 2 == 0, filters=packed, compressors=None)
    group.create_array("moments", data=MOMENTS, fill_value="NaT", compressors=None)
    group.create_group("in/ner")


def _v1(store: Any) -> None:
    blizzarr.create_array(store, data=DATA, chunks=(2, 3), compressors=BLOSC, attributes={"a": 1}, zarr_format="v1")


def _n5(store: Any) -> None:
    names = {"dimension_names": ["y", "x"], "attributes": {"units": ["nm", "s"], "resolution": [4, 0.5]}}
    blizzarr.create_array(store, data=DATA, chunks=(2, 4), compressors="gzip", zarr_format="n5", **names)


def _draft(store: Any, zarr_format: str) -> None:
    group = blizzarr.create_group(store, attributes={"a": 1}, zarr_format=zarr_format)
    group.create_array("plain", data=DATA, chunks=(2, 3), compressors={"id": "gzip", "level": 1})
    group.create_array("in/blosc", data=DATA.astype("<f8"), compressors=BLOSC)
    group.create_group("empty")


def _made(make: Any, *, consolidated: bool = False) -> dict[str, bytes]:
    store: dict[str, Any] = {}
    make(store)
    if consolidated:
        blizzarr.consolidate_metadata(store)
    return {key: bytes(value) for key, value in store.items()}


@cache
def bases() -> dict[str, dict[str, bytes]]:
    """Keys and values, by a name for them."""
    return {
        "v3": _made(_v3),
        "v3 consolidated": _made(_v3, consolidated=True),
        "v2": _made(_v2),
        "v2 consolidated": _made(_v2, consolidated=True),
        "v1": _made(_v1),
        "n5": _made(_n5),
        "draft": _made(lambda store: _draft(store, "v3_draft")),
        "draft of zarr-python": _made(lambda store: _draft(store, "v3_draft_zarr_python")),
    }


@cache
def zipped(name: str) -> bytes:
    """The same in a zip file, with entries stored and compressed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, (key, value) in enumerate(bases()[name].items()):
            how = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(key), value, how)
    return file.getvalue()
