"""Handles that outlive their arrays: somebody replaces, cuts off, upgrades or removes what they were opened for."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ts
from blizzarr.array import document
from blizzarr.errors import BlizzarrError, ConflictError, OutOfBoundsError
from blizzarr.formats import finding
from blizzarr.formats.beside import keys_beside
from blizzarr.stores import LocalStore, MappingStore, MemoryStore
from blizzarr.stores.protocol import Value
from support.child import answer

DATA = np.arange(1, 41, dtype="int32").reshape(8, 5)

STORES: dict[str, Callable[[Path], Any]] = {
    "directory": LocalStore,
    "threads only": lambda path: LocalStore(path, locking="threads"),
    "within its root": lambda path: LocalStore(path, links="within-root"),
    "memory": lambda path: MemoryStore(),
    "mapping": lambda path: MappingStore({}),
    "wrapper": lambda path: blizzarr.stores.StoreWrapper(LocalStore(path)),
}

LAYOUTS: dict[str, dict[str, Any]] = {
    "v3": {},
    "shards": {"shards": (4, 4)},
    "v2": {"zarr_format": 2},
    "v1": {"zarr_format": 1},
    "draft": {"zarr_format": "v3_draft"},
}

REPLACEMENTS: dict[str, dict[str, Any]] = {
    "data type": {"dtype": "float32"},
    "chunks": {"chunks": (3, 5)},
    "codecs": {"compressors": "gzip"},
    "fill value": {"fill_value": 7},
}


def create(store: Any, **options: Any) -> blizzarr.Array:
    settings: dict[str, Any] = {"chunks": (2, 2), "compressors": None, "fill_value": 0, **options}
    dtype = settings.pop("dtype", "int32")
    if settings.get("zarr_format") in (1, 2):
        settings["compressors"] = "zlib" if settings["compressors"] == "gzip" else settings["compressors"]
    return blizzarr.create_array(store, name="a", data=DATA.astype(dtype), overwrite=True, **settings)


def write_rows(array: blizzarr.Array) -> None:
    array[:2] = -1


def write_element(array: blizzarr.Array) -> None:
    array[0, 0] = -1


def write_points(array: blizzarr.Array) -> None:
    array.vindex[[0, 1], [1, 2]] = -1


def append_row(array: blizzarr.Array) -> None:
    array.append(DATA[:1])


def cut_off(array: blizzarr.Array) -> None:
    array.resize(1, 5)


WRITES = [write_rows, write_element, write_points, append_row, cut_off]
READS: list[Callable[[blizzarr.Array], Any]] = [
    lambda array: array[0, 0],
    lambda array: array[...],
    lambda array: array[::-1, 1],
    lambda array: array.oindex[[0, 3], :2],
    lambda array: array.lazy[1:].read(),
]


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("change", REPLACEMENTS)
def test_row_129_an_old_handle_neither_reads_nor_writes_what_replaced_its_array(
    kind: str, change: str, tmp_path: Path
) -> None:
    store = STORES[kind](tmp_path)
    old, used = create(store), create(store)
    used[0, 0] = used[0, 0]  # a handle that has compared before
    new = create(store, **REPLACEMENTS[change])
    expected = new[...]
    for handle in (old, used):
        for write in WRITES:
            with pytest.raises(ConflictError, match="somebody has replaced the array; open it again"):
                write(handle)
        near = kind != "wrapper"
        for read in READS if near else ():
            with pytest.raises(ConflictError, match="somebody has replaced the array; open it again"):
                read(handle)
    np.testing.assert_array_equal(new[...], expected)
    assert blizzarr.open(store)["a"].shape == (8, 5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_129_in_every_format(layout: str, tmp_path: Path) -> None:
    old = create(tmp_path, **LAYOUTS[layout])
    assert old[3, 3] == DATA[3, 3]
    new = create(tmp_path, **LAYOUTS[layout], dtype="int64")
    for use in (*WRITES, *READS):
        with pytest.raises(ConflictError, match=r"opened \(data type int32, .*found \(data type int64"):
            use(old)
    np.testing.assert_array_equal(new[...], DATA)


def test_row_129_the_error_names_both_arrays(tmp_path: Path) -> None:
    old = create(tmp_path)
    create(tmp_path, chunks=(4, 4), shards=(8, 8), compressors="gzip")
    with pytest.raises(ConflictError) as caught:
        old[0]
    assert caught.value.array == "/a"
    assert caught.value.store == str(old.store)
    text = str(caught.value)
    assert "opened (data type int32, shape (8, 5), chunks (2, 2), shards None, codecs BytesCodec(" in text
    assert "found (data type int32, shape (8, 5), chunks (4, 4), shards (8, 8), codecs ShardingCodec(" in text


@pytest.mark.parametrize("kind", ["directory", "threads only", "memory"])
def test_row_129_an_array_that_is_replaced_while_it_is_locked(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its document is gone when it is to be locked, and one of the same layout is there when it is looked for."""
    store = STORES[kind](tmp_path)
    old, key = create(store), "a/zarr.json"
    stored = bytes(store.get(key))
    store.delete(key)
    found_again = document._found_again

    def after_the_replacement(*place: Any) -> Any:
        store.set(key, stored)
        return found_again(*place)

    monkeypatch.setattr(document, "_found_again", after_the_replacement)
    with pytest.raises(
        ConflictError, match="somebody has replaced the array while it was being written; open it again"
    ):
        old[:2] = -1
    assert old[0, 0] == 1


