"""Changing the shape of an array: what is kept, what is erased, and what an interruption leaves."""

from __future__ import annotations

import math
import multiprocessing
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blizzarr.api import create_array, open_array
from blizzarr.array import Array, binding, erase, facts, reshape
from blizzarr.errors import ConflictError, StoreError
from blizzarr.formats import read_node
from blizzarr.hierarchy.remove import remove_node
from blizzarr.model import GroupMeta
from blizzarr.stores import BaseStore, LocalStore, MappingStore, MemoryStore, ZipStore
from support.arrays import make, write_node

LAYOUTS: list[dict[str, Any]] = [
    {"chunks": (4, 3)},
    {"chunks": (2, 3), "shards": (4, 6)},
    {"chunks": (20, 20), "filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}]},
]


def cut(data: np.ndarray, shape: tuple[int, ...], fill: float = 0) -> np.ndarray:
    """The data in another shape: cut off, and filled up."""
    result = np.full(shape, fill, data.dtype)
    both = tuple(slice(min(sizes)) for sizes in zip(shape, data.shape, strict=True))
    result[both] = data[both]
    return result


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fault_105_shrinking_and_growing_again_shows_fill(layout: dict[str, Any]) -> None:
    data = np.arange(1.0, 101).reshape(10, 10)
    z = make(data, fill_value=np.nan, **layout)
    z.resize((5, 4))
    z.resize((10, 10))
    np.testing.assert_array_equal(z[...], cut(cut(data, (5, 4)), (10, 10), np.nan))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("enumerated", [0, 1000])
def test_fault_105_what_others_left_outside_is_not_shown(
    layout: dict[str, Any], enumerated: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """zarr-python and TensorStore shrink by changing the document only, and leave the overhang of edge chunks."""
    monkeypatch.setattr(erase, "ENUMERATED", enumerated)
    data = np.arange(1, 101).reshape(10, 10)
    z = make(data, **layout)
    write_node(z.store, z.path, z.metadata.with_shape((5, 4)))
    z.refresh()
    z.resize((11, 9))
    np.testing.assert_array_equal(z[...], cut(data[:5, :4], (11, 9)))


def test_growing_and_shrinking_at_once() -> None:
    data = np.arange(1, 101).reshape(10, 10)
    z = make(data, chunks=(4, 3))
    z.resize((3, 14))
    np.testing.assert_array_equal(z[...], cut(data, (3, 14)))
    z.resize((12, 2))
    np.testing.assert_array_equal(z[...], cut(data[:3], (12, 2)))


def test_what_is_cut_off_is_deleted() -> None:
    z = make(np.ones((10, 10), "u1"), chunks=(5, 5), compressors=None)
    z.resize((4, 10))
    assert sorted(key for key in z.store.list("a/c")) == ["a/c/0/0", "a/c/0/1"]
    assert bytes(z.store.get("a/c/0/0")) == b"\1" * 20 + b"\0" * 5


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_sequence_of_changes_is_like_numpy(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))
    lengths = st.lists(st.integers(0, 7), min_size=rank, max_size=rank).map(tuple)
    inner = tuple(data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
    shards = tuple(2 * length for length in inner) if data.draw(st.booleans()) else None
    expected = np.full(data.draw(lengths), 9, np.int16)
    z = make(shape=expected.shape, dtype="i2", chunks=inner, shards=shards, fill_value=9)
    for step in range(data.draw(st.integers(1, 6))):
        kind = data.draw(st.sampled_from(["resize", "append", "write"]))
        if kind == "resize":
            shape = data.draw(lengths)
            z.resize(shape)
            expected = cut(expected, shape, 9)
        elif kind == "append":
            axis = data.draw(st.integers(0, rank - 1))
            count = data.draw(st.integers(0, 3))
            added = np.full([*expected.shape[:axis], count, *expected.shape[axis + 1 :]], step + 20, np.int16)
            expected = np.concatenate([expected, added], axis)
            assert z.append(added, axis=axis) == expected.shape
        else:
            z[...] = expected[...] = step + 50
        np.testing.assert_array_equal(z[...], expected, strict=True)
    again = Array(z.store, z.path, read_node(z.store, z.path))  # type: ignore[arg-type]
    np.testing.assert_array_equal(again[...], expected, strict=True)


class Breaking(BaseStore):
    """A store that fails at one of its changes, as if the power went."""

    def __init__(self, values: dict[str, bytes], changes: float = math.inf) -> None:
        self.values = values
        self.left = changes

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix.rstrip("/") + "/" if prefix else "")]

    def set(self, key: str, value: Any) -> None:
        self._count()
        self.values[key] = bytes(value)

    def delete(self, key: str) -> None:
        if key in self.values:
            self._count()
            del self.values[key]

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise StoreError("no power")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("change", ["shrink", "grow", "both", "append", "append axis 1"])
def test_fault_81_an_interrupted_change_leaves_the_old_or_the_new(layout: dict[str, Any], change: str) -> None:
    """After a stop at any point the kept elements are there, and what was never written reads as fill value."""
    data = np.arange(1, 101).reshape(10, 10)
    targets = {"shrink": (5, 4), "grow": (13, 17), "both": (13, 4)}
    outcomes = set()
    for changes in range(60):
        store = Breaking({})
        z = make(data, store=store, **layout)
        # Leftovers outside, so that growing has something to erase.
        z.resize((18, 18))
        z[10:] = z[:, 10:] = 77
        write_node(store, z.path, z.metadata.with_shape((10, 10)))
        z.refresh()
        store.left = changes
        try:
            if change == "append":
                z.append(np.full((3, 10), 5))
            elif change == "append axis 1":
                z.append(np.full((10, 3), 5), axis=1)
            else:
                z.resize(targets[change])
            done = True
        except StoreError:
            done = False
        store.left = math.inf
        after = Array(store, "a", read_node(store, "a"))  # type: ignore[arg-type]
        grown = np.full((18, 18), 0)
        grown[:10, :10] = data
        if change == "append":
            grown[10:13, :10] = 5
        elif change == "append axis 1":
            grown[:10, 10:13] = 5
        assert after.shape in ((10, 10), targets.get(change, {"append": (13, 10)}.get(change, (10, 13))))
        outcomes.add(after.shape)
        np.testing.assert_array_equal(after[...], grown[: after.shape[0], : after.shape[1]])
        seen = after.shape
        after.resize((18, 18))
        np.testing.assert_array_equal(after[...], cut(grown[: seen[0], : seen[1]], (18, 18)))
        if done:
            break
    assert done
    assert len(outcomes) == 2, "the change was interrupted before and after it was published"


