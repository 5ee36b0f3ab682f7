"""A view that is all of what was opened is not composed with it."""

from __future__ import annotations

from random import Random

import pytest

from blizzarr.errors import BlizzarrError
from blizzarr.indexing.form import Form, Map, identity_maps
from blizzarr.indexing.interval import INF
from blizzarr.tensorstore.opening import _is_all_of
from blizzarr.views.compose import compose


def a_form(random: Random, rank: int, maps: tuple[Map, ...]) -> Form:
    """Few bounds, so that many are the same."""
    lower = tuple(random.choice([-INF, -3, 0, 0, 0]) for _ in range(rank))
    upper = tuple(random.choice([0, 4, 4, 4, INF + 1]) for _ in range(rank))
    flags = [tuple(random.random() < 0.5 for _ in range(rank)) for _ in range(2)]
    labels = tuple(random.choice(["", "x"]) if dim == 0 else "" for dim in range(rank))
    return Form(lower, upper, *flags, labels, maps)


@pytest.mark.parametrize("seed", range(4))
def test_what_composing_would_say(seed: int) -> None:
    """Whatever is taken for everything, composing gives the form itself."""
    random, taken = Random(seed), 0
    for _ in range(5000):
        rank = random.randint(0, 2)
        form = a_form(random, rank, tuple((dim, random.randint(-2, 2), 1) for dim in range(rank)))
        view = a_form(random, rank, identity_maps(rank))
        if not _is_all_of(view, form):
            continue
        taken += 1
        try:
            assert compose(form, view) == form
        except BlizzarrError as error:
            raise AssertionError((form, view)) from error
    assert taken > 500


def test_parts_are_no_views_of_everything() -> None:
    """Another bound, another label, or another map."""
    form = Form((0,), (4,), (False,), (False,), ("x",), ((0, 0, 1),))
    assert _is_all_of(form, form)
    assert _is_all_of(form._replace(lower=(-9,), implicit_lower=(True,)), form)
    for other in (
        form._replace(upper=(3,)),
        form._replace(labels=("",)),
        form._replace(maps=((0, 1, 1),)),
        form._replace(maps=(0,)),
    ):
        assert not _is_all_of(other, form)
    assert not _is_all_of(form, form._replace(implicit_upper=(True,)))
