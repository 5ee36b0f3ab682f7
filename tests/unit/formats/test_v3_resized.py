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
from blizzarr.formats import v3_array
from blizzarr.formats.document import dump
from blizzarr.formats.v3 import V3
from blizzarr.formats.v3_resized import resized
from blizzarr.model import ArrayMeta

_DOCUMENT: dict[str, Any] = {
    "zarr_format": 3,
    "node_type": "array",
    "attributes": {"shape": [1, True, 1.0], "b": {"c": None}},
    "shape": [3, 4],
    "data_type": "int16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
    "chunk_key_encoding": "default",
    "fill_value": 7,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "dimension_names": ["x", None],
    "note": {"must_understand": False, "a": "\u00e4"},
}


def _decoded(document: dict[str, Any]) -> ArrayMeta:
    meta = V3.decode("", {"zarr.json": json.dumps(document).encode()})
    assert isinstance(meta, ArrayMeta)
    return meta


@pytest.mark.parametrize("shape", [(0, 0), (3, 4), (5, 4), (10**15, 7)])
def test_all_but_the_shape_stays_as_it_is(shape: tuple[int, ...]) -> None:
    meta = _decoded(_DOCUMENT)
    for _ in range(2):
        found = resized(meta.with_shape(shape))
        assert found is not None
        assert found.raw == dump({**_DOCUMENT, "shape": list(shape)}, "")
        again = V3.decode("", {"zarr.json": found.raw})
        assert again == found.meta == meta.with_shape(shape)
        # That of the next shape is made from this one.
        meta = found.meta


@pytest.mark.parametrize(
    "change",
    [
        {"attributes": {**_DOCUMENT["attributes"], "shape": [True, 1, 1.0]}},
        {"attributes": {**_DOCUMENT["attributes"], "shape": (1, True, 1.0)}},
        {"attributes": {"a": np.int64(5)}},
        {"attributes": {}},
        {"dimension_names": ("y", None)},
        {"dimension_names": None},
        {"fill_value": np.int16(8)},
        {"extra": {}},
        {"shape": (3,)},
        {"shape": (2**40, 2**40)},
        {"shape": (-1, 4)},
        {"source": None},
        {"format": "v2"},
    ],
)
def test_more_than_the_shape_is_not_taken_for_it(change: dict[str, Any]) -> None:
    meta = _decoded(_DOCUMENT)
    assert resized(meta.with_shape((5, 5))) is not None
    assert resized(replace(meta, **change)) is None


def test_attributes_that_are_changed_in_place_are_stored() -> None:
    meta = _decoded(_DOCUMENT)
    assert resized(meta.with_shape((5, 5))) is not None
    meta.attributes["b"]["c"] = 1
    (raw,) = V3.encode(meta.with_shape((6, 5)), "").values()
    assert json.loads(raw) == {**_DOCUMENT, "shape": [6, 5], "attributes": {**_DOCUMENT["attributes"], "b": {"c": 1}}}


def test_attributes_of_what_was_made_are_not_those_of_others() -> None:
    first = V3.encode(_decoded(_DOCUMENT).with_shape((9, 9)), "")
    one, other = V3.decode("", first), V3.decode("", first)
    assert one is not None
    assert other is not None
    one.attributes["b"]["c"] = 1
    assert other.attributes == _DOCUMENT["attributes"]
    assert V3.encode(other.with_shape((9, 9)), "") == first


@pytest.mark.parametrize(
    "spelling",
    [
        {"codecs": [{"name": "transpose", "configuration": {"order": "F"}}, *_DOCUMENT["codecs"]]},
        {"attributes": {"\0shape": "\0shape"}},
    ],
)
def test_what_is_spelled_anew_is_made_anew(spelling: dict[str, Any]) -> None:
    meta = _decoded({**_DOCUMENT, **spelling}).with_shape((5, 5))
    assert resized(meta) is None
    (raw,) = V3.encode(meta, "").values()
    assert raw == dump(v3_array.encode(meta), "")


def test_a_shape_that_cannot_be_is_told_of() -> None:
    with pytest.raises(MetadataError, match="shape: expected fewer than 2"):
        V3.encode(_decoded(_DOCUMENT).with_shape((2**40, 2**40)), "")


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
