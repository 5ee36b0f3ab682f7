"""TensorStore as the judge: views of an array in memory say and read the same after the same operations."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours
from blizzarr import views
from support.view_chains import is_hazardous, operation

theirs = pytest.importorskip("tensorstore")


def done(text: str, library: Any, view: Any) -> tuple[Any, str | None]:
    """The view after an operation, or the class of the error."""
    try:
        return eval(text, {"ts": library, "x": view}), None
    except (IndexError, ValueError, TypeError) as error:
        return view, next(kind.__name__ for kind in (TypeError, IndexError, ValueError) if isinstance(error, kind))


def elements(view: Any) -> Any:
    """What is read, or the class of the error."""
    try:
        return view.read().result()
    except ValueError:
        return "ValueError"


@pytest.mark.parametrize("block", range(4))
def test_views_of_arrays_read_the_same(block: int) -> None:
    """After each of six operations: the domain, the elements, and the spec that holds them."""
    read = 0
    for seed in range(150 * block, 150 * (block + 1)):
        random = Random(seed)
        shape = [random.randint(1, 5) for _ in range(random.randint(1, 3))]
        array = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
        pair: list[Any] = [library.array(array) for library in (theirs, ours)]
        history = [f"shape {shape}"]
        for _ in range(6):
            bare = views.IndexTransform(views.IndexDomain(json=pair[0].domain.to_json()))
            text = operation(random, bare)
            if is_hazardous(bare, text) or pair[0].ndim > 5:
                break
            history.append(text)
            said = "\n".join(history)
            (their_view, their_error), (my_view, my_error) = (
                done(text, library, view) for library, view in zip((theirs, ours), pair, strict=True)
            )
            assert my_error == their_error, said
            pair = [their_view, my_view]
            assert repr(my_view.domain) == repr(their_view.domain), said
            if my_view.size > 2000:
                break
            found, expected = elements(my_view), elements(their_view)
            np.testing.assert_array_equal(found, expected, said)
            # With implicit bounds TensorStore's spec may hold other elements than those that it reads.
            implicit = any(dim.implicit_lower or dim.implicit_upper for dim in my_view.domain)
            if not isinstance(expected, str) and not implicit:
                assert my_view.spec().to_json() == their_view.spec().to_json(), said
                read += 1
    assert read > 200
