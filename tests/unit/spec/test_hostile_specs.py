"""Specs that say nonsense are errors that say so, and of TensorStore's classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blizzarr.errors import BlizzarrError, SpecError
from tensorstore_face import ours, outcome, theirs


@pytest.mark.parametrize("driver", [{}, [1], {"a": []}, None, 5, 1.5, True, ""])
def test_drivers_that_are_no_texts(driver: Any) -> None:
    spec = {"driver": driver, "kvstore": "memory://a"}
    expected = outcome(lambda: theirs.Spec(spec))
    assert outcome(lambda: ours.Spec(spec)) == expected
    assert expected[:2] == ("error", "ValueError")
    with pytest.raises(BlizzarrError):
        ours.Spec({"driver": "cast", "dtype": "int8", "base": spec})


@pytest.mark.parametrize("text", ["\ud800", "a\udbff", "é\ud800"])
def test_halves_of_characters(text: str) -> None:
    for spec in (
        {"driver": "zarr3", "kvstore": {"driver": "memory", "path": text}},
        {"driver": "zarr3", "kvstore": "memory://", text: 1},
        {"driver": "array", "array": [text], "dtype": "string"},
        {"driver": "zarr", "kvstore": "memory://", "metadata_key": text},
    ):
        with pytest.raises(BlizzarrError, match="half of a character is missing"):
            ours.Spec(spec)


_INTEGERS = ["-1", "3", " 3\n", "+3", "", "+-1", "1_0", "\uff10\uff13", "\xa02", "1" * 5000, "true", "false", "True"]
_FLOATS = ["3.0", "1e2", "0x10", "0x1.8p1", "-0X.8P-1", ".", ".5", "1.", "1d5", "1e400", "0x1p99999"]
_UNBOUNDED = ["nan", "-NaN", "nan(a_1)", "nan(-)", "inf()", "Infinity", "-inf"]


@pytest.mark.parametrize("dtype", ["bool", "int4", "int16", "uint64", "float8_e5m2", "float32", "float64"])
def test_numbers_that_are_texts(dtype: str) -> None:
    for text in (*_INTEGERS, *_FLOATS, *_UNBOUNDED):
        spec = {"driver": "array", "array": [text, text], "dtype": dtype}
        of_json = {"driver": "array", "array": [text], "dtype": "json"}
        for made in (
            lambda library: library.open(spec).result().read().result(),  # noqa: B023
            lambda library: library.Schema({"dtype": dtype, "fill_value": text}).fill_value,  # noqa: B023
            lambda library: library.cast(library.open(of_json).result(), dtype).read().result(),  # noqa: B023
        ):
            expected, found = outcome(lambda: made(theirs)), outcome(lambda: made(ours))  # noqa: B023
            assert found[:2] == expected[:2], text


@pytest.mark.parametrize("dtype", ["string", "ustring"])
@pytest.mark.parametrize("value", ["a", b"a", 1, None, ["a"], [b"a", b"b"], ["a", 1], np.array([b"a"], object)])
def test_fill_values_that_are_no_texts(dtype: str, value: Any) -> None:
    expected = outcome(lambda: theirs.Schema(dtype=dtype, fill_value=value).fill_value)
    assert outcome(lambda: ours.Schema(dtype=dtype, fill_value=value).fill_value)[:2] == expected[:2]


@pytest.mark.parametrize("text", [*_INTEGERS, "-inf", "+inf", "inf", "3.0", "9223372036854775808"])
def test_bounds_that_are_texts(text: str) -> None:
    for document in (
        *({"inclusive_min": [text]}, {"exclusive_max": [text]}, {"inclusive_max": [[text]]}, {"shape": [text]}),
        {"rank": text},
    ):
        expected, found = (outcome(lambda: library.IndexDomain(json=document)) for library in (theirs, ours))  # noqa: B023
        assert found[:2] == expected[:2], document
    for output in (
        *({"index_array": [text]}, {"index_array": [1], "index_array_bounds": ["-inf", text]}),
        *({"offset": text}, {"input_dimension": text}),
    ):
        document = {"input_rank": 1, "output": [output]}
        expected, found = (outcome(lambda: library.IndexTransform(json=document)) for library in (theirs, ours))  # noqa: B023
        assert found[:2] == expected[:2], document


def test_arrays_without_elements() -> None:
    spec = {"driver": "cast", "dtype": "int8", "base": {"driver": "array", "dtype": "int16"}}
    with pytest.raises(BlizzarrError, match="member is missing"):
        ours.Spec(spec)


def test_everything_that_is_wrong_with_a_spec_is_said_at_once() -> None:
    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "memory", "path": 5, "atomic": 6, "other": 7},
        "dtype": "int7",
        "rank": 99,
        "schema": {
            "rank": "x",
            "codec": {"driver": "no"},
            "chunk_layout": {"inner_order": [0, 0], "grid_origin": ["y"]},
        },
        "recheck_cached_data": "never",
        "metadata": {"shape": [-1, "z"], "data_type": "float7"},
        "surplus": 1,
    }
    with pytest.raises(SpecError) as caught:
        ours.Spec(spec)
    names = "path atomic other dtype rank codec inner_order grid_origin recheck_cached_data shape data_type surplus"
    assert [name for name in names.split() if f'"{name}"' not in str(caught.value)] == []
    assert all(value in str(caught.value) for value in ("int7", "99", "never", "-1", '"z"', "float7", '"y"'))


@pytest.mark.parametrize(
    "spec",
    [
        {"driver": "stack"},
        {"driver": "stack", "layers": 3},
        {"driver": "array", "dtype": "int32", "array": 5, "schema": {"rank": 2}},
        {"driver": "downsample", "base": {"driver": "array"}, "downsample_method": "x"},
    ],
    ids=lambda spec: spec["driver"],
)
def test_what_is_wrong_with_a_spec_is_said_once(spec: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as caught:
        ours.Spec(spec)
    reasons = str(caught.value).split("; ")
    assert len(set(reasons)) == len(reasons)
