"""What people of several fields get wrong in their first days: the error says what was met, and what to write."""

from __future__ import annotations

from typing import Any

import pytest

import blizzarr
from blizzarr.errors import NodeNotFoundError


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: blizzarr.open({}, "r"), "open(): expected at most 1 positional argument, found 2; .* mode=, path="),
        (lambda: blizzarr.zeros("a.zarr", (3, 4)), "zeros(): .* found 2; name the others: all but shape"),
        (lambda: blizzarr.full((3, 4), 1, "f4"), "full(): .* found 3; name the others: all but shape, fill_value"),
        (lambda: blizzarr.array([1], "a.zarr"), "array(): .* name the others: store=, path="),
        (lambda: blizzarr.copy({}, {}, "a"), "copy(): expected at most 2 positional arguments, found 3; .* path="),
    ],
)
def test_what_has_to_be_named_is_said(call: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told.replace("()", r"\(\)")):
        call()


def test_capitals_hide_no_name_that_was_meant() -> None:
    plate = blizzarr.create_group({})
    for well in ("A/1", "A/2", "B/1"):
        plate.create_group(well)
    with pytest.raises(NodeNotFoundError, match="did you mean 'A/2'"):
        blizzarr.consolidate_metadata(plate)["a/2"]
