"""Regions: they cover the array, respect the destination and the memory, and spare the source."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blizzarr
from blizzarr.copying.regions import Regions, plan_regions


@st.composite
def plans(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]:
    """A shape, what is written at once, what is read at once, and a limit."""
    rank = draw(st.integers(0, 3))
    lengths = st.tuples(*[st.integers(0, 20)] * rank)
    chunks = st.tuples(*[st.integers(1, 9)] * rank)
    return draw(lengths), draw(chunks), draw(chunks), draw(st.integers(1, 2000))


@given(plans())
def test_every_element_once_in_whole_write_units(
    plan: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int],
) -> None:
    """Whatever the layouts, each element is copied once, and no stored object is written twice."""
    shape, write, read, limit = plan
    regions = plan_regions(shape, write, read, limit)
    seen = np.zeros(shape, int)
    count = 0
    for region in regions:
        seen[region] += 1
        count += 1
        assert seen[region].size <= max(limit, math.prod(write))
    assert (seen == 1).all()
    assert count == len(regions)
    assert all(length % unit == 0 for length, unit in zip(regions.region_shape, write, strict=True))
    assert plan_regions(shape, write, read, limit) == regions


@pytest.mark.parametrize("shape", [(2**63 - 1, 0), (0, 2**63 - 1), (2**63 - 1, 2**63 - 1, 0)])
def test_without_elements_no_length_is_too_long(shape: tuple[int, ...]) -> None:
    regions = plan_regions(shape, (5,) * len(shape), (7,) * len(shape), 1000)
    assert (regions.count, list(regions)) == (0, [])
    source = blizzarr.create_array({}, shape=shape, chunks=(5,) * len(shape), dtype="int16")
    assert blizzarr.copy(source, {}, chunks=(7,) * len(shape)).shape == shape


@pytest.mark.parametrize(
    ("shape", "write", "read"),
    [
        ((1000, 100, 100), (1000, 10, 10), (1, 100, 100)),
        ((1000, 100, 100), (1, 100, 100), (1000, 10, 10)),
        ((300, 300, 300), (100, 100, 100), (64, 64, 64)),
        ((4096, 4096), (512, 512), (4096, 1)),
    ],
)
def test_a_source_chunk_is_decoded_about_once(
    shape: tuple[int, ...], write: tuple[int, ...], read: tuple[int, ...]
) -> None:
    """With room for a quarter of the array, no layout costs more than the five times that cannot be avoided."""
    regions = plan_regions(shape, write, read, math.prod(shape) // 4)
    touched = 0
    for region in regions:
        touched += math.prod(
            -(-part.stop // length) - part.start // length for part, length in zip(region, read, strict=True)
        )
    chunks = math.prod(-(-length // part) for length, part in zip(shape, read, strict=True))
    assert touched <= 5 * chunks


def test_regions_in_order() -> None:
    """The order is fixed, so that a number says which are done."""
    assert [[(part.start, part.stop) for part in region] for region in Regions((3, 5), (2, 3))] == [
        [(0, 2), (0, 3)],
        [(0, 2), (3, 5)],
        [(2, 3), (0, 3)],
        [(2, 3), (3, 5)],
    ]
    assert list(Regions((), ())) == [()]
    assert list(Regions((0, 3), (2, 3))) == []


def test_planning_is_quick_whatever_the_size() -> None:
    """Single elements, 2^40 of them: the plan is made in a few steps, not in one for each chunk."""
    regions = plan_regions((2**40,), (1,), (1,), 2**28)
    assert regions.region_shape == (2**28,)
    assert plan_regions((2**40, 3), (1, 1), (7, 3), 2**28).region_shape[0] > 2**25


def test_row_044_regions_of_an_array_that_is_hardly_stored_are_not_listed() -> None:
    regions = Regions((2**62, 2**62), (1, 10))
    assert regions.count == 2**62 * -(-(2**62) // 10)
    assert list(islice(regions, 2)) == [(slice(0, 1), slice(0, 10)), (slice(0, 1), slice(10, 20))]
