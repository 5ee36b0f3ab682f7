"""Names of dimensions in the attribute _ARRAY_DIMENSIONS."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from blizzarr.errors import MetadataError
from blizzarr.formats.dimension_names import ATTRIBUTE
from blizzarr.formats.v2 import V2
from blizzarr.model import ArrayMeta

ARRAY = {
    "zarr_format": 2,
    "shape": [4, 4],
    "chunks": [2, 2],
    "dtype": "<f4",
    "compressor": None,
    "fill_value": 0,
    "order": "C",
    "filters": None,
}


def array(attributes: dict[str, Any] | None = None) -> ArrayMeta:
    documents = {".zarray": json.dumps(ARRAY).encode()}
    if attributes is not None:
        documents[".zattrs"] = json.dumps(attributes).encode()
    meta = V2.decode("", documents)
    assert isinstance(meta, ArrayMeta)
    return meta


def written(meta: ArrayMeta) -> Any:
    raw = V2.encode(meta, "").get(".zattrs")
    return None if raw is None else json.loads(raw)


def test_read() -> None:
    """They are names of dimensions, and stay among the attributes as they are stored."""
    meta = array({ATTRIBUTE: ["y", "x"], "a": 1})
    assert meta.dimension_names == ("y", "x")
    assert meta.attributes == {ATTRIBUTE: ["y", "x"], "a": 1}
    assert written(meta) == meta.attributes


def test_written() -> None:
    """Names that came from elsewhere are written into the attribute."""
    meta = replace(array(), dimension_names=("y", "x"))
    assert written(meta) == {ATTRIBUTE: ["y", "x"]}
    assert written(replace(meta, attributes={"a": 1}, source=None)) == {"a": 1, ATTRIBUTE: ["y", "x"]}
    assert written(replace(meta, attributes={ATTRIBUTE: ["y", "x"], "a": 1})) == {ATTRIBUTE: ["y", "x"], "a": 1}


@pytest.mark.parametrize("now", [{}, {"a": 1}, {ATTRIBUTE: ["lat", "lon"]}, {ATTRIBUTE: "none"}])
def test_a_changed_attribute_counts(now: dict[str, Any]) -> None:
    """Who removes or changes the attribute means it: the names that it gave are not written back."""
    meta = array({ATTRIBUTE: ["y", "x"]})
    assert written(meta.with_attributes(now)) == now


def test_changed_names_count() -> None:
    """Who changes the names and leaves the attribute has said two things."""
    meta = array({ATTRIBUTE: ["y", "x"]})
    assert written(replace(meta, dimension_names=("a", "b"), attributes={})) == {ATTRIBUTE: ["a", "b"]}
    with pytest.raises(
        MetadataError, match=rf"attributes.{ATTRIBUTE}: expected .*\['a', 'b'\], found \[\"y\", \"x\"\]"
    ):
        V2.encode(replace(meta, dimension_names=("a", "b")), "")


def test_names_for_some() -> None:
    """A dimension without a name among others that have one cannot be said; where none has one, nothing is said."""
    with pytest.raises(MetadataError, match=r'dimension_names: expected a name for each .*found \["y", null\]'):
        V2.encode(replace(array(), dimension_names=("y", None)), "")
    assert written(replace(array(), dimension_names=(None, None))) is None