@pytest.mark.parametrize("kind", STORES)
def test_row_129_removed_arrays_do_not_read_as_zeros(kind: str, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path)
    group = blizzarr.create_group(store)
    old = create(store)
    assert old[1, 1] == DATA[1, 1]
    del group["a"]
    for use in (*WRITES, *READS):
        with pytest.raises(ConflictError, match="found nothing: somebody has removed the array"):
            use(old)
    group.create_group("a")
    for use in (*WRITES, *READS):
        with pytest.raises(ConflictError, match="found a group: somebody has replaced the array"):
            use(old)
    assert list(group["a"]) == []


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_row_129_arrays_of_consolidated_metadata_are_removed_too(zarr_format: int, tmp_path: Path) -> None:
    """Also with the group that has listed them, and if they were not read before."""
    unread = []
    for name in "bc":
        blizzarr.create_group(tmp_path / name, zarr_format=zarr_format).create_array("g/a", data=DATA, chunks=(2, 2))
        blizzarr.consolidate_metadata(tmp_path / name)
        unread.append(blizzarr.open_group(tmp_path / name, use_consolidated=True)["g/a"])
    del blizzarr.open_group(tmp_path / "b")["g/a"]
    shutil.rmtree(tmp_path / "c")
    for old in unread:
        with pytest.raises(ConflictError, match="found nothing: somebody has removed the array"):
            old[...]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_row_129_arrays_that_stale_consolidated_metadata_list_are_removed_too(zarr_format: int, tmp_path: Path) -> None:
    """Other programs remove the files of a member, and leave the document of the group as it is."""
    root = blizzarr.create_group(tmp_path / "a", zarr_format=zarr_format)
    for name in ("gone", "kept"):
        root.create_array(name, data=DATA, chunks=(2, 2))
    blizzarr.consolidate_metadata(tmp_path / "a")
    before = blizzarr.open_group(tmp_path / "a", use_consolidated=True)["gone"]
    shutil.rmtree(tmp_path / "a/gone")
    (tmp_path / "a/kept" / ("zarr.json" if zarr_format == 3 else ".zarray")).unlink()
    group = blizzarr.open_group(tmp_path / "a", use_consolidated=True)
    for old in (before, group["gone"]):
        with pytest.raises(ConflictError, match="found nothing: somebody has removed the array"):
            old[...]
    # Consolidated metadata may have the only copy of a document.
    assert (group["kept"][...] == DATA).all()


