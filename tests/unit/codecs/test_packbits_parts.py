"""Parts of chunks in which elements share bytes, of which the engine reads only the bytes that are wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import blizzarr
from blizzarr.stores import MemoryStore
from blizzarr.stores.wrapper import StoreWrapper


class Noting(StoreWrapper):
    """A store far away that notes how many bytes are read from it."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.remote = True
        self.read = 0

    def get(self, key: str) -> Any:
        value = super().get(key)
        self.read += len(value or b"")
        return value

    def get_ranges(self, key: str, ranges: Any) -> Any:
        parts = super().get_ranges(key, ranges)
        self.read += sum(map(len, parts or ()))
        return parts


@given(data=st.data())
def test_parts_of_packed_chunks_are_what_is_selected(data: st.DataObject) -> None:
    """NumPy selects the same from all elements, near and far, in any order of axes, in shards, too."""
    name = data.draw(st.sampled_from(["bool", "int2", "uint4", "float6_e2m3fn", "int16", "uint64"]))
    width = {"bool": 1, "int2": 2, "uint4": 4, "float6_e2m3fn": 6, "int16": 16, "uint64": 64}[name]
    first, last = sorted(data.draw(st.tuples(st.integers(0, width - 1), st.integers(0, width - 1))))
    shape = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 90), st.integers(1, 90)))
    options = {"shards": (4, 180, 90), "chunks": (2, 90, 90)} if data.draw(st.booleans()) else {"chunks": shape}
    store = data.draw(st.sampled_from([MemoryStore(), Noting(MemoryStore())]))
    array = blizzarr.create_array(
        store,
        shape=shape,
        dtype=name,
        filters=[{"name": "transpose", "configuration": {"order": data.draw(st.permutations(range(3)))}}],
        serializer={"name": "packbits", "configuration": {"first_bit": first, "last_bit": last}},
        compressors=None,
        **options,
    )
    array[...] = np.random.default_rng(0).integers(0, 2 ** min(width, 8), shape).astype("u1").astype(array.dtype)
    every = array[...]
    for _ in range(5):
        starts = [data.draw(st.integers(0, size - 1)) for size in shape]
        key = tuple(slice(at, data.draw(st.integers(at, at + 20)), data.draw(st.integers(1, 3))) for at in starts)
        np.testing.assert_array_equal(array[key], every[key])
    points = tuple(data.draw(st.lists(st.integers(0, size - 1), min_size=4, max_size=4)) for size in shape)
    np.testing.assert_array_equal(array[points], every[points])


def test_of_packed_elements_only_the_wanted_bytes_are_read() -> None:
    store = Noting(MemoryStore())
    elements = np.random.default_rng(0).random((3001, 4001)) < 0.5
    array = blizzarr.create_array(store, data=elements, chunks=elements.shape, serializer="packbits", compressors=None)
    store.read = 0
    np.testing.assert_array_equal(array[1000, 7:4000:3], elements[1000, 7:4000:3])
    assert store.read <= 600
    np.testing.assert_array_equal(array[-1, -9:], elements[-1, -9:])
    assert store.read <= 700


def test_parts_of_packed_elements_that_other_codecs_have_made() -> None:
    """At the end of a chunk, the last byte has room for more elements than there are."""
    for last in range(8):
        array = blizzarr.create_array(
            {},
            data=np.arange(13, dtype="int32") % 2,
            filters=[{"name": "cast_value", "configuration": {"data_type": "uint16"}}],
            serializer={"name": "packbits", "configuration": {"first_bit": 0, "last_bit": last}},
            compressors=None,
        )
        for start in range(13):
            assert array[start:].tolist() == [index % 2 for index in range(start, 13)]
