"""Chunk and shard shapes that are chosen, and those that are asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blizzarr
from blizzarr.creation.chunking import auto_chunks, auto_shards, parse_bytes, resolve_chunks, resolve_shards
from blizzarr.errors import MetadataError

SHAPES = st.lists(st.integers(0, 10**6) | st.just(2**62), max_size=6).map(tuple)


@given(SHAPES, st.sampled_from([1, 2, 8, 16, 3000]), st.integers(1, 1 << 24))
def test_chunks_fit_the_aim(shape: tuple[int, ...], itemsize: int, aim: int) -> None:
    """Never above the aim (or one element), never longer than the axis, and not needlessly small."""
    chunks = auto_chunks(shape, itemsize, aim)
    assert len(chunks) == len(shape)
    assert all(length >= 1 for length in chunks)
    assert math.prod(chunks) * itemsize <= max(aim, itemsize)
    for length, chunk in zip(shape, chunks, strict=True):
        assert length == 0 or chunk <= length
        # Cut into equal parts: less than one element per chunk hangs over.
        assert length == 0 or (-(-length // chunk) * chunk - length) < -(-length // chunk)
    if 0 not in shape and math.prod(shape) * itemsize <= aim:
        assert chunks == shape


@given(SHAPES, st.integers(1, 1 << 26))
def test_shards_fit_the_aim_in_whole_chunks(shape: tuple[int, ...], aim: int) -> None:
    """Whole chunks, not above the aim unless one chunk is, and not beyond the array."""
    chunks = auto_chunks(shape, 4, 1 << 16)
    shards = auto_shards(shape, chunks, 4, aim)
    for length, chunk, shard in zip(shape, chunks, shards, strict=True):
        assert shard % chunk == 0
        assert length == 0 or shard - chunk < length
    assert math.prod(shards) * 4 <= max(aim, math.prod(chunks) * 4)


def test_slices_along_any_axis_cost_about_the_same() -> None:
    """Chunks are near to cubes."""
    assert auto_chunks((4000, 4000, 4000), 1) == (63, 125, 125)
    assert auto_chunks((10, 100_000), 4) == (10, 25_000)


def test_an_axis_that_will_grow() -> None:
    """Frames that are appended share a chunk as long as they are small."""
    assert auto_chunks((0, 1024, 1024), 2) == (1, 512, 1024)
    assert auto_chunks((0, 64, 64), 1) == (256, 64, 64)
    assert auto_chunks((0,), 1) == (1 << 20,)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (10, (10, 10, 10)),
        (-1, (100, 200, 1)),
        ((10, None, -1), (10, 200, 1)),
        ([500, 1, 1], (500, 1, 1)),
        ("8kB", (25, 25, 1)),
    ],
)
def test_what_is_asked_for(asked: Any, expected: tuple[int, ...]) -> None:
    """Lengths, whole axes, aims; an axis of length 0 has chunks of length 1."""
    assert resolve_chunks(asked, (100, 200, 0), 8)[:2] == expected[:2]


@pytest.mark.parametrize("asked", [0, -2, 1.5, (1,), (1, 2, 3), ("a", 1), (1, True)])
def test_what_cannot_be(asked: Any) -> None:
    """The axis and what was found there are named."""
    with pytest.raises(MetadataError, match="chunks"):
        resolve_chunks(asked, (10, 10), 1)


def test_all_problems_at_once() -> None:
    """Every axis that is wrong is listed."""
    with pytest.raises(MetadataError) as caught:
        resolve_shards((4, 10, 9), (3, 5, 2), (10, 10, 10), 1)
    assert [problem.path for problem in caught.value.problems] == ["shards[0]", "shards[2]"]


@pytest.mark.parametrize(
    ("shards", "chunks", "expected"),
    [
        ((100, 100, 100), "auto", (100, 100, 100)),
        ((1000, 1000, 1000), "auto", (25, 125, 125)),
        ((1000, 1000, 1000), "1kB", (5, 5, 25)),
        ((1009, 1009, 1009), None, (1, 1009, 1009)),
        (200, "auto", (100, 100, 100)),
        ((64, -1, None), "auto", (64, 125, 125)),
        (-1, "auto", (63, 125, 125)),
        ("auto", "auto", (63, 125, 125)),
        ("8MB", "auto", (63, 125, 125)),
    ],
)
def test_chunks_that_are_left_open_divide_the_shards(shards: Any, chunks: Any, expected: tuple[int, ...]) -> None:
    shape = (1000, 1000, 1000)
    found = resolve_chunks(chunks, shape, 1, shards)
    assert found == expected
    whole = resolve_shards(shards, found, shape, 1)
    assert whole is not None
    assert all(shard % chunk == 0 for shard, chunk in zip(whole, found, strict=True))


def test_lengths_of_chunks_stay_as_they_are_given_with_shards() -> None:
    with pytest.raises(MetadataError, match=r"shards\[0\]: expected a multiple of the chunk length 30, found 100"):
        blizzarr.create_array({}, shape=(300, 300), dtype="u1", chunks=(30, 50), shards=100)
    assert blizzarr.create_array({}, shape=(300, 300), dtype="u1", shards=(100, 100)).shards == (100, 100)
    with pytest.raises(MetadataError, match="one for each dimension"):
        blizzarr.create_array({}, shape=(300, 300), dtype="u1", shards=(100, 100, 100))


@pytest.mark.parametrize("options", [{}, {"chunks": (50, 50)}])
@pytest.mark.parametrize("form", ["v1", "v2"])
def test_a_format_without_shards_is_what_is_wrong(options: Any, form: str) -> None:
    with pytest.raises(MetadataError, match="expected no shards, as this format has none"):
        blizzarr.create_array({}, shape=(300, 300), dtype="u1", shards=(100, 100), zarr_format=form, **options)


def test_sizes() -> None:
    """Powers of ten and of two."""
    assert [parse_bytes(text) for text in ("1B", "2 kB", "3KiB", "1.5MB", "1GiB")] == [1, 2000, 3072, 1_500_000, 2**30]
    for text in ("8", "MB", "-1MB", "1 XB", ""):
        with pytest.raises(ValueError, match="expected a size like"):
            parse_bytes(text)


def test_as_zarr_python_has_it() -> None:
    """None and True leave it to us, False is one chunk."""
    shape = (5000, 5000)
    assert resolve_chunks(None, shape, 8) == resolve_chunks(True, shape, 8) == resolve_chunks("auto", shape, 8)
    assert resolve_chunks(False, shape, 8) == shape


@pytest.mark.parametrize("location", ["start", "end"])
def test_the_index_of_shards_is_where_it_is_asked_for(location: str) -> None:
    shards = {"shape": (4,), "index_location": location}
    array = blizzarr.create_array({}, data=np.arange(8), chunks=2, shards=shards)
    assert array.metadata.codecs.to_json()[0]["configuration"]["index_location"] == location
    assert (array.shards, array[:].tolist()) == ((4,), list(range(8)))


@pytest.mark.parametrize(
    "shards", [{"index_location": "end"}, {"shape": 4, "index_location": "middle"}, {"shape": 4, "x": 1}]
)
def test_shards_of_other_members_are_refused(shards: Any) -> None:
    with pytest.raises(blizzarr.errors.MetadataError, match="a mapping with a shape"):
        blizzarr.create_array({}, shape=8, dtype="i1", chunks=2, shards=shards)
