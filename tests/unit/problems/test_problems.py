"""Collecting problems, and checking what comes back in many members."""

from __future__ import annotations

from typing import Any

import pytest

from blizzarr.errors import LimitError, MetadataError, Problem, UnknownExtensionError
from blizzarr.problems import MISSING, Problems, describe, extension, lengths, members


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
