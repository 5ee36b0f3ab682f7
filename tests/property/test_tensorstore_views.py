"""TensorStore as the judge: chains of view operations give the same domain, output maps and errors."""

from __future__ import annotations

import pickle
import re
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from blizzarr import views
from blizzarr.views.basic import index_basic
from blizzarr.views.numpy_index import index_any
from blizzarr.views.numpy_terms import Mode
from blizzarr.views.points import index_points
from support.view_chains import first_view, is_hazardous, key, operation

tensorstore = pytest.importorskip("tensorstore")

CHAINS = 1500
LENGTH = 10
# TensorStore adds the transforms to its errors.
PAYLOAD = re.compile(r" \[(transform|domain|left_transform)=.*", re.DOTALL)


def done(text: str, library: ModuleType, view: Any) -> tuple[Any, tuple[str, str] | None]:
    """The view after an operation, or the class and text of the error."""
    try:
        return eval(text, {"ts": library, "x": view}), None
    except (TypeError, IndexError, ValueError) as error:
        kind = next(kind.__name__ for kind in (TypeError, IndexError, ValueError) if isinstance(error, kind))
        # What Python says of arguments that do not fit is each library's own.
        return view, (kind, "" if kind == "TypeError" else PAYLOAD.sub("", str(error)))


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


def test_the_short_way_agrees_with_the_long_one() -> None:
    """Wherever the code for simple keys answers, it answers as the general code does."""
    random = Random(5)
    answered = 0
    for _ in range(3000):
        view = eval(first_view(random), {"ts": views})
        for _ in range(3):
            view, _ = done(operation(random, view), views, view)
        form = view._form
        terms: list[Any] = []
        for dim in range(random.randint(0, form.rank)):
            lower, upper = max(form.lower[dim], -9), min(form.upper[dim], 9)
            bounds = sorted(
                random.choice([None, random.randint(lower - 1, max(lower, upper) + 1)]) or lower for _ in range(2)
            )
            if random.random() < 0.3:
                bounds.reverse()
            start, stop = (random.choice([None, bound, bound]) for bound in bounds)
            terms.append(
                random.choice(
                    [
                        bounds[0],
                        Ellipsis,
                        slice(start, stop),
                        slice(start, stop, random.choice([1, 2, 3, -1, -1, -2])),
                        None,
                    ]
                )
            )
        found = index_basic(form, tuple(terms))
        if found is not None:
            answered += 1
            assert found == index_any(form, tuple(terms), Mode.DEFAULT), (view, terms)
    assert answered > 700


@pytest.mark.parametrize("mode", Mode)
def test_the_short_way_for_arrays_agrees_with_the_long_one(mode: Mode) -> None:
    """Wherever the code for keys with arrays answers, it answers as the general code does."""
    random = Random(7)
    answered = 0
    for _ in range(4000):
        view = eval(first_view(random), {"ts": views})
        some = key(random, view)
        found = index_points(view._form, some, mode)
        if found is not None:
            answered += 1
            assert found == index_any(view._form, some, mode), (view, some)
    assert answered > 150


def test_the_short_way_for_masks_agrees_with_the_long_one() -> None:
    """Masks along one dimension, of its length or another."""
    random = Random(9)
    answered = 0
    for _ in range(1500):
        shape = [random.randint(1, 6) for _ in range(random.randint(1, 4))]
        view = views.IndexTransform(input_shape=shape).translate_by[tuple(random.randint(-2, 2) for _ in shape)]
        terms: list[Any] = []
        for length in shape[: random.randint(1, len(shape))]:
            mask = np.array([random.random() < 0.5 for _ in range(random.choice([length, length, 4]))])
            terms.append(random.choice([slice(None), 0, mask, mask, np.array([0, 0, 1])]))
        if random.random() < 0.3:
            terms.insert(random.randint(0, len(terms)), Ellipsis)
        for mode in Mode:
            found = index_points(view._form, tuple(terms), mode)
            if found is not None:
                answered += 1
                assert found == index_any(view._form, tuple(terms), mode), (view, terms)
    assert answered > 1000


def test_what_the_engine_is_told_picks_what_the_transform_says() -> None:
    """Reading through `lower` gives the elements to which each position of the domain maps."""
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
                views.lower(view, shape)
            continue
        lowered_shape, axes, scalar = views.lower(view, shape)
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