def test_growing_leaves_full_edge_chunks_alone() -> None:
    store = Breaking({})
    z = make(np.ones((4, 6), int), store=store, chunks=(2, 3))
    store.left = 1
    z.resize((400, 600))
    assert store.left == 0, "only the document changed"


def test_growing_does_not_rewrite_edge_chunks_that_are_clean() -> None:
    store = Breaking({})
    z = make(np.ones((5, 7), int), store=store, chunks=(2, 3))
    store.left = 1
    z.resize((400, 600))
    assert store.left == 0


def test_the_same_shape_changes_nothing() -> None:
    store = Breaking({})
    z = make(np.ones((5, 7), int), store=store)
    store.left = 0
    z.resize((5, 7))
    assert z.shape == (5, 7)


@pytest.mark.parametrize(
    ("shape", "error", "text"),
    [
        ((3,), ValueError, r"expected a new shape with 2 lengths, found \(3,\); the number of axes stays"),
        ((3, -1), ValueError, r"expected lengths of at least 0 in the new shape, found \(3, -1\)"),
        ((3, 1.5), TypeError, r"expected integers as the new shape, found \(3, 1.5\)"),
        ("ab", TypeError, "expected integers as the new shape, found 'ab'"),
    ],
)
def test_bad_shapes_are_refused(shape: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make(np.ones((2, 2))).resize(shape)


def test_lengths_may_be_given_one_by_one() -> None:
    z = make(np.ones((4, 6)), chunks=2)
    z.resize(2, 8)
    assert z.shape == (2, 8)
    with pytest.raises(ValueError, match=r"expected a new shape with 2 lengths, found \(2, 8, 3\)"):
        z.resize(2, 8, 3)


def test_an_array_without_axes_keeps_its_shape() -> None:
    z = make(np.array(3))
    z.resize(())
    assert z[()] == 3
    with pytest.raises(ValueError, match=r"expected an axis in \[0, 0\) to append to, found 0"):
        z.append(4)


def test_append_gives_the_new_shape_and_converts() -> None:
    z = make(np.zeros((2, 3), "u1"), chunks=(2, 2))
    assert z.append([[1.7, 2, 3]]) == (3, 3)
    assert z.append(np.full((3, 2), 9), axis=-1) == (3, 5)
    assert z[...].tolist() == [[0, 0, 0, 9, 9], [0, 0, 0, 9, 9], [1, 2, 3, 9, 9]]
    assert z.append(np.empty((0, 5))) == (3, 5)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("int16", [1, 2, 3, 4]),
        ("float64", [1, np.nan, -0.0, 4]),
        ("datetime64[s]", ["NaT", "2001-01-01", "2002-01-01", "2003-01-01"]),
        ([("x", "int8"), ("y", "float32")], [(1, 2.0), (3, 4.0), (5, 6.0), (7, 8.0)]),
        (str, ["a", "", "ccc", "dd"]),
    ],
)
def test_an_append_at_a_place_can_be_repeated(dtype: Any, values: list[Any]) -> None:
    """P8: who does not know whether an append was done repeats it; nothing is doubled, and nobody's rows are lost."""
    data = np.array(values, object if dtype is str else dtype)
    z = create_array({}, shape=3, chunks=2, dtype=dtype)
    for _ in range(3):
        assert z.append(data, at=3) == (7,)
        assert z.shape == (7,)
        np.testing.assert_array_equal(z[3:], data)
    before = z[...].tolist()
    with pytest.raises(
        ConflictError, match=r"expected these elements at index 3 along axis 0, .* found others"
    ) as caught:
        z.append(data[::-1], at=3)
    assert (caught.value.array, caught.value.store) == ("/", str(z.store))
    for at in (2, 4, 6, 8, -1):
        with pytest.raises(
            ConflictError, match=rf"expected length {at} \(or {at + 4}, if this append .*\) along axis 0, found 7: "
        ):
            z.append(data, at=at)
    assert str(z[...].tolist()) == str(before)
    assert z.append(data[:0], at=7) == (7,)
    assert z.append(data[:1], at=7) == (8,)


