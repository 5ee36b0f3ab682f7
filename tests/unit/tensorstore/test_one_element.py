"""Specs of arrays in memory that have, or repeat, one element."""

from __future__ import annotations

from typing import Any

import pytest

from tensorstore_face import ours, theirs

_VALUES: list[tuple[Any, str]] = [
    *((value, "json") for value in (5, "a", True, None, 1.5, {"a": [1]})),
    *((value, "string") for value in ("a", "", "é")),
    *((5, dtype) for dtype in ("int4", "uint8", "int64", "bfloat16", "float32")),
    (True, "bool"),
    ("a", "ustring"),
]


@pytest.mark.parametrize(("value", "dtype"), _VALUES, ids=str)
def test_specs_of_one_element(value: Any, dtype: str) -> None:
    for array in (value, [value], [[value]], [[value, value]], []):
        said = {"driver": "array", "array": array, "dtype": dtype}
        found, expected = (library.open(said).result() for library in (ours, theirs))
        assert found.spec().to_json() == expected.spec().to_json()
        assert repr(found) == repr(expected)
        again = ours.open(found.spec()).result()
        assert again.read().result().tolist() == found.read().result().tolist()
        if found.rank and found.size:
            repeated, theirs_repeated = (store[..., :1].spec().to_json() for store in (found, expected))
            assert repeated == theirs_repeated
