"""The worked examples of the registry's pages of chunk grids, read at commit 4da7b37 (July 2026).

https://github.com/zarr-developers/zarr-extensions/tree/main/chunk-grids. The page of the regular grid, and those of
chunk key encodings, only link to the specification; those of storage transformers and attributes list nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blizzarr.errors import MetadataError
from support.one_document import codec, opened


def grid(*lengths: Any) -> dict[str, Any]:
    return codec("rectilinear", kind="inline", chunk_shapes=list(lengths))


def test_ways_to_declare_lengths() -> None:
    declared = grid(4, [1, 2, 3], [[4, 2]], [[1, 3], 3], [4, 4, 4])
    array = opened({}, (6, 6, 6, 6, 6), data_type="uint16", chunk_grid=declared)
    assert array.chunks == (4, (1, 2, 3), (4, 4), (1, 1, 1, 3), (4, 4, 4))


@pytest.mark.parametrize(
    ("length", "declared", "sizes"),
    [
        (6, 4, [4, 4]),
        (6, [1, 2, 3], [1, 2, 3]),
        (6, [[4, 2]], [4, 4]),
        (6, [[1, 3], 3], [1, 1, 1, 3]),
        (6, [4, 4, 4], [4, 4]),
        (10, 3, [3, 3, 3, 3]),
        (5, [[1, 5]], [1, 1, 1, 1, 1]),
    ],
)
def test_lengths(length: int, declared: Any, sizes: list[int]) -> None:
    """Each chunk is stored whole, also where it ends behind the array; one that begins there is not stored."""
    store: dict[str, bytes] = {}
    array = opened(store, (length,), data_type="uint8", codecs=["bytes"], chunk_grid=grid(declared))
    array[...] = np.arange(1, length + 1)
    chunks = sorted(key for key in store if key.startswith("c/"))
    assert [len(bytes(store[key])) for key in chunks] == sizes
    assert array[...].tolist() == list(range(1, length + 1))


def test_rectangular() -> None:
    """The name before the grid was registered, as zarrs has it; rectilinear is written."""
    older = opened({}, (6, 6), data_type="uint16", chunk_grid=codec("rectangular", chunk_shape=[[1, 2, 3], 4]))
    assert older.chunks == ((1, 2, 3), 4)
    assert older.metadata.chunk_grid.to_configuration() == {"kind": "inline", "chunk_shapes": [[1, 2, 3], 4]}
    assert older.metadata.chunk_grid.name == "rectilinear"
    with pytest.raises(MetadataError, match=r"\.chunk_shape\[0\]: expected edge lengths that sum to at least 7"):
        opened({}, (7, 6), data_type="uint16", chunk_grid=codec("rectangular", chunk_shape=[[1, 2, 3], 4]))


def test_an_index_finds_its_chunk() -> None:
    store: dict[str, bytes] = {}
    array = opened(store, (26, 38), data_type="uint8", codecs=["bytes"], chunk_grid=grid([16, 10], [24, 14]))
    array[20, 15] = 1
    assert [key for key in store if key.startswith("c/")] == ["c/1/0"]
    chunk = np.frombuffer(bytes(store["c/1/0"]), "u1").reshape(10, 24)
    assert np.argwhere(chunk).tolist() == [[4, 15]]
    array[...] = 1
    assert {key: len(bytes(store[key])) for key in store if key != "zarr.json"} == {
        "c/0/0": 16 * 24,
        "c/0/1": 16 * 14,
        "c/1/0": 10 * 24,
        "c/1/1": 10 * 14,
    }


def test_a_regular_grid_is_a_rectilinear_one() -> None:
    data = np.arange(35, dtype="u2").reshape(5, 7)
    store: dict[str, bytes] = {}
    opened(store, (5, 7), data_type="uint16", chunk_grid=codec("regular", chunk_shape=[2, 3]))[...] = data
    array = opened(store, (5, 7), data_type="uint16", chunk_grid=grid(2, 3))
    assert np.array_equal(array[...], data)


@pytest.mark.parametrize("declared", [0, [0, 6], [[0, 2], 6], [[6, 0]], [[3, 2, 1]], [[3]], [1, 2], [-6, 12], "6"])
def test_lengths_that_are_refused(declared: Any) -> None:
    with pytest.raises(MetadataError, match="chunk_shapes"):
        opened({}, (6,), chunk_grid=grid(declared))


def test_other_kinds_and_other_ranks_are_refused() -> None:
    with pytest.raises(MetadataError, match="kind"):
        opened({}, (6,), chunk_grid=codec("rectilinear", kind="stored", chunk_shapes=[6]))
    with pytest.raises(MetadataError, match="chunk_shapes"):
        opened({}, (6, 6), chunk_grid=grid(6))
