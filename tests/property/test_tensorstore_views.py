"""TensorStore as the judge: chains of view operations give the same domain, output maps and errors."""

from __future__ import annotations

import pickle
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from blizzarr import views
from blizzarr.indexing import lower_form
from support.view_chains import first_view, is_hazardous, operation
from unit.spec.oracle import refusal_of

tensorstore = pytest.importorskip("tensorstore")

CHAINS = 1500
LENGTH = 10


def done(text: str, library: ModuleType, view: Any) -> tuple[Any, tuple[str, object] | None]:
    """The view after an operation, or the class and content of the error."""
    try:
        return eval(text, {"ts": library, "x": view}), None
    except (TypeError, IndexError, ValueError) as error:
        kind = next(kind.__name__ for kind in (TypeError, IndexError, ValueError) if isinstance(error, kind))
        # What Python says of arguments that do not fit is each library's own.
        return view, (kind, "" if kind == "TypeError" else refusal_of(error))


def compare_chain(random: Random) -> int:
    """Ten operations, one after the other, compared after each; gives how many there were."""
    history = [first_view(random)]
    theirs, mine = (eval(history[0], {"ts": library}) for library in (tensorstore, views))
    for done_before in range(LENGTH):
        text = operation(random, theirs)
        if theirs.ndim > 6 or is_hazardous(mine, text):
            return done_before
        history.append(text)
        said = "\n".join(history)
        theirs, their_error = done(text, tensorstore, theirs)
        mine, my_error = done(text, views, mine)
        assert my_error == their_error, said
        assert repr(mine) == repr(theirs), said
        assert mine.to_json() == theirs.to_json(), said
    return LENGTH


@pytest.mark.parametrize(
    "block", [*range(4), *(pytest.param(block, marks=pytest.mark.thorough) for block in range(4, 10))]
)
def test_chains_of_views(block: int) -> None:
    """Ten operations on a transform: after each of them the transform, its JSON and any error are the same."""
    seeds = range(block * CHAINS // 10, (block + 1) * CHAINS // 10)
    assert sum(compare_chain(Random(seed)) for seed in seeds) > 1000


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(random=strategies.randoms(use_true_random=False))
def test_chains_that_hypothesis_finds(random: Random) -> None:
    """The same, with a search for the simplest chain that differs."""
    compare_chain(random)


def test_what_two_dimensions_have_in_common() -> None:
    """Intersections and hulls of all kinds of bounds, implicit or not."""
    random = Random(3)
    for _ in range(3000):
        pair = []
        for _ in range(2):
            lower, upper = sorted(random.sample(range(-3, 6), 2))
            text = f"implicit_lower={random.random() < 0.5}, implicit_upper={random.random() < 0.5}"
            text += f", inclusive_min={lower}" * (random.random() < 0.8) + f", exclusive_max={upper}" * (
                random.random() < 0.8
            )
            pair.append(f"ts.Dim({text})")
        for method in ("intersect", "hull"):
            said = f"str({pair[0]}.{method}({pair[1]}))"
            assert eval(said, {"ts": views}) == eval(said, {"ts": tensorstore}), said


def test_transforms_survive_json_and_pickle() -> None:
    """What a chain leads to is the same after JSON or pickle; each library reads the JSON of the other."""
    for seed in range(150):
        random = Random(seed)
        theirs = eval(first_view(random), {"ts": tensorstore})
        mine = views.IndexTransform(json=theirs.to_json())
        for _ in range(5):
            text = operation(random, theirs)
            if is_hazardous(mine, text):
                break
            theirs, mine = done(text, tensorstore, theirs)[0], done(text, views, mine)[0]
        assert views.IndexTransform(json=theirs.to_json()) == views.IndexTransform(json=mine.to_json())
        assert tensorstore.IndexTransform(json=mine.to_json()) == tensorstore.IndexTransform(json=theirs.to_json())
        assert pickle.loads(pickle.dumps(mine)) == mine
        assert pickle.loads(pickle.dumps(mine.domain)) == mine.domain


def test_what_the_engine_is_told_picks_what_the_transform_says() -> None:
    """Reading through `lower_form` gives the elements to which each position of the domain maps."""
    random = Random(11)
    read = 0
    for _ in range(400):
        rank = random.randint(1, 3)
        shape = tuple(random.randint(1, 5) for _ in range(rank))
        array = np.arange(int(np.prod(shape))).reshape(shape)
        view = views.IndexTransform(input_shape=shape)
        for _ in range(4):
            found, error = done(operation(random, view), views, view)
            if error is None and found.ndim <= 5:
                view = found
        if view.size > 2000:
            continue
        elements = elements_of(view, shape)
        if elements is None:
            with pytest.raises(IndexError, match="OUT_OF_RANGE"):
                lower_form(views.form_of(view), shape)
            continue
        lowered_shape, axes, scalar = lower_form(views.form_of(view), shape)
        assert (lowered_shape, scalar) == (view.shape, False)
        np.testing.assert_array_equal(picked(array, lowered_shape, axes), array.reshape(-1)[elements], str(view))
        read += 1
    assert read > 200


def elements_of(view: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """For each position of the domain the number of its element; None if one is outside of the array."""
    found = np.zeros(view.shape, int)
    for place in np.ndindex(*view.shape):
        try:
            element = view([origin + index for origin, index in zip(view.origin, place, strict=True)])
        except ValueError:
            return None
        if not all(0 <= index < size for index, size in zip(element, shape, strict=True)):
            return None
        found[place] = np.ravel_multi_index(element, shape)
    return found


def picked(array: np.ndarray, shape: tuple[int, ...], axes: Any) -> np.ndarray:
    """What the engine would pick, in NumPy."""
    places = []
    for axis in axes:
        if isinstance(axis, int):
            places.append(np.array(axis))
        elif len(axis) == 3:
            dim, start, step = axis
            along = start + step * np.arange(shape[dim])
            places.append(along.reshape([-1 if own == dim else 1 for own in range(len(shape))]))
        else:
            dims, indices = axis
            places.append(indices.reshape([shape[own] if own in dims else 1 for own in range(len(shape))]))
    return np.broadcast_to(array[tuple(places)], shape)