@pytest.mark.parametrize("kind", STORES)
def test_row_129_what_is_cut_off_is_neither_written_nor_zero(kind: str, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path)
    create(store)
    old, other = blizzarr.open_array(store, path="a"), blizzarr.open_array(store, path="a")
    other.resize(3, 5)
    for key in (7, np.s_[2:5], np.s_[:, 2], [0, 3]):
        with pytest.raises(OutOfBoundsError, match="the array has become shorter since it was opened"):
            old[key] = -1
    if kind != "wrapper":
        with pytest.raises(OutOfBoundsError, match="axis 0 with length 3"):
            old[3]
    old[:3] = -2
    other.resize(8, 5)
    assert other[:3].tolist() == [[-2] * 5] * 3
    assert not other[3:].any()
    old[7] = 9
    assert old[7].tolist() == [9] * 5


@pytest.mark.parametrize("kind", STORES)
def test_row_129_changes_that_leave_the_layout_do_no_harm(kind: str, tmp_path: Path) -> None:
    """Attributes, and a longer array."""
    store = STORES[kind](tmp_path)
    create(store)
    old, other = blizzarr.open_array(store, path="a"), blizzarr.open_array(store, path="a")
    for step in range(5):
        other.attrs["step"] = step
        old[step] = step
        other.append(DATA[:1])
        assert old[step].tolist() == [step] * 5
    assert old.shape == (8, 5)
    assert old.refresh().shape == (13, 5)


def test_row_129_upgraded_drafts_do_not_read_as_zeros(tmp_path: Path) -> None:
    blizzarr.create_group(tmp_path, zarr_format="v3_draft")
    old = create(tmp_path, zarr_format="v3_draft")
    unused = blizzarr.open_array(tmp_path, path="a")
    assert old[1, 1] == DATA[1, 1]
    blizzarr.upgrade(tmp_path)
    for handle in (old, unused):
        for use in (*WRITES, *READS):
            with pytest.raises(ConflictError, match=r"somebody has (replaced|removed) the array"):
                use(handle)
    np.testing.assert_array_equal(blizzarr.open_array(tmp_path, path="a")[...], DATA)


def test_row_129_other_programs_replace_documents_too(tmp_path: Path) -> None:
    """A document that is overwritten in place, with the same size and time, is noticed all the same."""
    old = create(tmp_path)
    path = tmp_path / "a" / "zarr.json"
    write_element(old)
    text = path.read_text()
    path.write_text(text.replace("int32", "uint8").replace("[2, 2]", "[2,2]").replace('"uint8"', '"uint8"  '))
    stored = (tmp_path / "a" / "c" / "0" / "0").read_bytes()
    with pytest.raises(BlizzarrError):
        write_rows(old)
    assert (tmp_path / "a" / "c" / "0" / "0").read_bytes() == stored


def test_row_129_pools_are_as_old_as_recheck_allows(tmp_path: Path) -> None:
    pool = blizzarr.CachePool(1 << 20)
    create(tmp_path)
    always = blizzarr.open_array(tmp_path, path="a").cached(pool, recheck=True)
    never = blizzarr.open_array(tmp_path, path="a").cached(pool, recheck=False)
    assert always[0, 0] == never[0, 0] == 1
    answer(_REPLACE, root=str(tmp_path))
    assert never[0, 0] == 1
    for handle in (always, never):
        # What the first of them has fetched is of no use to the other.
        with pytest.raises(ConflictError):
            handle[0, 0]


_REPLACE = """
import blizzarr
blizzarr.create_array(ARGUMENTS["root"], name="a", shape=(8, 5), chunks=(8, 5), dtype="float64", overwrite=True)
tell(done=True)
"""


def test_row_129_transactions_and_views_of_tensorstore(tmp_path: Path) -> None:
    create(tmp_path)
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{tmp_path}/a/"}}
    view = ts.open(spec).result()
    transaction = ts.Transaction()
    view.with_transaction(transaction)[0] = -1
    new = create(tmp_path, dtype="int64")
    with pytest.raises((BlizzarrError, ValueError)):
        transaction.commit_sync()
    with pytest.raises((BlizzarrError, ValueError)):
        view[0].write(-1).result()
    with pytest.raises((BlizzarrError, ValueError)):
        view[0].read().result()
    np.testing.assert_array_equal(new[...], DATA)


