"""The grid of zarrs whose last chunks are stored as far as the array goes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError, MetadataError, UnsupportedOperationError
from blizzarr.model.chunk_grid import RegularBoundedGrid, RegularGrid

DATA = np.arange(70, dtype="i2").reshape(7, 10)


def test_last_chunks_end_with_the_array() -> None:
    """They are stored short, whole or in part, and read in part and by their numbers; another length is damage."""
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA, chunks=RegularBoundedGrid((3, 4)), compressors=None)
    named = json.loads(store["zarr.json"])["chunk_grid"]
    assert named == {"name": "zarrs.regular_bounded", "configuration": {"chunk_shape": [3, 4]}}
    assert bytes(store["c/2/2"]) == DATA[6:, 8:].tobytes()
    assert bytes(store["c/0/2"]) == DATA[:3, 8:].tobytes()
    array[5:, 3:] = 1
    model = DATA.copy()
    model[5:, 3:] = 1
    array = blizzarr.open_array(store, mode="r+")
    np.testing.assert_array_equal(array[...], model)
    np.testing.assert_array_equal(array[::-2, 9:2:-3], model[::-2, 9:2:-3])
    np.testing.assert_array_equal(array.oindex[[6, 0], [9, 9, 1]], model[np.ix_([6, 0], [9, 9, 1])])
    np.testing.assert_array_equal(array.blocks[2, 2], model[6:, 8:])
    assert (array.chunks, array.nchunks, array.nchunks_initialized) == ((3, 4), 9, 9)
    assert blizzarr.check(store).ok
    store["c/2/2"] = bytes(24)
    with pytest.raises(CodecError, match="c/2/2"):
        array[6, 9]


def test_such_an_array_keeps_its_shape() -> None:
    """Its last chunks would have to be stored anew; a copy has the grid that it is given."""
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA, chunks=RegularBoundedGrid((3, 4)), compressors=None)
    before = dict(store)
    for change in (lambda: array.resize((9, 10)), lambda: array.resize((3, 4)), lambda: array.append(DATA)):
        with pytest.raises(UnsupportedOperationError, match=r"zarrs\.regular_bounded"):
            change()
    array.resize(array.shape)
    assert store == before
    other: dict[str, Any] = {}
    blizzarr.copy(store, other, chunks=(3, 4))
    assert json.loads(other["zarr.json"])["chunk_grid"]["name"] == "regular"
    np.testing.assert_array_equal(blizzarr.open(other)[...], DATA)


@pytest.mark.parametrize("zarr_format", [2, 1, "n5", "v3_draft"])
def test_no_other_format_has_it(zarr_format: Any) -> None:
    """A copy has a plain grid, in which the elements are the same."""
    expected = r"chunk_grid: expected a regular grid.* chunks= chooses it, found \"zarrs\.regular_bounded\""
    with pytest.raises(MetadataError, match=expected):
        blizzarr.create_array({}, data=DATA, chunks=RegularBoundedGrid((3, 4)), zarr_format=zarr_format)
    array = blizzarr.create_array({}, data=DATA, chunks=RegularBoundedGrid((3, 4)), compressors=None)
    copied = blizzarr.copy(array, {}, zarr_format=zarr_format)
    assert copied.metadata.chunk_grid == RegularGrid((3, 4))
    np.testing.assert_array_equal(copied[...], DATA)


def test_shards_do_not_end_within_an_inner_chunk() -> None:
    store: dict[str, Any] = {}
    blizzarr.create_array(store, shape=(8, 8), dtype="i2", chunks=(2, 2), shards=(4, 4))
    document = json.loads(store["zarr.json"])
    document["chunk_grid"]["name"], document["shape"] = "zarrs.regular_bounded", [7, 8]
    with pytest.raises(MetadataError, match=r"chunk_shape\[0\]: expected a divisor of 1, the length of the shard"):
        blizzarr.open_array({"zarr.json": json.dumps(document).encode()})
    store = {}
    with pytest.raises(MetadataError, match="a divisor of 2"):
        blizzarr.create_array(store, shape=10, dtype="i2", chunks=4, shards=RegularBoundedGrid((8,)))
    assert not store
    array = blizzarr.create_array(store, data=np.arange(14), chunks=2, shards=RegularBoundedGrid((8,)))
    assert array[7:].tolist() == [*range(7, 14)]
