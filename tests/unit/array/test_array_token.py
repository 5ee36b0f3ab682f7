"""Tokens for dask: the same for the same array, never for another one."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, StoreWrapper, ZipStore

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    base = pytest.importorskip("dask.base")
    da = pytest.importorskip("dask.array")


def token(array: blizzarr.Array) -> str:
    return base.tokenize(array, ensure_deterministic=True)


def test_an_array_of_a_directory_has_one_token(tmp_path: Path) -> None:
    """However it was opened, and in other processes."""
    made = blizzarr.create_array(tmp_path / "x", data=np.arange(6), chunks=2)
    (tmp_path / "link").symlink_to(tmp_path / "x")
    others = [
        blizzarr.open_array(tmp_path / "x", mode="r"),
        blizzarr.open_array(LocalStore(tmp_path / "x")),
        blizzarr.open_array(tmp_path / "link"),
        pickle.loads(pickle.dumps(made)),
    ]
    assert {token(other) for other in others} == {token(made)}
    program = f"import blizzarr, dask.base; print(dask.base.tokenize(blizzarr.open_array({str(tmp_path / 'x')!r})))"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert said.strip() == token(made)
    assert da.from_array(made).name == da.from_array(others[0]).name


def test_what_is_another_array_has_another_token(tmp_path: Path) -> None:
    """Another place, path, layout, type, or attributes; and a store that changes what is stored."""

    class Changing(StoreWrapper):
        pass

    root = blizzarr.create_group(tmp_path / "x")
    arrays = [root.create_array(name, data=np.arange(6), chunks=2) for name in "ab"]
    arrays += [blizzarr.create_array(tmp_path / "y", data=np.arange(6), chunks=chunks) for chunks in (2,)]
    arrays.append(blizzarr.open_array(Changing(LocalStore(tmp_path / "y"))))
    with ZipStore(tmp_path / "z.zip", mode="w") as store:
        arrays.append(blizzarr.create_array(store, data=np.arange(6), chunks=2))
        tokens = [token(array) for array in arrays]
        assert len(set(tokens)) == len(tokens)
    before = token(arrays[0])
    arrays[0].attrs["a"] = 1
    changed = token(blizzarr.open_array(tmp_path / "x", path="a"))
    assert changed != before
    blizzarr.open_array(tmp_path / "x", path="a", mode="r+").resize(7)
    assert token(blizzarr.open_array(tmp_path / "x", path="a")) not in (before, changed)


@pytest.mark.parametrize("make", [MemoryStore, lambda: MappingStore({}), dict], ids=["memory", "mapping", "dict"])
def test_stores_in_memory_are_told_apart(make: type) -> None:
    """Also when one is where another was before: never by their addresses."""
    tokens = set()
    for number in range(50):
        array = blizzarr.create_array(make(), data=np.full(4, number), chunks=2)
        tokens.add(token(array))
        assert token(array) == token(blizzarr.open_array(array.store))
    assert len(tokens) == 50