def test_row_129_a_resize_erases_nothing_of_the_array_that_replaced_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The array is replaced between the look at its document and the deletion of its chunks."""
    from blizzarr.array import reshape

    old = create(tmp_path)
    erase = reshape.erase_outside
    replaced = []

    def late(*args: Any, **named: Any) -> None:
        if not replaced:
            replaced.append(create(tmp_path, chunks=(4, 1)))
        erase(*args, **named)

    monkeypatch.setattr(reshape, "erase_outside", late)
    with pytest.raises(ConflictError):
        old.resize(2, 2)
    np.testing.assert_array_equal(replaced[0][...], DATA)


def test_row_129_repair_changes_nothing_of_an_array_that_was_replaced(tmp_path: Path) -> None:
    old = create(tmp_path, shards=(4, 4))
    create(tmp_path, chunks=(4, 4), dtype="int8")
    stored = (tmp_path / "a" / "c" / "0" / "0").read_bytes()
    with pytest.raises(ConflictError):
        old._bind().handle.salvage((0, 0), lambda kept: None)  # type: ignore[attr-defined]
    assert (tmp_path / "a" / "c" / "0" / "0").read_bytes() == stored


def test_row_129_attributes_are_not_set_on_the_array_that_replaced_its_own(tmp_path: Path) -> None:
    old = create(tmp_path)
    new = create(tmp_path, dtype="float32", attributes={"units": "kg"})
    for change in (
        lambda: old.attrs.__setitem__("units", "m"),
        lambda: old.attrs.clear(),
        lambda: old.attrs.put({}),
        lambda: old.update_attributes({"a": 1}),
    ):
        with pytest.raises(ConflictError, match="somebody has replaced the array"):
            change()
    assert new.refresh().attrs.asdict() == {"units": "kg"}
    assert old.dtype == "int32"


def test_row_129_an_append_makes_no_other_array_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The array is replaced, by one of the same shape, after its new rows are stored and before its document is."""
    from blizzarr.array import reshape

    old = create(tmp_path)
    changing = reshape.changing
    replaced: list[Any] = []

    def late(*args: Any) -> Any:
        replaced.append(create(tmp_path, dtype="float64"))
        return changing(*args)

    monkeypatch.setattr(reshape, "changing", late)
    with pytest.raises(ConflictError, match="somebody has replaced the array"):
        old.append(DATA[:1])
    assert blizzarr.open(tmp_path)["a"].shape == (8, 5)
    np.testing.assert_array_equal(replaced[0][...], DATA)


@pytest.mark.parametrize("options", [{}, {"chunks": (8, 5)}], ids=["bytes", "elements"])
def test_row_129_copies_are_of_the_array_that_was_opened(options: dict[str, Any], tmp_path: Path) -> None:
    group = blizzarr.create_group(tmp_path / "x.zarr")
    for change in (lambda: create(group.store, dtype="float32"), lambda: group.__delitem__("a")):
        old = create(group.store)
        change()
        with pytest.raises(ConflictError, match=r"somebody has (replaced|removed) the array"):
            blizzarr.copy(old, tmp_path / "copy.zarr", overwrite=True, **options)


@pytest.mark.parametrize("options", [{}, {"zarr_format": 2}, {"chunks": (8, 5)}], ids=["bytes", "format", "elements"])
@pytest.mark.parametrize("kind", STORES)
def test_row_129_no_copy_and_no_comparison_makes_up_what_was_cut_off(
    kind: str, options: dict[str, Any], tmp_path: Path
) -> None:
    store = STORES[kind](tmp_path / "x")
    old = create(store)
    same = create({})
    blizzarr.open_array(store, path="a").resize((3, 5))
    with pytest.raises(OutOfBoundsError, match="has become shorter"):
        blizzarr.copy(old, {}, **options)
    for pair in ((old, same), (same, old)):
        assert "has become shorter" in str(blizzarr.diff(*pair))


@pytest.mark.parametrize("kind", STORES)
def test_row_129_the_same_bytes_of_another_type_are_not_the_same(kind: str, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path / "x")
    old, same = create(store), create({})
    assert blizzarr.diff(old, same).same
    data = DATA.view("float32")
    blizzarr.create_array(store, name="a", data=data, chunks=(2, 2), compressors=None, fill_value=0, overwrite=True)
    assert not blizzarr.diff(old, same).same
    assert "somebody has replaced the array" in str(blizzarr.diff(same, old))


