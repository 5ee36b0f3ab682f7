"""What an array says about itself, under the names that users of zarr-python know."""

from __future__ import annotations

import os
import pickle
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import TransposeCodec
from blizzarr.stores import LocalStore, MemoryStore
from support.arrays import make
from support.user_stores import Least


def test_numpy_names() -> None:
    z = make(shape=(3, 4), dtype="int16", chunks=(2, 2))
    assert (z.shape, z.ndim, z.size, z.itemsize, z.nbytes, z.dtype) == ((3, 4), 2, 12, 2, 24, np.dtype("int16"))
    assert (len(z), z.order, z.fill_value, z.fill_value.dtype) == (3, "C", 0, np.dtype("int16"))


def test_names_in_the_hierarchy() -> None:
    z = make(shape=(1,), dtype="u1", path="a/b")
    assert (z.path, z.name, z.basename, z.read_only) == ("a/b", "/a/b", "b", False)
    assert z.metadata.shape == (1,)


def test_chunks_are_the_inner_ones_and_counts_follow() -> None:
    z = make(shape=(10, 10), dtype="u1", chunks=(2, 5), shards=(4, 10))
    assert (z.chunks, z.shards, z.cdata_shape, z.nchunks) == ((2, 5), (4, 10), (5, 2), 10)
    assert make(shape=(10,), dtype="u1", chunks=(4,)).shards is None


def test_initialized_chunks_are_those_of_stored_objects() -> None:
    """zarr-python's count: a stored shard counts for all of its chunks."""
    z = make(shape=(10, 10), dtype="u1", chunks=(2, 5), shards=(4, 10))
    assert z.nchunks_initialized == 0
    z[0, 0] = 1
    assert z.nchunks_initialized == 4
    plain = make(shape=(10, 10), dtype="u1", chunks=(5, 5))
    plain[...] = 1
    plain[:5] = 0
    assert plain.nchunks_initialized == 2


def test_initialized_chunks_leave_out_what_cannot_be_read() -> None:
    z = make(np.ones(9, "u1"), chunks=(3,))
    z.store.set("a/c/7", b"left by somebody")
    z.store.set("a/c/x", b"no chunk")
    z.store.set("a/c/02", b"no chunk either")
    assert z.nchunks_initialized == 3


def test_initialized_chunks_are_counted_by_their_keys_where_keys_are_no_files() -> None:
    z = make(np.eye(4, dtype="u1"), chunks=(2, 2))
    for key in ("a/c/0", "a/c/0/0/note", "a/c/0/1/note"):
        z.store.set(key, b"beside chunks")
    assert z.nchunks_initialized == 2


def test_stored_bytes_count_documents_and_chunks() -> None:
    z = make(np.ones((4, 4), "u1"), chunks=(2, 2), compressors=None)
    document = len(z.store.get("a/zarr.json"))
    assert z.nbytes_stored() == document + 4 * 4


def test_codecs_are_those_of_a_chunk() -> None:
    """As zarr-python has it: in a shard those of its inner chunks."""
    filters = [TransposeCodec(order=(1, 0))]
    for shards in (None, (4, 4)):
        z = make(shape=(4, 4), dtype="u2", chunks=(2, 2), shards=shards, filters=filters, compressors="gzip")
        assert [codec.name for codec in z.filters] == ["transpose"]
        assert (z.serializer.name, [codec.name for codec in z.compressors]) == ("bytes", ["gzip"])
        assert z.order == "F"


def test_repr_is_one_line_with_the_place(tmp_path: object) -> None:
    store = LocalStore(f"{tmp_path}/ä [1]")
    z = make(store=store, shape=(10, 10), dtype="f4", chunks=(5, 5))
    place = os.path.join(store.root, "a")
    assert repr(z) == f"<Array {place!r} shape=(10, 10) dtype=float32 chunks=(5, 5)>"
    assert blizzarr.open_array(place).shape == (10, 10)
    assert repr(z.cached(blizzarr.CachePool(1 << 20))) == repr(z)
    assert repr(make(shape=(8,), dtype="f4", chunks=2, shards=4)).endswith(" chunks=(2,) shards=(4,)>")
    assert repr(make(shape=(), dtype="f4", store=MemoryStore())).startswith("<Array '/a in ")


