"""Fill values of v1: what the spelling is, and that it reads back as the same bits.

What documents mean is in the corpus, ``tests/conformance/v1/good/fill_value.json``, with what zarr-python 1.1.0 made of
each in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blizzarr.dtypes import DataType
from blizzarr.formats import v1_fill
from blizzarr.problems import Problems

NAN, INF = float("nan"), float("inf")
RECORD = [("a", "u1"), ("b", "f4")]
TEXTS = [("s", "S3"), ("t", "U2"), ("g", "?")]

CASES: list[tuple[Any, Any, Any]] = [
    ("bool", True, True),
    ("uint64", 2**64 - 1, 2**64 - 1),
    ("float32", 0.1, 0.1),
    ("float64", NAN, "NaN"),
    ("float64", -INF, "-Infinity"),
    ("float64", -0.0, -0.0),
    ("complex64", 2, 2.0),
    ("complex64", complex(NAN, 0), "NaN"),
    ("complex64", complex(1, -2), [1.0, -2.0]),
    ("complex64", complex(1, -0.0), [1.0, -0.0]),
    ("S4", b"", ""),
    ("S4", b"ab", "ab"),
    ("S4", b"a\0b", "a\0b"),
    ("U3", "ö", "ö"),
    ("V2", b"\0\0", 0),
    ("V2", b"\1\2", "AQI="),
    ("M8[s]", 5, 5),
    ("m8[D]", "NaT", -(2**63)),
    (RECORD, (0, 0), 0),
    (RECORD, (1, 1), 1),
    (RECORD, (1, 1.5), 1.5),
    (RECORD, (2, 1.5), "AgAAwD8="),
    (TEXTS, (b"", "", False), ""),
    (TEXTS, (b"0", "0", False), 0),
    (TEXTS, (b"ab", "ab", True), "ab"),
    (TEXTS, (b"abc", "ab", True), "abc"),
    ([("s", "S3"), ("n", [("i", "i2")])], (b"", (0,)), "AAAAAAA="),
]


@pytest.mark.parametrize(("dtype", "value", "spelled"), CASES, ids=str)
def test_written_and_read(dtype: Any, value: Any, spelled: Any) -> None:
    """O-9, O-22: one spelling, of those that zarr-python 1 reads where there is one."""
    found = DataType.parse(dtype)
    memory = np.zeros(1, found.numpy)
    memory[0] = np.void(value) if found.numpy.kind == "V" and isinstance(value, bytes) else value
    problems = Problems()
    made = v1_fill.encode(found, memory[0], "little", problems)
    assert problems.items == []
    assert repr(made) == repr(spelled)
    read = v1_fill.decode(found, made, "fill_value", problems, "little")
    assert problems.items == []
    assert found.fill_bytes(read) == memory.tobytes()


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("S4", b"\xff"), ("S4", "ö".encode()), (TEXTS, (b"ab", "cd", True)), (TEXTS, (b"ab", "ab", False))],
    ids=str,
)
def test_what_has_no_spelling(dtype: Any, value: Any) -> None:
    """O-9: bytes that are no text, and structs of text whose fields differ, which base64 would be taken for."""
    found = DataType.parse(dtype)
    memory = np.zeros(1, found.numpy)
    memory[0] = value
    problems = Problems()
    v1_fill.encode(found, memory[0], "little", problems)
    assert [problem.path for problem in problems.items] == ["fill_value"]


def test_base64_is_in_the_order_of_the_elements() -> None:
    """O-9, O-12: the bytes are those that a chunk would have."""
    found = DataType.parse([("a", "i2"), ("b", "u1")])
    value = np.array([(1, 2)], found.numpy)[0]
    made = [v1_fill.encode(found, value, endian, Problems()) for endian in ("little", "big")]
    assert made == ["AQAC", "AAEC"]
    read = [
        v1_fill.decode(found, text, "", Problems(), endian).item()
        for text, endian in zip(made, ("little", "big"), strict=True)
    ]
    assert read == [(1, 2), (1, 2)]