@pytest.mark.parametrize("kind", [kind for kind in STORES if kind != "wrapper"])
def test_row_129_directories_in_place_of_chunks_are_of_another_array(kind: str, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path / "x")
    old = create(store)
    blizzarr.create_array(store, name="a", data=np.ones((2, 2, 2)), chunks=1, overwrite=True)
    for read in (lambda: old[...], lambda: old[0, 0]):
        with pytest.raises(ConflictError, match="somebody has replaced the array"):
            read()


def test_row_129_a_newer_document_beside_that_of_the_handle_counts(tmp_path: Path) -> None:
    """An upgrade was killed before it removed the old document."""
    old = create(tmp_path, zarr_format=2)
    document = (tmp_path / "a" / ".zarray").read_bytes()
    blizzarr.upgrade(tmp_path / "a")
    (tmp_path / "a" / ".zarray").write_bytes(document)
    for change in (append_row, cut_off):
        with pytest.raises(ConflictError, match="somebody has replaced the array"):
            change(old)
    with pytest.warns(UserWarning, match="in two formats"):
        np.testing.assert_array_equal(blizzarr.open(tmp_path / "a")[...], DATA)


def test_row_129_an_array_that_an_older_format_replaces_is_not_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is replaced between the request for its document and the one for those of older formats."""
    create(tmp_path)

    def replace(path: str, number: int | None) -> Any:
        monkeypatch.undo()
        blizzarr.create_array(tmp_path / "a", data=DATA + 1, zarr_format=2, overwrite=True)
        return keys_beside(path, number)

    monkeypatch.setattr(finding, "keys_beside", replace)
    np.testing.assert_array_equal(blizzarr.open_array(tmp_path / "a", mode="r")[...], DATA + 1)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_row_064_arrays_that_only_consolidated_metadata_list_are_read(zarr_format: int, tmp_path: Path) -> None:
    group = blizzarr.create_group(tmp_path, zarr_format=zarr_format)
    create(tmp_path, zarr_format=zarr_format)
    blizzarr.consolidate_metadata(tmp_path)
    (tmp_path / "a" / ("zarr.json" if zarr_format == 3 else ".zarray")).unlink()
    array = blizzarr.open_group(group.store)["a"]
    np.testing.assert_array_equal(array[...], DATA)
    np.testing.assert_array_equal(array[3:, 2], DATA[3:, 2])


class Far(MappingStore):
    """A store far away, in which the document is answered only after a chunk was asked for."""

    remote = True

    def __init__(self, values: dict[str, bytes]) -> None:
        super().__init__(values)
        self.near = self.in_memory = False
        self.is_slow, self.asked = False, threading.Event()
        self.stored: list[str] = []

    def get(self, key: str) -> Value | None:
        if key.startswith("c/"):
            self.asked.set()
        elif self.is_slow and not self.asked.wait(30):
            raise TimeoutError("the chunk is read only after the document")
        return super().get(key)

    def set(self, key: str, value: Value) -> None:
        self.stored.append(key)
        super().set(key, value)


@pytest.mark.parametrize("is_replaced", [False, True])
def test_row_129_far_away_the_document_is_compared_while_chunks_are_read(is_replaced: bool) -> None:
    """Nothing is stored before the answer; what is wrong with the chunks of another array is not what is reported."""
    values: dict[str, bytes] = {}
    store = Far(values)
    array = blizzarr.create_array(store, data=np.arange(8, dtype="i4"), chunks=4)
    if is_replaced:
        blizzarr.create_array(values, data=np.arange(20, 28), dtype="i8", chunks=4, compressors=None, overwrite=True)
    before = dict(values)
    store.stored.clear()
    store.is_slow = True
    if is_replaced:
        with pytest.raises(ConflictError, match="somebody has replaced the array"):
            array[:5] = 5  # all of one chunk, and a part of another
        assert (values, store.stored) == (before, [])
    else:
        array[:5] = 5
        assert array[:].tolist() == [5, 5, 5, 5, 5, 5, 6, 7]
        assert sorted(store.stored) == ["c/0", "c/1"]
