"""Copying: any source to any layout, in parts, and on from where it was interrupted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blizzarr import api
from blizzarr.array import Array
from blizzarr.config import config
from blizzarr.errors import ArchiveError, CodecError, ConflictError, NodeExistsError, NodeNotFoundError, StoreError
from blizzarr.group import Group
from blizzarr.hierarchy.belongings import PROGRESS
from blizzarr.stores import MappingStore, MemoryStore, ZipStore

DATA = np.arange(1, 1201, dtype="i4").reshape(30, 40)
LAYOUTS: list[dict[str, Any]] = [
    {},
    {"chunks": (7, 40)},
    {"chunks": (5, 8), "shards": (10, 16)},
    {"chunks": 10, "compressors": "gzip", "order": "F"},
    {"chunks": (30, 1), "codecs": ["bytes", "crc32c"]},
    {"dtype": "f8", "chunks": (4, 4)},
]


def made(values: Any = None, **options: Any) -> Array:
    """A source."""
    return api.create_array({} if values is None else values, data=DATA, **options)


@pytest.mark.parametrize("old", LAYOUTS[:4])
@pytest.mark.parametrize("new", LAYOUTS)
@pytest.mark.parametrize("limit", [1, 1000, 1 << 20])
def test_every_layout_to_every_layout(old: dict[str, Any], new: dict[str, Any], limit: int) -> None:
    """The elements are the same, whatever the layouts and however small the parts; nothing else is left behind."""
    source = made(dimension_names=["y", "x"], attributes={"a": [1]}, **old)
    values: dict[str, bytes] = {}
    told: list[tuple[int, int]] = []
    with config.set(copy_bytes=limit):
        target = api.copy(source, values, progress=lambda done, total: told.append((done, total)), **new)
    assert isinstance(target, Array)
    assert np.array_equal(target[...], DATA)
    assert target.dtype == new.get("dtype", "i4")
    assert (target.dimension_names, dict(target.attrs)) == (("y", "x"), {"a": [1]})
    assert PROGRESS not in values
    assert told[0] == (0, DATA.nbytes)
    assert told[-1] == (DATA.nbytes, DATA.nbytes) or new.get("dtype")
    assert told == sorted(told)


def test_the_same_layout_is_copied_without_decoding() -> None:
    """Stored objects are the same bytes, also those that cannot be decoded; what is missing stays missing."""
    old: dict[str, bytes] = {}
    source = made(old, chunks=10)
    source[:10, :10] = 0
    old["c/1/1"] = b"damaged"
    new: dict[str, bytes] = {}
    told: list[int] = []
    target = api.copy(source, new, chunk_key_encoding="v2", progress=lambda done, total: told.append(done))
    assert isinstance(target, Array)
    assert {key.replace("/", ".").removeprefix("c."): value for key, value in old.items() if key != "zarr.json"} == {
        key: value for key, value in new.items() if key != "zarr.json"
    }
    assert "0.0" not in new
    assert told[-1] == DATA.nbytes
    with pytest.raises(CodecError):
        target[...]
    with pytest.raises(CodecError, match="c/1/1"):
        api.copy(source, {}, chunks=20)


class Interrupted(dict[str, bytes]):
    """A mapping that is interrupted at a certain write of a chunk."""

    def __init__(self, left: int, values: dict[str, bytes] | None = None) -> None:
        super().__init__(values or {})
        self.left = left
        self.written = 0

    def __setitem__(self, key: str, value: bytes) -> None:
        if "c/" in key:
            if self.left == 0:
                raise OSError(28, "No space left on device")
            self.left -= 1
            self.written += 1
        super().__setitem__(key, value)


@pytest.mark.parametrize("new", [{"chunks": (5, 40)}, {"chunks": (4, 7)}, {"chunks": (5, 10), "shards": (10, 20)}])
@pytest.mark.parametrize("left", [0, 1, 2, 5])
def test_an_interrupted_copy_is_finished(new: dict[str, Any], left: int) -> None:
    """Row 81: whenever it stops, going on gives the whole array, and does not begin from the start."""
    source = made(chunks=10)
    values = Interrupted(left)
    with config.set(copy_bytes=1):
        with pytest.raises(StoreError, match="No space left"):
            api.copy(source, values, **new)
        assert PROGRESS in values
        with pytest.raises(NodeExistsError, match="resume=True finishes it"):
            api.copy(source, values, **new)
        values.left, values.written = 10_000, 0
        told: list[int] = []
        target = api.copy(source, values, resume=True, progress=lambda done, total: told.append(done), **new)
    assert isinstance(target, Array)
    assert np.array_equal(target[...], DATA)
    assert PROGRESS not in values
    objects = sum(key.startswith("c/") for key in values)
    assert values.written <= objects - left + 1
    assert told[-1] == DATA.nbytes
    values.left = 0
    assert np.array_equal(api.copy(source, values, resume=True, **new)[...], DATA)


def test_the_same_layout_is_resumed_too() -> None:
    """Also where nothing is decoded, an interruption costs little."""
    source = made(chunks=1)
    values = Interrupted(700)
    with pytest.raises(StoreError, match="No space left"):
        api.copy(source, values)
    assert json.loads(values[PROGRESS])["done"] == 512
    values.left, values.written = 10_000, 0
    target = api.copy(source, values, resume=True)
    assert np.array_equal(target[...], DATA)
    assert values.written <= 1200 - 512


def test_progress_is_a_function() -> None:
    """It was called at the end of all planning, and bool is not callable."""
    place: dict[str, bytes] = {}
    for call in (
        lambda: api.copy("nowhere", place, progress=True),
        lambda: api.check("nowhere", progress=True),
        lambda: api.diff("nowhere", "nowhere", progress=True),
        lambda: api.upgrade("nowhere", progress=True),
    ):
        with pytest.raises(TypeError, match=r"called as progress\(done, total\), found True"):
            call()


def test_resuming_with_a_codec_that_differs_far_behind() -> None:
    """Both lists of codecs were cut to the same text."""
    values = Interrupted(3)
    codecs = [{"name": "transpose", "configuration": {"order": [0, 1]}}, "bytes", "zstd"]
    with config.set(copy_bytes=1), pytest.raises(StoreError):
        api.copy(made(chunks=10), values, codecs=[*codecs, "crc32c"])
    values.left = 10_000
    with pytest.raises(ConflictError, match=r'codecs\[3\] of / {"name": "crc32c"} then, nothing now; copy'):
        api.copy(made(chunks=10), values, codecs=codecs, resume=True)


def test_resuming_something_else() -> None:
    """Another source or layout, or an array that is no copy, is refused and left as it is."""
    source = made(chunks=10)
    values = Interrupted(3)
    with config.set(copy_bytes=1), pytest.raises(StoreError):
        api.copy(source, values, chunks=5)
    values.left = 10_000
    before = dict(values)
    with pytest.raises(ConflictError, match=r"chunk_grid of / .*\[5, 5\].* then, .*\[6, 6\].* now; copy with the same"):
        api.copy(source, values, chunks=6, resume=True)
    with (
        config.set(copy_bytes=2000),
        pytest.raises(ConflictError, match=r"memory limit .* 1 then, 2000 now; copy"),
    ):
        api.copy(source, values, chunks=5, resume=True)
    with pytest.raises(ConflictError):
        api.copy(made(chunks=10)[:, ::-1], values, chunks=5, resume=True)
    assert dict(values) == before
    other: dict[str, bytes] = {}
    api.save(other, np.arange(3))
    before = dict(other)
    with pytest.raises(NodeExistsError, match="found another array"):
        api.copy(source, other, resume=True)
    assert other == before
    assert np.array_equal(api.copy(source, values, chunks=6, overwrite=True)[...], DATA)
    assert PROGRESS not in values


@pytest.mark.parametrize(("options", "left"), [({"chunks": 5}, 3), ({"chunks": 1}, 700)], ids=["elements", "objects"])
@pytest.mark.parametrize("where", ["directory", "memory", "npy"])
def test_resuming_after_the_source_has_changed(tmp_path: Path, where: str, options: dict[str, Any], left: int) -> None:
    """What has been copied may be of the old one, so going on would make a mixture."""
    file = tmp_path / "x.npy"
    np.save(file, DATA)
    places = {"directory": tmp_path / "x", "memory": MemoryStore()}
    source = file if where == "npy" else made(places[where], chunks=1)
    values = Interrupted(left)
    with config.set(copy_bytes=1):
        with pytest.raises(StoreError):
            api.copy(source, values, **options)
        values.left = 0
        with pytest.raises(StoreError, match="No space left"):
            api.copy(source, values, resume=True, **options)
        if isinstance(source, Array):
            source[0, 0] = -1
        else:
            np.save(file, -DATA)
        values.left, before = 10_000, dict(values)
        with pytest.raises(ConflictError, match="source has changed"):
            api.copy(source, values, resume=True, **options)
        assert dict(values) == before
        target = api.copy(source, values, overwrite=True, **options)
    assert target[0, 0] == -1


@pytest.mark.parametrize("change", ["attributes", "shape", "fill value"])
def test_resuming_after_the_metadata_of_the_source_have_changed(change: str) -> None:
    """Also of a store that does not say when it was written."""
    source, values = made(chunks=10), Interrupted(3)
    with config.set(copy_bytes=1), pytest.raises(StoreError):
        api.copy(source, values, chunks=5, attributes={"own": 1}, fill_value=0)
    values.left = 10_000
    if change == "attributes":
        source.attrs["a"] = 1
    elif change == "shape":
        source.resize((31, 40))
    else:
        source = made(source.store.mapping, chunks=10, fill_value=7, overwrite=True)
    with config.set(copy_bytes=1), pytest.raises(ConflictError):
        api.copy(source, values, chunks=5, attributes={"own": 1}, fill_value=0, resume=True)


def test_a_finished_copy_in_a_zip_file_is_whole(tmp_path: Path) -> None:
    """Nothing can be deleted there, but the directory does not list the record: a check finds nothing."""
    source = made(chunks=10)
    with ZipStore(tmp_path / "x.zip", mode="w") as store:
        api.copy(source, store)
        assert PROGRESS not in list(store.list())
    assert [str(finding) for finding in api.check(tmp_path / "x.zip").findings] == []


@pytest.mark.parametrize("source", [np.arange(3), np.array([b"a"]), np.zeros(2, "i4,i4")], ids=str)
def test_data_types_that_the_elements_cannot_become(source: Any) -> None:
    """Found out before anything is stored, in any node, so that no interrupted copy is left."""
    values: dict[str, bytes] = {}
    group = api.create_group({})
    group["a"], group["b"] = ["text"], source
    for what in (source, group["b"], group):
        with pytest.raises(TypeError, match="expected data whose elements can become string"):
            api.copy(what, values, dtype="string")
    assert values == {}


def test_resuming_what_was_never_begun() -> None:
    """Nothing there is a copy of which nothing is done."""
    assert np.array_equal(api.copy(made(), {}, resume=True)[...], DATA)


def hierarchy() -> Group:
    """A source with arrays at several depths."""
    root = api.create_group({}, attributes={"title": "root"})
    root.create_array("x", data=DATA, chunks=10)
    root.create_array("g/y", data=DATA[0], attributes={"a": 1})
    root.create_group("g/empty", attributes={"b": 2})
    root.create_array("g/scalar", data=np.float32(3))
    return root


def test_groups() -> None:
    """Everything below comes along; options hold for each array."""
    values: dict[str, bytes] = {}
    told: list[tuple[int, int]] = []
    target = api.copy(hierarchy(), values, path="to", compressors=None, progress=lambda *now: told.append(now))
    assert isinstance(target, Group)
    assert [name for name, _ in target.walk()] == ["g", "g/empty", "g/scalar", "g/y", "x"]
    assert np.array_equal(target["x"][...], DATA)
    assert target["g/scalar"][()] == 3
    assert target.attrs == {"title": "root"}
    assert (target["g/y"].attrs["a"], target["g/empty"].attrs["b"]) == (1, 2)
    assert all(array.compressors == () for _, array in target.walk() if isinstance(array, Array))
    total = DATA.nbytes + DATA[0].nbytes + 4
    assert (told[0], told[-1]) == ((0, total), (total, total))
    with pytest.raises(NodeExistsError):
        api.copy(hierarchy(), values, path="to")
    assert isinstance(api.copy(hierarchy(), values, path="to", overwrite=True), Group)


@pytest.mark.parametrize("left", range(0, 14, 3))
def test_an_interrupted_group_is_finished(left: int) -> None:
    """What is complete is left alone, the rest is copied."""
    source = hierarchy()
    values = Interrupted(left)
    with pytest.raises(StoreError):
        api.copy(source, values)
    values.left = 1000
    target = api.copy(source, values, resume=True)
    assert isinstance(target, Group)
    assert [name for name, _ in target.walk()] == [name for name, _ in source.walk()]
    assert np.array_equal(target["x"][...], DATA)
    assert np.array_equal(target["g/y"][...], DATA[0])
    assert not any(key.endswith(PROGRESS) for key in values)


def test_files_of_numpy(tmp_path: Path) -> None:
    """.npy is mapped, .npz becomes a group."""
    np.save(tmp_path / "a.npy", np.asfortranarray(DATA))
    target = api.copy(tmp_path / "a.npy", tmp_path / "a.zarr", chunks=10)
    assert np.array_equal(target[...], DATA)
    np.savez(tmp_path / "b.npz", x=DATA, y=DATA[0])
    group = api.copy(str(tmp_path / "b.npz"), tmp_path / "b.zarr")
    assert isinstance(group, Group)
    assert list(group) == ["x", "y"]
    assert np.array_equal(group["y"][...], DATA[0])
    with pytest.raises(NodeNotFoundError):
        api.copy(tmp_path / "c.npy", {})


@pytest.mark.parametrize("kind", ["cut", "empty", "text", "pickled", "other", "flipped", "member"])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_a_damaged_file_of_numpy_is_named(tmp_path: Path, kind: str, suffix: str) -> None:
    """Each kind of damage is another error of NumPy, ``zipfile`` or ``zlib``, and none says which file is damaged."""
    names, file = {".npy": "a.npy", ".npz": "a.npz"}, tmp_path / f"x{suffix}"
    np.save(tmp_path / "a.npy", DATA if kind != "pickled" else np.array([None, 1]))
    np.savez_compressed(tmp_path / "a.npz", x=DATA if kind != "pickled" else np.array([None, 1]))
    if kind in ("flipped", "member") and suffix == ".npy":
        pytest.skip("there is no checksum, and no member")
    if kind == "other":
        names = {".npy": "a.npz", ".npz": "a.npy"}
    content = bytearray((tmp_path / names[suffix]).read_bytes())
    if kind == "flipped":
        content[len(content) // 2] ^= 0xFF
    file.write_bytes({"cut": content[:-30], "empty": b"", "text": b"1, 2, 3\n"}.get(kind, content))
    if kind == "member":
        with ZipFile(file, "a") as archive:
            archive.writestr("readme.txt", "text")
    target = tmp_path / "made.zarr"
    with pytest.raises(ArchiveError, match=re.escape(f"{file}: expected ")):
        api.copy(file, target)
    assert not target.exists()


def test_between_files(tmp_path: Path) -> None:
    """Directories and zip files, by path."""
    made(tmp_path / "a.zarr", chunks=10)
    api.copy(tmp_path / "a.zarr", tmp_path / "b.zip").store.close()
    assert np.array_equal(api.load(tmp_path / "b.zip"), DATA)
    assert PROGRESS not in ZipStore(tmp_path / "b.zip").list()
    again = api.copy(tmp_path / "b.zip", tmp_path / "c.zarr", chunks=7)
    assert np.array_equal(again[...], DATA)


def test_onto_itself(tmp_path: Path) -> None:
    """A copy over or into its source is refused, also with overwrite, and by whatever name."""
    values: dict[str, bytes] = {}
    root = api.create_group(values)
    root.create_array("g/a", data=DATA)
    before = dict(values)
    for source, dest, path in (
        (root, values, ""),
        (root["g"], values, "g/a"),
        (root["g/a"], values, "g"),
        (root["g/a"], MappingStore(values), "g/a"),
    ):
        with pytest.raises(ValueError, match="outside of the source"):
            api.copy(source, dest, path=path, overwrite=True)
    assert values == before
    assert api.copy(root["g/a"], values, path="g/ab").path == "g/ab"
    made(tmp_path / "a.zarr")
    with pytest.raises(ValueError, match="outside of the source"):
        api.copy(tmp_path / "a.zarr", str(tmp_path) + "/./a.zarr/b", overwrite=True)
    with pytest.raises(ValueError, match="found both"):
        api.copy(DATA, {}, resume=True, overwrite=True)


@settings(max_examples=60)
@given(data=st.data())
def test_any_shapes(data: st.DataObject) -> None:
    """Random shapes, chunks, shards and limits."""
    rank = data.draw(st.integers(0, 3))
    shape = data.draw(st.tuples(*[st.integers(0, 9)] * rank))
    chunk = st.tuples(*[st.integers(1, 5)] * rank)
    values = np.arange(1, 1 + np.prod(shape, dtype=int), dtype="i2").reshape(shape)
    source = api.create_array({}, data=values, chunks=data.draw(chunk))
    inner = data.draw(chunk)
    shards = data.draw(st.none() | st.just(tuple(2 * length for length in inner)))
    with config.set(copy_bytes=data.draw(st.integers(1, 500))):
        target = api.copy(source, {}, chunks=inner, shards=shards)
    assert isinstance(target, Array)
    assert np.array_equal(target[...], values)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_another_program_changed_below_consolidated_metadata(zarr_format: int) -> None:
    """The copy has what is stored, and a comparison looks at it, too."""
    store: dict[str, Any] = {}
    group = api.create_group(store, zarr_format=zarr_format)
    group.create_array("a", data=np.arange(4), chunks=2)
    api.consolidate_metadata(store)
    other: dict[str, Any] = {}
    changed = api.create_group(other, zarr_format=zarr_format)
    changed.create_array("a", data=np.arange(6), chunks=2)
    changed.create_array("new", data=np.arange(3))
    store.update({key: value for key, value in other.items() if "/" in key})
    copied: dict[str, Any] = {}
    made = api.copy(store, copied)
    assert made["a"][:].tolist() == [0, 1, 2, 3, 4, 5]
    assert made["new"][:].tolist() == [0, 1, 2]
    assert api.diff(store, other).same
    assert api.open_group(copied).metadata.consolidated is not None


def test_a_copy_of_a_group_with_nothing_but_consolidated_metadata() -> None:
    store: dict[str, Any] = {}
    api.create_group(store, zarr_format=2).create_array("a", data=np.arange(4), chunks=2)
    api.consolidate_metadata(store)
    del store["a/.zarray"]
    assert api.copy(store, {})["a"][:].tolist() == [0, 1, 2, 3]
