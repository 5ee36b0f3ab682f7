"""What is indexed without an end is not iterated over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import blizzarr
from tensorstore_face import ours, theirs

_MAKE: dict[str, Callable[[Any], Any]] = {
    "store": lambda ts: ts.array([[1, 2], [3, 4]]),
    "store of rank 0": lambda ts: ts.array(5),
    "spec": lambda ts: ts.array([1, 2]).spec(),
    "vindex": lambda ts: ts.array([1, 2]).vindex,
    "label": lambda ts: ts.array([1, 2]).label,
    "transform": lambda ts: ts.IndexTransform(2),
}


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
@pytest.mark.parametrize("name", _MAKE)
def test_views_are_not_iterated_over(library: Any, name: str) -> None:
    made = _MAKE[name](library)
    for call in (iter, list, lambda made: 5 in made, lambda made: (lambda *_: None)(*made)):
        with pytest.raises(TypeError, match=r"not iterable|not a container or iterable|must be an iterable"):
            call(made)


def test_schemas_and_contexts_are_not_iterated_over() -> None:
    """In TensorStore, schemas are, without an end."""
    for made in (ours.Schema(rank=2), ours.Context()):
        with pytest.raises(TypeError, match="not iterable"):
            iter(made)


def test_lazy_views_are_iterated_over_along_the_first_axis() -> None:
    array = blizzarr.create_array({}, data=np.arange(6).reshape(2, 3))
    assert [row.read().tolist() for row in array.lazy] == [[0, 1, 2], [3, 4, 5]]
    assert (5 in array.lazy, 5 in array.lazy[0]) == (True, False)
    for selector in (array.lazy.oindex, array.lazy.vindex, array.oindex, array.vindex, array.blocks):
        with pytest.raises(TypeError, match="not iterable"):
            iter(selector)  # type: ignore[call-overload]
