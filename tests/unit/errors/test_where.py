"""Errors of reading and writing say which array of which store they are about."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ts
from blizzarr.errors import ChecksumError, CodecError, StoreError
from blizzarr.stores import LocalStore, MemoryStore, StoreWrapper, ZipStore, read_only


def damaged(store: Any, path: str = "", *, shape: tuple[int, ...] = (4,)) -> Any:
    """An array of two chunks, the first of which fails its checksum."""
    array = blizzarr.create_array(store, name=path, shape=shape, chunks=(2,), dtype="i1", codecs=["bytes", "crc32c"])
    array[:] = 1
    key = f"{path}/c/0".removeprefix("/")
    array.store.set(key, b"\x07" + bytes(array.store.get(key))[1:])
    return array


@pytest.mark.parametrize(("path", "place"), [("", "of {store}"), ("a/b", "of /a/b in {store}")])
@pytest.mark.parametrize("act", ["read", "write", "resized"])
def test_the_file_is_named(tmp_path: Path, path: str, place: str, act: str) -> None:
    root = str(tmp_path / "h.zarr")
    array = damaged(root, path)
    if act == "resized":
        array.resize((3,))
    acts = {"read": lambda: array[:], "write": lambda: array.__setitem__(0, 3)}
    with pytest.raises(ChecksumError) as caught:
        acts.get(act, acts["read"])()
    said = f"cannot decode chunk c/0 {place.format(store=root)}: crc32c: "
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert str(error).startswith(said)
        assert (error.store, error.array, error.chunk) == (root, f"/{path}", (0,))


@pytest.mark.parametrize(
    ("key", "chunk", "place"),
    [
        ("k/0-2_0-2_4-6", (0, 0, 2), "chunk k/0-2_0-2_4-6 of"),
        ("c/2/1", (2, 1), "chunk c/2/1 of"),
        ("c/2/1", (2, 1, 0, 3), "inner chunk 0/3 of chunk c/2/1 of"),
        ("c/2", (2, 2), "inner chunk 2 of chunk c/2 of"),
        ("c", (), "chunk c of"),
        ("9" * 5000 + "/c/2", (2, 2), "inner chunk 2 of chunk 999"),
    ],
)
def test_keys_that_tell_other_numbers_are_of_no_shard(key: str, chunk: tuple[int, ...], place: str) -> None:
    """As those of volumes, which say where chunks begin and end."""
    assert str(CodecError("wrong", store="/v", array="/", key=key, chunk=chunk)).startswith(place)


def test_other_ways_to_the_same_chunk(tmp_path: Path) -> None:
    """Wrapped, in a zip file, through TensorStore's face: the place is the one that holds the bytes."""
    root = str(tmp_path / "a")
    damaged(root)
    with ZipStore(tmp_path / "a.zip", "w") as archive:
        for key in ("zarr.json", "c/0", "c/1"):
            archive.set(key, (tmp_path / "a" / key).read_bytes())
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": root}}
    zipped = {"driver": "zarr3", "kvstore": f"file://{root}.zip|zip:"}
    opened = ts.open(spec).result()
    ways = {
        root: [
            lambda: blizzarr.open(read_only(LocalStore(root)))[:],
            lambda: blizzarr.open_array(root, mode="r").cached(blizzarr.CachePool(1 << 20))[:],
            lambda: blizzarr.open(root)[0],
            lambda: asyncio.run(awaited(opened)),
            lambda: opened.read().result(),
            lambda: opened[0].write(3).result(),
        ],
        f"{root}.zip": [
            lambda: blizzarr.open(f"{root}.zip")[:],
            lambda: ts.open(zipped).result().read().result(),
        ],
    }
    for place, reads in ways.items():
        for read in reads:
            with pytest.raises(ChecksumError) as caught:
                read()
            assert str(caught.value).startswith(f"cannot decode chunk c/0 of {place}: crc32c: ")
            assert caught.value.store == place


async def awaited(view: Any) -> Any:
    return await view.read()


def test_in_a_transaction(tmp_path: Path) -> None:
    root = str(tmp_path / "a")
    damaged(root)
    with ts.Transaction() as transaction:
        opened = ts.open({"driver": "zarr3", "kvstore": f"file://{root}"}, transaction=transaction).result()
        with pytest.raises(ChecksumError, match=rf"chunk c/0 of {root}: "):
            opened.read().result()


def test_elements_that_are_objects(tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path / "t", shape=(2,), chunks=(2,), dtype=str, compressors=None)
    array.store.set("c/0", b"\x02\0\0\0")
    with pytest.raises(CodecError) as caught:
        array[:]
    assert str(caught.value).startswith(f"cannot decode chunk c/0 of {tmp_path / 't'}: vlen-utf8: ")


def test_stores_in_memory() -> None:
    """What a store says of itself is its name."""
    memory = MemoryStore()
    with pytest.raises(ChecksumError) as caught:
        damaged(memory)[:]
    assert caught.value.store == str(memory)


def test_a_store_that_cannot_say_where_it_is() -> None:
    """What is damaged is told all the same."""

    class Silent(StoreWrapper):
        def __str__(self) -> str:
            raise RuntimeError("no name")

    array = damaged(Silent(MemoryStore()))
    with pytest.raises(ChecksumError, match=r"^cannot decode chunk c/0 of /: crc32c: ") as caught:
        array[:]
    assert caught.value.store is None


def test_the_system_says_no(tmp_path: Path) -> None:
    """Errors of files have the place, too."""
    array = damaged(tmp_path / "a")
    (tmp_path / "a" / "c" / "1").unlink()
    (tmp_path / "a" / "c" / "1").mkdir()
    with pytest.raises(StoreError) as caught:
        array[2:]
    assert caught.value.store == str(tmp_path / "a")
    assert np.ndim(array.shape) == 1
