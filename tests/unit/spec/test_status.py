"""The class of an error says whether the spec or the stored array is at fault, as TensorStore's status does."""

from __future__ import annotations

from typing import Any

import pytest

from blizzarr.errors import ArrayNotFoundError, ConstraintError, InvalidArgumentError, SpecError
from blizzarr.spec.arguments import prefixed
from tensorstore_face import ours, theirs

DRIVERS = ("zarr3", "zarr", "n5")
CONSTRAINTS: dict[str, dict[str, Any]] = {
    "data type": {"dtype": "int8"},
    "rank": {"rank": 1},
    "shape": {"schema": {"domain": {"shape": [99, 9]}}},
    "label": {"schema": {"domain": {"labels": ["Error setting x", "y"]}}},
    "chunk shape": {"schema": {"chunk_layout": {"chunk": {"shape": [5, 5]}}}},
    "grid origin": {"schema": {"chunk_layout": {"grid_origin": [1, 1]}}},
    "inner order": {"schema": {"chunk_layout": {"inner_order": [1, 0]}}},
    "codec chunk": {"schema": {"chunk_layout": {"codec_chunk": {"shape": [2, 2]}}}},
    "fill value": {"schema": {"fill_value": 7}},
    "units": {"schema": {"dimension_units": ["3nm", None]}},
    "codec of another driver": {"schema": {"codec": {"driver": "neuroglancer_precomputed"}}},
}


def refused(ts: Any, driver: str, constraint: dict[str, Any]) -> ValueError | None:
    """The error of opening an array of uint8 in chunks of (4, 4), with a constraint."""
    spec: dict[str, Any] = {"driver": driver, "kvstore": "memory://"}
    context = ts.Context()
    layout = ts.ChunkLayout(chunk_shape=[4, 4])
    ts.open(spec, create=True, context=context, dtype="uint8", shape=[8, 9], chunk_layout=layout).result()
    spec.update({name: value for name, value in constraint.items() if name != "rank"})
    given = {"rank": constraint["rank"]} if "rank" in constraint else {}
    try:
        ts.open(spec, context=context, **given).result()
    except ValueError as error:
        return error
    return None


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_class_is_the_status(driver: str, name: str) -> None:
    """`ConstraintError` where TensorStore says FAILED_PRECONDITION, `InvalidArgumentError` where it says nothing."""
    mine, expected = (refused(ts, driver, CONSTRAINTS[name]) for ts in (ours, theirs))
    assert (mine is None) == (expected is None), (mine, expected)
    if expected is not None:
        is_stored = str(expected).startswith("FAILED_PRECONDITION: ")
        assert type(mine) is (ConstraintError if is_stored else InvalidArgumentError), (mine, expected)


def test_text_does_not_choose_the_class() -> None:
    """A constraint that is not met is a `ConstraintError` however its text begins."""
    with pytest.raises(ConstraintError, match="Error setting x"), prefixed("a", ConstraintError):
        raise SpecError("Error setting x")


def test_prefix_keeps_special_classes() -> None:
    """Only a plain `SpecError` becomes the class that is given."""
    with pytest.raises(InvalidArgumentError, match="a: b"), prefixed("a", InvalidArgumentError):
        raise SpecError("b")
    with pytest.raises(ArrayNotFoundError, match="a: b"), prefixed("a", InvalidArgumentError):
        raise ArrayNotFoundError("b")
