"""Arrays whose chunks lie in hashed sub-directories, from being made to being removed."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError, ConflictError, MetadataError, NodeExistsError, ReadOnlyError
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, Store, ZipStore
from blizzarr.transformers import ArrayKeys, HashedTransformer

DATA = np.arange(1, 10 * 14 + 1, dtype="int32").reshape(10, 14)
STORES: dict[str, Callable[[Path], Store]] = {
    "local": lambda path: LocalStore(path / "root"),
    "memory": lambda path: MemoryStore(),
    "mapping": lambda path: MappingStore({}),
}
LAYOUTS: dict[str, dict[str, Any]] = {
    "plain": {"chunks": (3, 4)},
    "raw": {"chunks": (3, 4), "compressors": None},
    "dots": {"chunks": (3, 4), "chunk_key_encoding": ("default", ".")},
    "v2 keys": {"chunks": (3, 4), "chunk_key_encoding": ("v2", "/")},
    "shards": {"chunks": (3, 2), "shards": (6, 4)},
}
HASHED = re.compile(r"g/a/[0-9a-f]{2}/[0-9a-f]{2}/")


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return STORES[request.param](tmp_path)


def make(store: Store, **options: Any) -> blizzarr.Array:
    layout = {"chunks": (3, 4), "storage_transformers": HashedTransformer(), **options}
    return blizzarr.create_array(store, name="g/a", data=DATA, **layout)


def chunks(store: Store) -> list[str]:
    return [key for key in store.list() if not key.endswith(("zarr.json", "notes.txt"))]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reading_and_writing(store: Store, layout: str) -> None:
    """All chunks are in sub-directories, documents are not; parts, points and masks read as ever."""
    z = make(store, **LAYOUTS[layout])
    expected = DATA.copy()
    assert chunks(store)
    assert all(HASHED.match(key) for key in chunks(store))
    z = blizzarr.open_array(store, path="g/a", mode="r+")
    assert z.storage_transformers == (HashedTransformer(),)
    z[2:7, 3] = expected[2:7, 3] = -1
    z.oindex[[0, 9], [13, 1]] = expected[np.ix_([0, 9], [13, 1])] = 7
    assert (z[...] == expected).all()
    assert (z[::-3, 5:2:-1] == expected[::-3, 5:2:-1]).all()
    assert (z.vindex[[1, 9], [3, 13]] == expected[[1, 9], [3, 13]]).all()
    assert z[expected == 7].tolist() == [7, 7, 7, 7, 7]
    # What holds nothing but the fill value is not stored, and what is there is counted.
    count = len(chunks(store))
    z[:6, :4] = 0
    assert len(chunks(store)) < count
    assert z.info_complete().chunks_stored == len(chunks(store))
    assert "HashedTransformer(levels=2, width=2)" in repr(z.info)
    assert z.nbytes_stored() > 0


def test_resizing_and_appending(store: Store) -> None:
    """What is cut off is erased in its sub-directory, so nothing comes back."""
    z = make(store)
    z.resize(4, 14)
    assert len(chunks(store)) == 8
    z.resize(10, 14)
    assert (z[...] == np.vstack([DATA[:4], np.zeros((6, 14))])).all()
    z.append(DATA[:2])
    assert (z[10:] == DATA[:2]).all()
    z.resize(1000, 14)
    z.resize(0, 14)
    assert chunks(store) == []


def test_a_handle_of_an_array_that_was_replaced(store: Store) -> None:
    """One whose chunks lie elsewhere now is told, and puts nothing where nobody would find it."""
    z = make(store)
    make(store, storage_transformers=HashedTransformer(1, 1), overwrite=True)
    before = sorted(store.list())
    for change in (lambda: z.append(DATA[:1]), lambda: z.resize(2, 14)):
        with pytest.raises(ConflictError, match="somebody has replaced the array"):
            change()
    assert sorted(store.list()) == before
    assert (z.refresh()[...] == DATA).all()


def test_removing_takes_what_is_its_own(store: Store) -> None:
    """Its chunks go, also those outside of its shape; somebody's file between them stays."""
    make(store)
    wrapped = HashedTransformer().wrap(store, ArrayKeys("g/a/", "c/", "/", "c", 2))
    wrapped.set("g/a/c/99/99", b"left over")
    store.set("g/a/00/notes.txt", b"mine")
    group = blizzarr.open_group(store, mode="r+")
    with pytest.raises(NodeExistsError, match=r"not ours: g/a/00/notes\.txt;"):
        del group["g"]
    with blizzarr.config.set(keep_foreign_files=True):
        del group["g"]
    assert list(store.list()) == ["g/a/00/notes.txt", "zarr.json"]


@pytest.mark.parametrize("link", ["g/a", "g/a/{first}"])
def test_removing_leaves_what_is_behind_links(link: str, tmp_path: Path) -> None:
    """A link on the way to chunks goes, and nothing behind it (row 72)."""
    store = LocalStore(tmp_path / "root")
    make(store)
    here = tmp_path / "root" / link.format(first=chunks(store)[0].split("/")[2])
    here.rename(tmp_path / "elsewhere")
    here.symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").rglob("*"))
    assert (blizzarr.open_array(store, path="g/a")[...] == DATA).all()
    del blizzarr.open_group(store, mode="r+")["g"]
    assert sorted((tmp_path / "elsewhere").rglob("*")) == before
    assert store.list() == ["zarr.json"]


