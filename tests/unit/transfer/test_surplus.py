"""Zeros behind the data of Blosc, as z5py wrote them in 2021: read, with a warning, and found by `check`."""

from __future__ import annotations

import warnings
from typing import Any

import numcodecs
import numpy as np
import pytest
import tensorstore as ts

import blizzarr

VALUES = np.arange(12, dtype="i4").reshape(3, 4)


def padded(*keys: str, **options: Any) -> dict[str, Any]:
    """Return a store with an array, of which the chunks of these keys are followed by seven zeros."""
    store: dict[str, Any] = {}
    options = {"compressors": {"id": "blosc"}, "chunks": (2, 2), "zarr_format": 2} | options
    blizzarr.create_array(store, name="a", data=VALUES, **options)
    for key in keys:
        store[key] = store[key] + bytes(7)
    return store


def told(array: blizzarr.Array, key: Any = ...) -> list[tuple[str, str]]:
    """Return the warnings of a read, each with the file that it is about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np.array_equal(array[key], VALUES[key])
    return [(str(each.message), each.filename) for each in caught if each.category is UserWarning]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_read_warns_once_per_array(zarr_format: int) -> None:
    new = {"zarr_format": 3, "compressors": {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5}}}
    key = "a/0.1" if zarr_format == 2 else "a/c/0/1"
    array = blizzarr.open_array(padded(key, **({} if zarr_format == 2 else new)), path="a")
    assert told(array, np.s_[:, :2]) == []
    ((text, file),) = told(array)
    place = key.removeprefix("a/")
    assert text.startswith(f"chunk {place} of /a in <MappingStore")
    assert "blosc: 7 zero bytes follow the end of the encoded data; they are ignored" in text
    assert file == __file__
    assert told(array) == []
    assert told(array, (0, 2)) == []


def test_a_pool_warns_too() -> None:
    array = blizzarr.open_array(padded("a/0.1"), path="a").cached(blizzarr.CachePool(1 << 20))
    assert len(told(array)) == 1
    assert told(array) == []


def test_nothing_is_told_of_another_array() -> None:
    """What a write has met on the way is no matter of the next read."""
    store = padded("a/0.1")
    blizzarr.open_array(store, path="a")[0, 2] = 2
    assert told(blizzarr.open_array(padded(), path="a")) == []
    assert told(blizzarr.open_array(store, path="a")) == []


def test_other_readers(tmp_path: Any) -> None:
    """numcodecs ignores the zeros, and TensorStore refuses the chunk."""
    store = padded("a/0.0")
    first = np.frombuffer(numcodecs.Blosc().decode(store["a/0.0"]), "i4")
    assert first.tolist() == [0, 1, 4, 5]
    for key, value in store.items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(value)
    place = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(tmp_path / "a")}}
    with pytest.raises(ValueError, match="blosc"):
        ts.open(place).result().read().result()


def test_check_finds_them() -> None:
    store = padded("a/0.0", "a/1.1")
    (finding,) = blizzarr.check(store).findings
    assert (finding.kind, finding.path, finding.codec) == ("surplus", "/a", "blosc")
    assert finding.key in ("a/0.0", "a/1.1")
    assert finding.message == "blosc: 7 zero bytes follow the end of the encoded data, also in 1 more"
    assert blizzarr.check(store, fast=True).clean
    with pytest.warns(UserWarning, match="7 zero bytes"):
        blizzarr.copy(store, made := {}, chunks=(3, 4))
    assert blizzarr.check(made).clean
