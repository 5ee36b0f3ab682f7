"""JSON, strictly read and carefully written."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import MetadataError
from blizzarr.formats import document
from blizzarr.formats.document import dump, is_deeper, load
from blizzarr.problems import Problems


def test_duplicates_in_attributes_are_noticed() -> None:
    """row 46: the last one counts, and a notice says so."""
    text = b'{"attributes": {"a": 1, "b": {"x": 1, "x": 2}, "a": 3}}'
    problems = Problems()
    assert load(text, problems) == {"attributes": {"a": 3, "b": {"x": 2}}}
    assert not problems.items
    assert sorted(problems.notices) == [
        ("duplicate-name", "attributes.a is there more than once; the last one counts"),
        ("duplicate-name", "attributes.b.x is there more than once; the last one counts"),
    ]


def test_duplicates_elsewhere_are_all_reported() -> None:
    """row 46: every duplicated member with its path, inside lists too."""
    problems = Problems()
    load(b'{"a": 1, "a": 2, "codecs": [{"name": "x", "name": "y"}]}', problems)
    assert {problem.path for problem in problems.items} == {"a", "codecs[0].name"}


def test_a_document_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """row 48: there is a cap on the size."""
    monkeypatch.setattr(document, "MAX_BYTES", 10)
    problems = Problems()
    assert load(b'{"a": 1234567}', problems) is None
    assert problems.items[0].expected == "at most 10 bytes"


@pytest.mark.parametrize("depth", [1, 5, 128])
def test_depth(depth: int) -> None:
    """row 47: a value of this depth is not deeper than it, one more level is."""
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    assert not is_deeper(value, depth)
    assert is_deeper([value], depth)


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_very_deep_values(depth: int) -> None:
    """row 47: no stack overflow, one problem."""
    problems = Problems()
    assert load(b'{"attributes": {"a": ' + b"[" * depth + b"]" * depth + b"}}", problems) is None or not problems.items
    if depth > 1000:
        assert problems.items


def test_written_form() -> None:
    """Indented by two, ASCII; NumPy's scalars and arrays become numbers and lists."""
    value = {"é": np.float32(1.5), "i": np.int64(3), "b": np.bool_(True), "a": np.array([[1, 2]])}
    text = dump(value, "zarr.json")
    assert text.isascii()
    assert text.startswith(b'{\n  "\\u00e9": 1.5,')
    assert json.loads(text) == {"é": 1.5, "i": 3, "b": True, "a": [[1, 2]]}


def test_long_lists_and_objects_are_on_one_line() -> None:
    """A line for each of a million edge lengths, some of them runs, is for nobody, and takes three times the bytes."""
    value = {"short": [1, [2, 3]], "long": [1, [2, 3]] * 1000, "names": {str(i): {"a": i} for i in range(2000)}}
    text = dump(value, "zarr.json")
    assert text.startswith(b'{\n  "short": [\n    1,\n    [2, 3]\n  ],\n  "long": [1, [2, 3], 1, ')
    assert b'\n  "names": {"0": {"a": 0}, "1": ' in text
    assert text.count(b"\n") == 7
    assert json.loads(text) == value


def test_not_a_number_in_attributes() -> None:
    """row 49: the bare tokens are read in attributes, and kept."""
    problems = Problems()
    read = load(b'{"attributes": {"a": NaN, "b": [-Infinity]}}', problems)
    assert read is not None
    assert not problems.items
    assert b"NaN" in dump(read, "k")
    assert b"-Infinity" in dump(read, "k")


@pytest.mark.parametrize("number", ["1e400", "-1.5E+309", "1" + "0" * 400 + ".0"])
def test_numbers_beyond_floating_point_are_kept(number: str) -> None:
    """JSON has them, but not the infinity that they would become."""
    problems = Problems()
    read = load(f'{{"attributes": {{"a": {number}}}}}'.encode(), problems)
    assert read is not None
    assert not problems.items
    assert read["attributes"]["a"] == int(Decimal(number))
    stored = dump(read, "k")
    assert b"Infinity" not in stored
    assert load(stored, problems) == read


@pytest.mark.parametrize("number", ["1e4300", "-1e99999999999999999999"])
def test_numbers_of_too_many_digits(number: str) -> None:
    """They are an error, as integers are that are spelled out, and take no time."""
    problems = Problems()
    assert load(f'{{"attributes": {{"a": {number}}}}}'.encode(), problems) is None
    assert problems.items[0].expected == "integers of at most 4,300 digits"


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", 1j, object()])
def test_what_json_has_not(value: Any) -> None:
    """A value that cannot be written is an error that names its place; nothing was written."""
    with pytest.raises(MetadataError) as caught:
        dump({"attributes": {"x": [0, value]}}, "a/zarr.json")
    assert caught.value.key == "a/zarr.json"
    assert caught.value.problems[0].path == "attributes.x[1]"


def test_a_value_within_itself() -> None:
    """An endless value is an error, not a hang."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(MetadataError, match="nested too deeply"):
        dump({"attributes": {"x": endless}}, "k")


def test_a_name_that_is_no_string() -> None:
    """A tuple for a name is an error that names its place."""
    with pytest.raises(MetadataError, match=r"attributes: .*\(1, 2\)"):
        dump({"attributes": {(1, 2): 1}}, "k")


def test_lone_surrogates_survive() -> None:
    """What JSON can spell comes back as it was, even where it is no text."""
    problems = Problems()
    read = load(b'{"a": "\\ud800"}', problems)
    assert read is not None
    assert load(dump(read, "k"), problems) == read
