"""Arrays where NumPy's are expected: conversion, iteration, truth, pickling (issue 2, point 3)."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.config import config
from blizzarr.stores import LocalStore
from support.arrays import make

DATA = np.arange(60, dtype=np.int16).reshape(5, 4, 3)


def test_asarray_reads_everything() -> None:
    z = make(DATA, chunks=(2, 2, 2))
    np.testing.assert_array_equal(np.asarray(z), DATA, strict=True)
    np.testing.assert_array_equal(np.asarray(z, dtype="f8"), DATA.astype("f8"), strict=True)
    np.testing.assert_array_equal(np.array(z, copy=True), DATA, strict=True)


def test_asarray_of_an_array_without_axes_is_one_too() -> None:
    found = np.asarray(make(np.array(7)))
    assert type(found) is np.ndarray
    assert (found.shape, found[()]) == ((), 7)


def test_asarray_cannot_avoid_the_copy() -> None:
    with pytest.raises(ValueError, match="found copy=False: reading makes a copy"):
        make(DATA).__array__(copy=False)


@pytest.mark.parametrize("chunks", [(1, 4, 3), (2, 2, 2), (5, 4, 3)])
def test_iteration_gives_rows(chunks: tuple[int, ...]) -> None:
    z = make(DATA, chunks=chunks)
    rows = list(z)
    assert len(rows) == 5
    np.testing.assert_array_equal(np.stack(rows), DATA)
    assert [int(value) for value in make(np.arange(3))] == [0, 1, 2]


def test_iteration_reads_each_chunk_once() -> None:
    reads: list[str] = []

    z = make(DATA, chunks=(2, 4, 3))
    handle = z._bind().handle

    class Spy:
        def read(self, out: np.ndarray, axes: object) -> None:
            reads.append(str(out.shape))
            handle.read(out, axes)

    z._binding = type(z._binding)(Spy(), z.dtype)  # type: ignore[arg-type]
    assert len(list(z)) == 5
    assert len(reads) == 1, "small arrays are read in one go"


def test_len_and_iteration_need_an_axis() -> None:
    z = make(np.array(7))
    with pytest.raises(TypeError, match=r"which has no len\(\)"):
        len(z)
    with pytest.raises(TypeError, match=r"use array\[\(\)\]"):
        iter(z)


def test_one_element_converts() -> None:
    for data in (np.array(3), np.array([3]), np.array([[3]])):
        for z in (array := make(data), array.lazy):
            assert (int(z), float(z), complex(z), bool(z)) == (3, 3.0, 3 + 0j, True)
    assert not make(np.zeros((1, 1)))
    assert not make(np.zeros(1, "M8[D]"))


def test_more_elements_do_not_convert() -> None:
    for z in (array := make(DATA), array.lazy):
        with pytest.raises(TypeError, match="expected one element to convert, found 60"):
            int(z)
        with pytest.raises(ValueError, match=r"found 60: use array\[\.\.\.\]\.any\(\) or"):
            bool(z)


def test_only_integers_without_axes_are_indices() -> None:
    assert list(range(10))[make(np.array(4))] == list(range(10))[make(np.array(4)).lazy] == 4
    with pytest.raises(TypeError, match=r"as an index, found one of shape \(1,\)"):
        range(10)[make(np.array([4]))]
    with pytest.raises(TypeError):
        range(10)[make(np.array(4.0))]


def test_membership() -> None:
    z = make(DATA)
    assert 59 in z
    assert 60 not in z


def test_an_array_of_ours_is_a_key_for_another() -> None:
    z = make(np.arange(10))
    assert z[make(np.array([3, 1]))].tolist() == [3, 1]
    assert z[make(np.arange(10) % 5 == 0)].tolist() == [0, 5]


def test_an_array_can_be_assigned_to_itself_shifted() -> None:
    z = make(np.arange(10), chunks=(3,))
    z[1:] = z[:-1]
    assert z[:].tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]


def test_pickled_array_of_a_directory_opens_in_another_process(tmp_path: Path) -> None:
    """Fault row 109."""
    z = make(DATA, store=LocalStore(tmp_path), path="deep/a", chunks=(2, 2, 2))
    (tmp_path / "z.pickle").write_bytes(pickle.dumps(z))
    program = (
        "import pickle, sys; z = pickle.load(open(sys.argv[1], 'rb')); print(z.path, z[4, 3, 2], z.attrs.asdict())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "z.pickle")], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["deep/a", "59", "{}"]


def test_unpickled_array_reads_and_writes_the_same_place(tmp_path: Path) -> None:
    z = make(DATA, store=LocalStore(tmp_path))
    again = pickle.loads(pickle.dumps(z))
    again[0] = 9
    assert z[0, 0, 0] == 9


def test_read_only_arrays_refuse_before_any_work(tmp_path: Path) -> None:
    """Fault row 89."""
    make(DATA, store=LocalStore(tmp_path))
    z = pickle.loads(pickle.dumps(make(DATA, store=LocalStore(tmp_path), path="b")))
    z = type(z)(LocalStore(tmp_path, read_only=True), "b", z.metadata)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for change in (
        lambda: z.__setitem__(0, 1),
        lambda: z.__setitem__([0], 1),
        lambda: z.oindex.__setitem__(0, 1),
        lambda: z.set_mask_selection(DATA > 3, 1),
        lambda: z.resize((1, 1, 1)),
        lambda: z.append(DATA),
        lambda: z.attrs.__setitem__("a", 1),
    ):
        with pytest.raises(PermissionError, match="opened for reading"):
            change()
    assert z.read_only
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_rows_that_are_wider_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Iterating reads no more at a time than copying may, even where a row of chunks has more."""
    z = make(shape=(64, 1 << 20), dtype="u1", chunks=(64, 1 << 14))
    read: list[tuple[int, ...]] = []

    def remembered(binding: object, lowered: Any, *_: Any) -> Any:
        read.append(lowered[0])
        return np.zeros(lowered[0], "u1")

    monkeypatch.setattr(sys.modules["blizzarr.array.array"], "read", remembered)
    with config.set(copy_bytes=5 << 20):
        next(iter(z))
    assert read == [(5, 1 << 20)]
