"""Documents of arrays that are resized: only the shape changes, and that is seen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import blizzarr
from blizzarr.errors import MetadataError
from blizzarr.formats import encode_resized
from blizzarr.formats.v3 import V3
from blizzarr.model import ArrayMeta

_GRID = {"name": "regular", "configuration": {"chunk_shape": [2, 2]}}
_DOCUMENT: dict[str, Any] = {
    "zarr_format": 3,
    "node_type": "array",
    "attributes": {"shape": [1, True, 1.0], "b": {"c": None}},
    "shape": [3, 4],
    "data_type": "int16",
    "chunk_grid": _GRID,
    "chunk_key_encoding": "default",
    "fill_value": 7,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "dimension_names": ["x", None],
    "note": {"must_understand": False, "a": "\u00e4"},
}


def _decoded(raw: str | None = None) -> ArrayMeta:
    meta = V3.decode("", {"zarr.json": (json.dumps(_DOCUMENT) if raw is None else raw).encode()})
    assert isinstance(meta, ArrayMeta)
    return meta


@pytest.mark.parametrize("length", [0, 5, 10**15])
def test_all_but_the_shape_stays_as_it_is(length: int) -> None:
    meta = _decoded()
    for columns in (4, 7):
        node = encode_resized(meta, (length, columns), "a")
        assert node is not None
        raw = json.dumps({**_DOCUMENT, "shape": [length, columns]}).encode()
        assert node.documents == {"a/zarr.json": raw}
        assert V3.decode("", {"zarr.json": raw}) == node.meta == meta.with_shape((length, columns))
        # That of the next shape is made from this one.
        assert isinstance(node.meta, ArrayMeta)
        meta = node.meta


@pytest.mark.parametrize(
    ("raw", "shape"),
    [
        # The shape is spelled otherwise, or an attribute before it is spelled as the shape.
        (json.dumps(_DOCUMENT, separators=(",", ":")), (5, 5)),
        (json.dumps(_DOCUMENT, indent=1), (5, 5)),
        (json.dumps(_DOCUMENT).replace("[1, true, 1.0]", "[3, 4]"), (5, 5)),
        (json.dumps({**_DOCUMENT, "shape": [3, 0]}).replace("[2, 2]", "[2, 0]"), (3, 1)),
        (json.dumps(_DOCUMENT), (2**40, 2**40)),
        (json.dumps(_DOCUMENT), (-1, 4)),
    ],
)
def test_what_is_spelled_anew_is_encoded_as_a_whole(raw: str, shape: tuple[int, ...]) -> None:
    assert encode_resized(_decoded(raw), shape, "") is None


@pytest.mark.parametrize("change", [{"shape": (3, 5)}, {"source": None}, {"format": "v2"}])
def test_an_array_that_is_not_that_of_its_document_is_encoded_as_a_whole(change: dict[str, Any]) -> None:
    assert encode_resized(replace(_decoded(), **change), (5, 5), "") is None


def test_a_grid_of_equal_chunks_keeps_its_spelling(tmp_path: Path) -> None:
    blizzarr.create_array(tmp_path, shape=(2,), chunks=(2,), dtype="i2")
    document = json.loads((tmp_path / "zarr.json").read_text())
    document["chunk_grid"] = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [2]}}
    (tmp_path / "zarr.json").write_text(json.dumps(document))
    array = blizzarr.open_array(tmp_path)
    for number in (1, 2, 3):
        array.append(np.full(3, number, "i2"))
    assert (tmp_path / "zarr.json").read_text() == json.dumps({**document, "shape": [11]})
    assert blizzarr.open_array(tmp_path)[...].tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_numbers_are_those_that_reading_the_document_gives() -> None:
    """Python's parser by itself makes infinity of the first."""
    node = encode_resized(_decoded(json.dumps(_DOCUMENT).replace("1.0", "1e400")), (9, 9), "")
    assert node is not None
    assert node.meta.attributes["shape"] == [1, True, 10**400]


def test_attributes_that_are_changed_in_place_are_stored() -> None:
    meta = _decoded()
    meta.attributes["b"]["c"] = 1
    (raw,) = V3.encode(meta.with_shape((6, 5)), "").values()
    assert json.loads(raw) == {**_DOCUMENT, "shape": [6, 5], "attributes": {**_DOCUMENT["attributes"], "b": {"c": 1}}}


def test_attributes_of_what_was_made_are_not_those_of_its_document() -> None:
    node = encode_resized(_decoded(), (9, 9), "")
    assert node is not None
    assert node.meta.source is not None
    node.meta.attributes["b"]["c"] = 1
    assert node.meta.source["attributes"] == _DOCUMENT["attributes"]


def test_a_shape_that_cannot_be_is_told_of() -> None:
    with pytest.raises(MetadataError, match="shape: expected fewer than 2"):
        V3.encode(_decoded().with_shape((2**40, 2**40)), "")


def test_a_chunk_length_of_zero_is_written_anew_when_the_axis_gets_elements(tmp_path: Path) -> None:
    """zarr-python wrote it for an axis without elements, where there are no chunks; elsewhere it is refused."""
    zarr.create_array(tmp_path, shape=(0, 3), chunks=(1, 3), dtype="i4")
    document = tmp_path / "zarr.json"
    stored = json.loads(document.read_text())
    stored["chunk_grid"]["configuration"]["chunk_shape"] = [0, 3]
    document.write_text(json.dumps(stored))

    def chunk_shape() -> Any:
        return json.loads((tmp_path / "zarr.json").read_text())["chunk_grid"]["configuration"]["chunk_shape"]

    assert chunk_shape() == [0, 3]
    array = blizzarr.open_array(tmp_path)
    assert (array.shape, array.chunks, array[...].shape) == ((0, 3), (1, 3), (0, 3))
    assert blizzarr.check(tmp_path).kinds() == {}
    array.resize((0, 4))
    array.append(np.arange(8, dtype="i4").reshape(2, 4))
    array.append(np.arange(4, dtype="i4").reshape(1, 4))
    assert chunk_shape() == [1, 3]
    assert blizzarr.open_array(tmp_path)[...].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]]