def test_what_only_numpy_has_is_asked_of_the_elements() -> None:
    z = make(np.arange(4.0), chunks=2)
    with pytest.raises(AttributeError, match=r"no attribute 'mean'; read elements first, .*: array\[\.\.\.\]\.mean$"):
        z.mean()
    with pytest.raises(AttributeError, match=r"has no attribute 'maen'$"):
        z.maen()
    assert (np.mean(z), np.sum(z), np.max(z)) == (1.5, 6, 3)
    assert not hasattr(z, "__array_interface__")


def test_info_is_a_table_of_facts() -> None:
    z = make(np.ones((10, 10), "f4"), chunks=(5, 5), shards=(10, 10), dimension_names=("y", None))
    text = repr(z.info).splitlines()
    assert "Shape        : (10, 10)" in text
    assert "Shard shape  : (10, 10)" in text
    assert "Dimensions   : ('y', None)" in text
    assert "Bytes        : 400" in text
    assert z.info.bytes_stored is None


def test_complete_info_looks_at_what_is_stored() -> None:
    z = make(np.ones((10, 10), "f4"), chunks=(5, 5))
    z[:5] = 0
    info = z.info_complete()
    assert (info.chunks_stored, info.bytes_stored) == (2, z.nbytes_stored())
    assert "Chunks stored: 2" in repr(info)
    assert info.to_dict()["chunk_shape"] == (5, 5)


def test_attributes_are_stored_and_survive_a_resize() -> None:
    z = make(shape=(4,), dtype="u1", chunks=(2,))
    assert z.update_attributes({"units": "mm"}) is z
    z.attrs["scale"] = [1, 2]
    z.resize(6)
    assert z.refresh().attrs.asdict() == {"units": "mm", "scale": [1, 2]}
    assert z.shape == (6,)


def test_refresh_sees_what_others_did() -> None:
    z = make(np.arange(4), chunks=(2,))
    other = make_again(z)
    other.append([7])
    assert z.shape == (4,)
    assert z.refresh().shape == (5,)
    assert z[4] == 7


def make_again(z: object) -> object:
    return type(z)(z.store, z.path, z.metadata)  # type: ignore[attr-defined, call-arg]


@pytest.mark.parametrize("name", ["filters", "serializer", "compressors", "shape", "chunks"])
def test_facts_cannot_be_set(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(make(shape=(4,), dtype="u1"), name, None)


@pytest.mark.parametrize("number", [3, 3.0, 3j, True])
def test_an_array_equals_no_number(number: object) -> None:
    """A mask that is made so selects nothing, which its author should know."""
    array = blizzarr.create_array({}, data=np.arange(5))
    with pytest.warns(UserWarning, match=r"equals no number.* array\[\.\.\.\]"):
        assert (array == number) is False
    with pytest.warns(UserWarning, match="equals no number; to compare its elements, read them"):
        assert (array != number) is True
    assert (array == np.float64(3)).tolist() == (array == np.full(5, 3)).tolist() == [False, False, False, True, False]


def test_handles_of_one_array_are_equal(tmp_path: Path) -> None:
    """As for groups: those of the same path in the same store, also in another process."""
    z = make(np.arange(4), store=LocalStore(tmp_path))
    again = blizzarr.open_array(LocalStore(tmp_path), path="a")
    assert (pickle.loads(pickle.dumps(z)) == z, z == again, z == make_again(z), len({z, again})) == (
        True,
        True,
        True,
        1,
    )
    other = make(np.arange(4), store=LocalStore(tmp_path), path="b")
    assert (z == other, z == make(np.arange(4)), z == "3") == (False, False, False)
    assert (z == np.arange(4)).tolist() == [True, True, True, True]


_urls = (f"memory://facts-{number}" for number in count())


@pytest.mark.parametrize("mode", ["r+", "r"])
@pytest.mark.parametrize("make_target", [dict, lambda: next(_urls), Least], ids=["mapping", "fsspec", "object"])
def test_handles_in_any_store_are_equal(make_target: Any, mode: Any) -> None:
    target, other = make_target(), make_target()
    for each in (target, other):
        blizzarr.create_array(each, data=np.arange(4))
    one, again = (blizzarr.open_array(target, mode=mode) for _ in range(2))
    assert (one == again, len({one, again})) == (True, 1)
    assert (one == blizzarr.open_array(target, mode="r" if mode == "r+" else "r+")) is False
    assert (one == blizzarr.open_array(other, mode=mode)) is False
