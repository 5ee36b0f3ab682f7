"""Collecting problems, and checking what comes back in many members."""

from __future__ import annotations

import re
from typing import Any

import pytest

import blizzarr
from blizzarr.errors import InternalError, LimitError, MetadataError, Problem, UnknownExtensionError
from blizzarr.formats import v3_array
from blizzarr.problems import MISSING, Problems, decoder, describe, extension, lengths, members


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (False, "false"),
        (64.0, "64.0"),
        ("é", '"é"'),
        (MISSING, "nothing"),
        ([1, "a"], '[1, "a"]'),
        (2**300, "an integer of 301 bits"),
        (list(range(100)), "a list with 100 members"),
        (dict.fromkeys(map(str, range(100))), "an object with 100 members"),
        ("x" * 200, '"' + "x" * 78 + "…"),
        ("\ud800", '"\\ud800"'),
        ({1}, "{1}"),
    ],
)
def test_describe(value: Any, text: str) -> None:
    """JSON as JSON says it, short, and always printable."""
    assert describe(value) == text
    assert describe(value).encode()


def test_one_error_for_all() -> None:
    """Problems of conformance come before unknown extensions, and those before limits."""
    problems = Problems()
    problems.raise_any()
    problems.limit("shape", "less", 10)
    with pytest.raises(LimitError, match="shape: expected less, found 10"):
        problems.raise_any(key="k")
    problems.unknown("codecs[0]", "codec", "zfp", "zarrs reads it")
    with pytest.raises(UnknownExtensionError) as caught:
        problems.raise_any(key="k")
    assert caught.value.extensions == ("zfp",)
    problems.add("shape", "a list", None)
    with pytest.raises(MetadataError) as both:
        problems.raise_any(key="k", document={"a": 1})
    assert type(both.value) is MetadataError
    assert both.value.problems[1] == Problem("shape", "a list", "null")
    assert both.value.document == {"a": 1}


@pytest.mark.parametrize("value", ["regular", {"name": "regular"}, {"name": "regular", "must_understand": True}])
def test_forms_without_configuration(value: Any) -> None:
    """F-5: a short-hand name is an object with just a name."""
    assert extension(value, "chunk_grid", Problems(), "chunk grid") == ("regular", {})


def test_optional_extensions() -> None:
    """F-4: only where it is allowed may an extension be ignored."""
    value = {"name": "x", "must_understand": False}
    problems = Problems()
    assert extension(value, "codecs[0]", problems, "codec", optional=True) == ("x", {})
    assert extension(value, "chunk_grid", problems, "chunk grid") is None
    assert [problem.path for problem in problems.items] == ["chunk_grid.must_understand"]


def test_lengths() -> None:
    """rows 41 and 43: each wrong length is reported by its position."""
    problems = Problems()
    assert lengths([1, 2**63 - 1], "shape", problems, 1) == (1, 2**63 - 1)
    assert lengths([1, 0, True, 2**63], "shape", problems, 1) is None
    assert [problem.path for problem in problems.items] == ["shape[1]", "shape[2]", "shape[3]"]


def test_members() -> None:
    """row 54: options that nobody knows are reported."""
    problems = Problems()
    members({"a": 1, "b": 2}, "codecs[0]", problems, ("a",))
    assert problems.items == [Problem("codecs[0].configuration.b", "no such option", "2")]


@pytest.mark.parametrize("error", [OverflowError("long"), ZeroDivisionError(), ValueError("odd"), RecursionError()])
def test_what_values_make_python_raise_is_a_problem(error: Exception) -> None:
    @decoder
    def decode(document: dict[str, Any], problems: Problems) -> int | None:
        raise error

    problems = Problems()
    assert decode({}, problems) is None
    assert problems.items == [Problem("", "values that can be decoded", f"{type(error).__name__}: {error}")]


@pytest.mark.parametrize("error", [TypeError("odd"), KeyError("odd"), AssertionError()])
def test_mistakes_of_ours_are_internal_errors(error: Exception) -> None:
    @decoder
    def decode(document: dict[str, Any], problems: Problems) -> int | None:
        raise error

    with pytest.raises(InternalError) as caught:
        decode({}, Problems())
    assert caught.value.__cause__ is error
    assert (caught.value.operation, caught.value.version) == ("decode a document", blizzarr.__version__)
    assert re.fullmatch(r".*test_problems:\d+", caught.value.location or "")


def test_errors_of_ours_and_a_lack_of_memory_pass() -> None:
    @decoder
    def decode(error: Exception, problems: Problems) -> int | None:
        raise error

    for error in (MemoryError(), LimitError("too much"), MetadataError("odd")):
        with pytest.raises(type(error)) as caught:
            decode(error, Problems())
        assert caught.value is error


def test_a_mistake_of_ours_is_the_error_of_one_member(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in consolidated metadata, and also when the document is read again."""
    store: dict[str, Any] = {}
    group = blizzarr.create_group(store)
    for name in ("a", "b"):
        group.create_array(name, shape=3, dtype="f4", attributes={"name": name})
    decode = v3_array.decode

    def mistaken(document: dict[str, Any], problems: Problems) -> Any:
        return {}["absent"] if document["attributes"] == {"name": "a"} else decode(document, problems)

    blizzarr.consolidate_metadata(store)
    monkeypatch.setattr(v3_array, "decode", mistaken)
    store["a/zarr.json"] += b"\n"
    store["b/zarr.json"] += b"\n"
    for consolidated in (False, True):
        opened = blizzarr.open_group(store, use_consolidated=consolidated)
        assert list(opened) == ["a", "b"]
        with pytest.warns(UserWarning, match="'a'"):
            assert [name for name, _ in opened.members()] == ["b"]
        for _ in range(2):
            (error,) = opened.unreadable().values()
            assert isinstance(error, InternalError)
            assert "KeyError: 'absent'" in str(error)