def test_append_of_another_shape_is_refused() -> None:
    z = make(np.zeros((2, 3)))
    with pytest.raises(
        ValueError, match=r"expected data of shape \(any, 3\) to append along axis 0 of an array of shape"
    ):
        z.append(np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"found shape \(3,\)"):
        z.append(np.zeros(3))
    with pytest.raises(ValueError, match=r"expected an axis in \[-2, 2\) to append to, found 2"):
        z.append(np.zeros((1, 3)), axis=2)


def test_append_from_a_stale_handle_goes_to_the_end() -> None:
    """Fault row 103."""
    one = make(np.arange(3), chunks=(2,))
    other = Array(one.store, one.path, one.metadata)
    one.append([3, 4])
    assert other.append([5]) == (6,)
    assert other[:].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("axis", [0, 1])
def test_an_append_to_a_known_document_decodes_nothing(
    axis: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document is the one that the handle came from, or has stored itself; in it only the shape changes."""
    data = np.arange(1, 13, dtype="u2").reshape(3, 4)
    z = create_array(LocalStore(tmp_path), data=data, chunks=(2, 3), attributes={"a": [1]})

    def unwanted(*_: object) -> None:
        raise AssertionError("the document is decoded")

    monkeypatch.setattr(reshape, "_stored", unwanted)
    longer = data
    for _ in range(3):
        z.append(data, axis)
        longer = np.concatenate([longer, data], axis)
    np.testing.assert_array_equal(z[...], longer)
    opened = open_array(tmp_path)
    np.testing.assert_array_equal(opened[...], longer)
    assert opened.metadata == z.metadata
    assert opened.attrs.asdict() == {"a": [1]}


def test_attributes_set_while_rows_are_appended_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are stored after the new rows, and before the document with the new shape."""
    z = create_array(LocalStore(tmp_path), data=np.arange(4), chunks=2)
    z.append([4])
    changing = reshape.changing

    def late(*args: Any) -> Any:
        monkeypatch.setattr(reshape, "changing", changing)
        open_array(tmp_path).attrs["units"] = "m"
        return changing(*args)

    monkeypatch.setattr(reshape, "changing", late)
    assert z.append([5, 6]) == (7,)
    assert z.attrs.asdict() == {"units": "m"}
    for array in (z, open_array(tmp_path)):
        assert array[...].tolist() == list(range(7))
        assert array.attrs.asdict() == {"units": "m"}


def test_handles_that_append_in_turns_do_not_write_over_each_other(tmp_path: Path) -> None:
    """Each knows the document that it has stored last, which the other one has replaced since."""
    create_array(LocalStore(tmp_path), data=np.arange(2), chunks=2)
    one, other = open_array(tmp_path), open_array(tmp_path)
    for number in range(2, 8, 2):
        assert one.append([number]) == (number + 1,)
        assert other.append([number + 1]) == (number + 2,)
    assert one.refresh()[...].tolist() == other[...].tolist() == list(range(8))


def test_an_array_that_is_refreshed_while_rows_are_appended_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows would be stored in the layout of the array that was opened, and its successor made longer."""
    z = open_array(create_array(LocalStore(tmp_path), data=np.arange(5), chunks=2).store)

    def replaced_meanwhile(*args: Any) -> Any:
        monkeypatch.undo()
        binding = facts.bind(*args)
        create_array(tmp_path, data=np.arange(6.0), chunks=4, overwrite=True)
        z.refresh()
        return binding

    monkeypatch.setattr(facts, "bind", replaced_meanwhile)
    with pytest.raises(ConflictError, match="somebody has replaced the array"):
        z.append([7, 8])
    assert z[...].tolist() == open_array(tmp_path)[...].tolist() == list(range(6))


def test_resize_from_a_stale_handle_is_a_conflict() -> None:
    """Fault row 104: growing by what somebody else appended must not erase it."""
    one = make(np.arange(3), chunks=(2,))
    other = Array(one.store, one.path, one.metadata)
    one.append([3, 4])
    with pytest.raises(
        ConflictError, match=r"expected the shape \(3,\), found \(5,\): another writer changed it; refresh"
    ):
        other.resize(10)
    with pytest.raises(ConflictError, match=r"expected the shape \(3,\), found \(5,\)"):
        other.resize(3)  # its own shape, but not that of the array any more
    assert one.refresh()[:].tolist() == [0, 1, 2, 3, 4]
    one.resize(5)
    assert one[:].tolist() == [0, 1, 2, 3, 4]


def test_an_array_that_was_replaced_is_not_written_by_the_old_rules() -> None:
    old = make(np.arange(4), chunks=(2,))
    remove_node(old.store, "a")
    make(np.arange(4), store=old.store, chunks=(4,))
    for change in (lambda: old.resize(8), lambda: old.append([1])):
        with pytest.raises(ConflictError, match="somebody has replaced the array; open it again"):
            change()


def test_an_array_that_became_a_group_is_refused() -> None:
    old = make(np.arange(4))
    write_node(old.store, "a", GroupMeta())
    with pytest.raises(ConflictError, match="found a group: somebody has replaced the array"):
        old.append([1])


@pytest.mark.parametrize("kind", [MemoryStore, LocalStore, MappingStore])
def test_fault_103_threads_append_all_rows_once(kind: Any, tmp_path: Path) -> None:
    store = kind(tmp_path) if kind is LocalStore else kind({}) if kind is MappingStore else kind()
    shared = make(np.zeros((0, 3), int), store=store, chunks=(4, 2))

    def work(number: int) -> None:
        z = Array(store, "a", shared.metadata)
        for step in range(10):
            z.append(np.full((2, 3), 100 * number + step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = shared.refresh()[...]
    assert rows.shape == (80, 3)
    assert sorted(rows[::2, 0]) == sorted(100 * number + step for number in range(4) for step in range(10))
    np.testing.assert_array_equal(rows[::2], rows[1::2])


def _append_in_process(z: Array, number: int) -> None:
    for step in range(10):
        z.append(np.full((1, 3), 100 * number + step))


def test_fault_103_processes_append_all_rows_once(tmp_path: Path) -> None:
    z = make(np.zeros((0, 3), int), store=LocalStore(tmp_path), chunks=(4, 2))
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_append_in_process, args=(z, number)) for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert sorted(z.refresh()[:, 0]) == sorted(100 * number + step for number in range(2) for step in range(10))


def test_a_zip_file_grows_without_deleting(tmp_path: Path) -> None:
    """It cannot delete; what is left outside is overwritten instead, and missing chunks are not touched."""
    store = ZipStore(tmp_path / "a.zip", mode="w")
    z = make(np.arange(1, 11), store=store, chunks=(4,))
    z.append([11, 12])
    z.resize(3)
    z.resize(12)
    assert z[:].tolist() == [1, 2, 3, *[0] * 9]
    store.close()


def test_a_handle_made_while_the_shape_changes_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread makes the handle of the old shape, another appends in the meantime; later reads see the new shape."""
    other = make(np.arange(4), chunks=(3,))
    z = Array(other.store, other.path, other.metadata)

    def slow(*arguments: Any) -> Any:
        monkeypatch.undo()
        made = binding.bind(*arguments)
        other.append([4, 5, 6])
        z.refresh()
        return made

    monkeypatch.setattr(sys.modules["blizzarr.array.facts"], "bind", slow)
    z[0]
    np.testing.assert_array_equal(z[:], np.arange(7))


@pytest.mark.parametrize("zarr_format", [1, 2, 3])
@pytest.mark.parametrize(("dtype", "fill"), [("U5", "ab"), ("S4", b"x")])
def test_text_that_is_shorter_than_its_type(dtype: str, fill: Any, zarr_format: int) -> None:
    """F-14: a scalar of text is as long as the text, the elements of a chunk are not."""
    z = create_array({}, shape=10, dtype=dtype, chunks=4, fill_value=fill, zarr_format=zarr_format)
    z[:] = np.array(["c"] * 10, dtype)
    z.resize(5)
    z.resize(8)
    kept = np.array(["c"] * 5, dtype).tolist()
    assert z[:].tolist() == [*kept, fill, fill, fill]
