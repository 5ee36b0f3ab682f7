"""C-26: documents of the year before Zarr v3 was final, each read with a warning and saved as Zarr v3 has it now."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.config import config
from blizzarr.errors import MetadataError, UnknownExtensionError
from blizzarr.formats.v3 import V3
from blizzarr.model import ArrayMeta
from blizzarr.problems import Notice
from blizzarr.stores import MemoryStore

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
ARRAY: dict[str, Any] = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [8],
    "data_type": "float32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0,
    "codecs": [BYTES],
    "attributes": {"a": 1},
}


def sharded(**configuration: Any) -> list[dict[str, Any]]:
    return [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], **configuration}}]


def read(document: dict[str, Any], warns: str) -> ArrayMeta:
    notices: list[Notice] = []
    meta = V3.decode("a", {"a/zarr.json": json.dumps(document).encode()}, notices)
    said = [notice.text for notice in notices if notice.kind == "old-document"]
    assert [text.partition(" When it is saved")[0] for text in said] == [
        f"a document of the year before Zarr v3 was final: {warns}."
    ]
    assert isinstance(meta, ArrayMeta)
    return meta


def saved(meta: ArrayMeta) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(V3.encode(meta, "a")["a/zarr.json"])
    return document


SHARDS = "shards that do not say how their index is stored, taken for checked ones (since May 2023)"
CHECKED = [BYTES, {"name": "crc32c"}]
BLOSC = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}


@pytest.mark.parametrize(
    ("changed", "warns", "becomes"),
    [
        ({"codecs": []}, "no codec that makes bytes of arrays", {"codecs": [BYTES]}),
        ({"codecs": [GZIP]}, "no codec that makes bytes of arrays", {"codecs": [BYTES, GZIP]}),
        (
            {"codecs": [{"name": "transpose", "configuration": {"order": "F"}}, "crc32c"]},
            "no codec that makes bytes of arrays",
            {"codecs": [{"name": "transpose", "configuration": {"order": [0]}}, BYTES, {"name": "crc32c"}]},
        ),
        (
            {"codecs": [{"type": "endian", "configuration": {"endian": "big"}}]},
            '"type" for "name"',
            {"codecs": [{"name": "endian", "configuration": {"endian": "big"}}]},
        ),
        (
            {"codecs": sharded(codecs=[BYTES])},
            SHARDS,
            {"codecs": sharded(codecs=[BYTES], index_codecs=CHECKED)},
        ),
        (
            {
                "codecs": sharded(
                    codecs=[GZIP], index_codecs=[{"name": "endian", "configuration": {"endian": "little"}}]
                )
            },
            "no codec that makes bytes of arrays",
            {
                "codecs": sharded(
                    codecs=[BYTES, GZIP], index_codecs=[{"name": "endian", "configuration": {"endian": "little"}}]
                )
            },
        ),
        (
            {"codecs": sharded()},
            f"no codecs; no codec that makes bytes of arrays; {SHARDS}",
            {"codecs": sharded(codecs=[BYTES], index_codecs=CHECKED)},
        ),
        (
            {"codecs": [BYTES, {"name": "blosc", "configuration": {**BLOSC, "shuffle": 2}}]},
            "a number for the shuffle of Blosc; no typesize of Blosc",
            {"codecs": [BYTES, {"name": "blosc", "configuration": {**BLOSC, "shuffle": "bitshuffle", "typesize": 4}}]},
        ),
        (
            {"codecs": [BYTES, {"name": "blosc", "configuration": {**BLOSC, "shuffle": -1, "typesize": 4}}]},
            "a number for the shuffle of Blosc",
            {"codecs": [BYTES, {"name": "blosc", "configuration": {**BLOSC, "typesize": 4}}]},
        ),
        ({"extensions": []}, "no extensions", {}),
        (
            {"chunk_grid": {"type": "regular", "configuration": {"chunk_shape": [4]}}},
            '"type" for "name"',
            {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}}},
        ),
        ({"fill_value": "inf"}, 'the fill value "inf"', {"fill_value": "0x7f800000"}),
        ({"fill_value": "-nan(0x1)"}, 'the fill value "-nan(0x1)"', {"fill_value": "0xffc00000"}),
        (
            {"data_type": "complex64", "fill_value": ["nan", 1]},
            'the fill value ["nan", 1]',
            {"data_type": "complex64", "fill_value": ["0x7fc00000", 1]},
        ),
        (
            {"data_type": "int16", "fill_value": "0xfffe"},
            "a fill value in digits",
            {"data_type": "int16", "fill_value": -2},
        ),
        (
            {
                "data_type": {
                    "name": "numpy.datetime64",
                    "configuration": {"unit": "s", "scale_factor": 1},
                    "fallback": 1,
                }
            },
            "a fallback data type",
            {"data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}},
        ),
    ],
)
def test_what_it_is_read_as(changed: dict[str, Any], warns: str, becomes: dict[str, Any]) -> None:
    """C-24 C-26 T-9: one member at a time; it is saved in terms of the final specification, with all else as it was."""
    meta = read({**ARRAY, **changed}, warns)
    kept = {name: value for name, value in ARRAY.items() if name not in changed}
    assert saved(meta) == {**kept, **becomes}
    assert V3.decode("a", V3.encode(meta, "a")) == meta


def test_no_codecs() -> None:
    """C-26: an absent list is an empty one."""
    document = {name: value for name, value in ARRAY.items() if name != "codecs"}
    meta = read(document, "no codecs; no codec that makes bytes of arrays")
    assert meta.codecs.steps(meta.dtype, (4,)) == [("bytes", 0)]


def test_the_separator_was_in_the_grid() -> None:
    """C-26: as of 13 February 2023; the keys are those of the default encoding."""
    document = {name: value for name, value in ARRAY.items() if name != "chunk_key_encoding"}
    document["chunk_grid"] = {"type": "regular", "configuration": {"chunk_shape": [4], "separator": "."}}
    meta = read(document, '"type" for "name"; the separator of chunk keys in chunk_grid')
    assert meta.chunk_keys.key((3,)) == "c.3"


def test_fallback_data_types() -> None:
    """C-26 D-62 D-64: the example of March 2023, whose fill value only the unknown type could read."""
    document = {
        **ARRAY,
        "data_type": {"name": "datetime", "configuration": {"unit": "ns"}, "fallback": ["int128", "int64"]},
        "codecs": [{"name": "gzip", "configuration": {"level": 1}}],
        "fill_value": None,
    }
    meta = read(document, "a fallback data type; no codec that makes bytes of arrays")
    assert (meta.dtype.name, int(meta.fill_value), meta.fill_undefined) == ("int64", 0, True)  # type: ignore[call-overload]
    memory = MemoryStore()
    memory.set("zarr.json", json.dumps(document).encode())
    warned = pytest.warns(UserWarning, match='the data type "datetime" is not known here: .* fallback "int64"')
    with warned, pytest.warns(UserWarning, match="final"):
        blizzarr.open(memory)
    with config.set(use_fallback_data_types=False), pytest.raises(MetadataError, match="data_type"):
        V3.decode("a", {"a/zarr.json": json.dumps(document).encode()})


@pytest.mark.parametrize(
    "changed",
    [
        {"codecs": ["squash"]},
        {"codecs": {}},
        {"codecs": [1]},
        {"fill_value": "nan(0x0)"},
        {"fill_value": "inf(0x1)"},
        {"fill_value": "nan(0xffffffff)"},
        {"fill_value": "0xfff"},
        {"extensions": [{}]},
        {"data_type": {"name": "decimal", "fallback": "int128"}},
        {"chunk_grid": {"type": "irregular"}},
        {"codecs": [], "shape": [-1]},
    ],
)
def test_what_was_never_right(changed: dict[str, Any]) -> None:
    """C-26: other documents are refused as ever, with what is wrong with them as they are."""
    with pytest.raises(MetadataError) as caught:
        V3.decode("a", {"a/zarr.json": json.dumps({**ARRAY, **changed}).encode()})
    named = {problem.path.split(".")[0].split("[")[0] for problem in caught.value.problems}
    assert named >= changed.keys() - {"shape"} or isinstance(caught.value, UnknownExtensionError)


def test_data_of_that_time() -> None:
    """C-26: chunks without any codec, and shards as they were from May to July 2023."""
    memory = MemoryStore()
    memory.set("x/zarr.json", json.dumps({**ARRAY, "codecs": []}).encode())
    memory.set("x/c/1", np.arange(4, dtype="<f4").tobytes())
    memory.set("y/zarr.json", json.dumps({**ARRAY, "codecs": sharded()}).encode())
    final = blizzarr.create_array(
        memory, name="z", data=np.arange(8, dtype="f4"), chunks=2, shards=4, compressors=None, zarr_format=3
    )
    for number in range(2):
        memory.set(f"y/c/{number}", memory.get(f"z/c/{number}") or b"")
    with pytest.warns(UserWarning, match="final"):
        assert blizzarr.open(memory, path="x")[...].tolist() == [0, 0, 0, 0, 0, 1, 2, 3]
    with pytest.warns(UserWarning, match="final"):
        array = blizzarr.open(memory, path="y", mode="r+")
    assert array[...].tolist() == final[...].tolist()
    array.attrs["saved"] = True
    assert json.loads(memory.get("y/zarr.json") or b"")["codecs"] == sharded(codecs=[BYTES], index_codecs=CHECKED)
    assert blizzarr.open(memory, path="y")[...].tolist() == final[...].tolist()


def test_notices_are_remembered_with_the_document() -> None:
    """Opening a document again warns again, adds no notice to other documents, and `check` lists it."""
    memory = MemoryStore()
    memory.set("zarr.json", json.dumps({**ARRAY, "codecs": []}).encode())
    for _ in range(2):
        with pytest.warns(UserWarning, match="no codec that makes bytes of arrays") as caught:
            blizzarr.open(memory)
        assert len(caught) == 1
    report = blizzarr.check(memory)
    assert [finding.kind for finding in report.findings] == ["document-warning"]
    assert "no codec that makes bytes of arrays" in report.findings[0].message


def test_notices_of_members() -> None:
    """Who gets a member is warned of its document; names and `diff` are not concerned."""
    memory = MemoryStore()
    root = blizzarr.create_group(memory)
    memory.set("x/zarr.json", json.dumps({**ARRAY, "codecs": []}).encode())
    assert list(root) == ["x"]
    assert blizzarr.diff(memory, memory)
    with pytest.warns(UserWarning, match="final"):
        assert dict(root.members())["x"].shape == (8,)


def test_notices_of_documents_that_cannot_be_read() -> None:
    """They are notes of the error, and `check` lists them beside it."""
    memory = MemoryStore()
    memory.set("zarr.json", b'{"zarr_format": 3, "node_type": "group", "odd": 1, "attributes": {"a": 1, "a": 2}}')
    with pytest.raises(MetadataError, match="odd") as caught:
        blizzarr.open(memory)
    assert caught.value.__notes__ == ["attributes.a is there more than once; the last one counts"]
    report = blizzarr.check(memory)
    assert {finding.kind for finding in report.findings} == {"document", "document-warning"}