def test_replacing(store: Store) -> None:
    """overwrite=True leaves nothing of the old array, whatever either array's keys are."""
    for options in ({}, {"storage_transformers": HashedTransformer(1, 1)}, {"storage_transformers": None}, {}):
        layout = {"chunks": (3, 4), "storage_transformers": HashedTransformer(), **options}
        z = blizzarr.create_array(store, name="g/a", shape=(10, 14), dtype="int32", overwrite=True, **layout)
        assert chunks(store) == []
        assert not z[...].any()
        z[...] = DATA
        assert (z[...] == DATA).all()


def test_chunks_that_an_interrupted_removal_left(store: Store) -> None:
    """Without their document they are nobody's: a new array that would show them is refused, or clears them away."""
    make(store)
    store.delete("g/a/zarr.json")
    store.set("g/a/00/notes.txt", b"mine")
    options: dict[str, Any] = {"name": "g/a", "shape": (10, 14), "dtype": "int32", "chunks": (3, 4)}
    with pytest.raises(NodeExistsError, match=r"something is here already \(g/a/c/\)"):
        blizzarr.create_array(store, storage_transformers=HashedTransformer(), **options)
    z = blizzarr.create_array(store, storage_transformers=HashedTransformer(), overwrite=True, **options)
    assert not z[...].any()
    assert list(store.list()) == ["g/a/00/notes.txt", "g/a/zarr.json", "g/zarr.json", "zarr.json"]


def test_copying(store: Store) -> None:
    """As they are: into sub-directories or out of them; stored objects are copied without being decoded."""
    z = make(store)
    away = blizzarr.copy(z, MemoryStore())
    assert away.storage_transformers == z.storage_transformers
    assert [key[len("g/a/") :] for key in chunks(store)] == chunks(away.store)
    plain = blizzarr.copy(z, MemoryStore(), storage_transformers=None)
    assert plain.storage_transformers == ()
    assert chunks(plain.store) == [f"c/{i}/{j}" for i in range(4) for j in range(4)]
    again = blizzarr.copy(plain, MemoryStore(), storage_transformers="blizzarr.hashed", chunks=(5, 7))
    assert chunks(again.store)[0].count("/") == 2
    for copy in (away, plain, again):
        assert (copy[...] == DATA).all()
    whole = blizzarr.copy(blizzarr.open_group(store), MemoryStore())
    assert (whole["g/a"][...] == DATA).all()
    assert chunks(whole.store) == chunks(store)


def test_handles(store: Store, tmp_path: Path) -> None:
    """Read only, pickled, refreshed and put into a zip file."""
    z = make(store)
    closed = blizzarr.open_array(store, path="g/a", mode="r")
    assert (closed[...] == DATA).all()
    with pytest.raises(ReadOnlyError):
        closed[0] = 1
    assert (pickle.loads(pickle.dumps(z))[2:4] == DATA[2:4]).all()
    other = blizzarr.open_array(store, path="g/a", mode="r+")
    other.resize(5, 14)
    assert (z.refresh()[...] == DATA[:5]).all()
    with ZipStore(tmp_path / "a.zip", mode="w") as packed:
        in_zip = blizzarr.copy(z, packed)
        in_zip[0, 0] = -5
        in_zip[:3, :4] = 0
    with ZipStore(tmp_path / "a.zip", mode="r") as packed:
        found = blizzarr.open_array(packed)
        assert not found[:3, :4].any()
        assert (found[3:] == DATA[3:5]).all()


def test_a_damaged_chunk_is_named(store: Store) -> None:
    """By its own key, not by that of the directory that it is in."""
    z = make(store)
    wrapped = HashedTransformer().wrap(store, ArrayKeys("g/a/", "c/", "/", "c", 2))
    wrapped.set("g/a/c/1/2", b"garbage")
    with pytest.raises(CodecError, match="chunk c/1/2 of /g/a") as caught:
        z[...]
    assert (caught.value.key, caught.value.chunk) == ("g/a/c/1/2", (1, 2))


def test_the_document_keeps_its_spelling() -> None:
    """Saved again, the entry is as it was; a short entry stays short only where it is allowed."""
    values: dict[str, bytes] = {}
    z = make(MappingStore(values))
    document = json.loads(values["g/a/zarr.json"])
    entry = {"configuration": {"width": 2, "levels": 2}, "must_understand": True, "name": HashedTransformer.extension}
    document["storage_transformers"] = [entry]
    values["g/a/zarr.json"] = json.dumps(document).encode()
    z = blizzarr.open_array(values, path="g/a", mode="r+")
    assert (z[...] == DATA).all()
    z.attrs["x"] = 1
    assert json.dumps(json.loads(values["g/a/zarr.json"])["storage_transformers"]) == json.dumps([entry])


def test_scalars_and_empty_arrays(store: Store) -> None:
    """No dimensions, and no elements."""
    z = blizzarr.create_array(store, name="s", data=np.float64(2.5), storage_transformers="blizzarr.hashed")
    assert blizzarr.open_array(store, path="s")[()] == 2.5
    assert chunks(store) == ["s/06/b9/c"]
    assert z[()] == 2.5
    empty = blizzarr.create_array(store, name="e", shape=(0, 3), dtype="uint8", storage_transformers="blizzarr.hashed")
    empty.append(np.ones((2, 3)))
    assert empty[...].all()


def test_options_are_refused_before_anything_is_stored(store: Store) -> None:
    """A name that nobody has registered, and options that cannot be."""
    for wrong in ("example.unknown", {"name": "blizzarr.hashed", "configuration": {"levels": 0}}, 3):
        with pytest.raises(MetadataError):
            blizzarr.create_array(store, shape=3, dtype="uint8", storage_transformers=wrong)
    assert list(store.list()) == []
