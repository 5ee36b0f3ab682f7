"""Elements of extreme sizes, and fill values of another type: what they cost whoever opens their document."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import LimitError, MetadataError


def v1(dtype: str, fill_value: Any) -> dict[str, bytes]:
    document = {"zarr_format": 1, "shape": [4], "chunks": [2], "dtype": dtype, "fill_value": fill_value, "order": "C"}
    return {"meta": json.dumps({**document, "compression": "none", "compression_opts": None}).encode(), "attrs": b"{}"}


def v2(dtype: str, fill_value: Any) -> dict[str, bytes]:
    document = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": dtype, "fill_value": fill_value, "order": "C"}
    return {".zarray": json.dumps({**document, "compressor": None, "filters": None}).encode()}


@pytest.mark.parametrize(
    ("store", "fill_value"),
    [
        (v1("|S2147483647", None), None),
        (v1("|S2147483647", "ab\0"), np.bytes_(b"ab")),
        (v1("|S2147483647", -5), np.bytes_(b"-5")),
        (v1("<U536870911", None), None),
        (v2("|S2147483647", None), None),
        (v2("|S2147483647", 0), np.bytes_(b"")),
        (v2("<U536870911", None), None),
    ],
)
def test_an_element_of_2_gib_is_not_made_to_open_its_array(store: dict[str, bytes], fill_value: Any) -> None:
    tracemalloc.start()
    try:
        found = blizzarr.open_array(store, mode="r")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.fill_value == fill_value
    assert peak < 2**26


@pytest.mark.parametrize("document", [v1, v2])
def test_raw_bytes_that_long_are_not_made_to_open_their_array(document: Any) -> None:
    """Their fill value has as many bytes, whatever the document says of it."""
    tracemalloc.start()
    try:
        told = r"at most 67,108,864 bytes, found 2,147,483,647 .*config\.element_bytes"
        with pytest.raises(LimitError, match=told) as caught:
            blizzarr.open_array(document("|V2147483647", None), mode="r")
        with pytest.raises(LimitError):
            blizzarr.create_array({}, shape=4, dtype="|V2147483647")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.array == "/"
    assert peak < 2**26


def test_of_which_array_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/.zarray").write_bytes(v2("|V2147483647", None)[".zarray"])
    for store in (tmp_path, {"a/.zarray": v2("|V2147483647", None)[".zarray"]}):
        with pytest.raises(LimitError) as caught:
            blizzarr.open_array(store, path="a", mode="r")
        assert caught.value.array == "/a"


@pytest.mark.parametrize("dtype", ["|S2147483647", "<U16777217"])
@pytest.mark.parametrize("document", [v1, v2])
def test_elements_that_long_are_not_read_unless_they_are_meant(document: Any, dtype: str) -> None:
    found = blizzarr.open_array(document(dtype, None), mode="r")
    with pytest.raises(LimitError, match=r"at most 67,108,864 bytes, found [\d,]+ .*config\.element_bytes") as caught:
        found[0]
    assert caught.value.array == "/"
    with pytest.raises(LimitError):
        found.lazy[0].read()


def test_how_long_elements_may_be_is_a_setting() -> None:
    found = blizzarr.open_array(v2("|S5", "YWI="), mode="r")
    with blizzarr.config.set(element_bytes=4), pytest.raises(LimitError, match=r"at most 4 bytes, found 5 \("):
        found[0]
    assert found[0] == b"ab"


@pytest.mark.parametrize(("value", "expected"), [("abcdef", b"abc"), (True, b"Tru"), (1e22, b"1e+"), ("a\0\0", b"a")])
def test_v1_cuts_text_to_the_length_of_byte_strings_as_numpy_did(value: Any, expected: bytes) -> None:
    memory = np.zeros(1, "S3")
    memory.fill(value)
    found = blizzarr.open_array(v1("|S3", value), mode="r")
    assert found.fill_value == memory[0] == expected
    assert found[...].tolist() == [expected] * 4


@pytest.mark.parametrize("name", ["vlen-utf8", "vlen-bytes"])
@pytest.mark.parametrize("value", [[""], 1, True, {"a": 1}])
def test_the_draft_refuses_fill_values_that_are_no_text_when_it_opens(name: str, value: Any) -> None:
    dtype = "str" if name == "vlen-utf8" else "bytes"
    store: dict[str, bytes] = {}
    blizzarr.create_array(store, name="a", shape=(2,), dtype=dtype, zarr_format="v3_draft_zarr_python")
    document = json.loads(store["meta/root/a.array.json"])
    assert document["attributes"]["filters"][0]["id"] == name
    store["meta/root/a.array.json"] = json.dumps({**document, "fill_value": value}).encode()
    with pytest.raises(MetadataError, match="fill_value"):
        blizzarr.open_array(store, path="a", mode="r")


@pytest.mark.parametrize("zarr_format", ["v1", "v2", "v3_draft", "v3_draft_zarr_python", "v3"])
@pytest.mark.parametrize("dtype", [[("a", "<i2", (0,))], [("n", [("a", "<i2", (2, 0))]), ("b", "i1")]])
def test_fields_of_no_elements_are_refused(dtype: Any, zarr_format: str) -> None:
    """The draft stored them and read their fallback; v3 stopped with NumPy's own error."""
    store: dict[str, bytes] = {}
    with pytest.raises(MetadataError, match=r"a field of at least one element, found \[(0|2, 0)\]"):
        blizzarr.create_array(store, shape=(3,), dtype=dtype, zarr_format=zarr_format)
    assert store == {}
