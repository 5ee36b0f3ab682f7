"""Arrays of zarr-python whose chunks have several lengths along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")
storage: Any = pytest.importorskip("zarr.storage")

DATA = np.arange(60 * 50, dtype="int32").reshape(60, 50)
Plain = Callable[..., Any]


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return storage.LocalStore(tmp_path / "a.zarr") if request.param == "local" else storage.MemoryStore()


@pytest.fixture(autouse=True)
def rectilinear() -> Iterator[None]:
    """Chunks of several lengths along an axis."""
    if zarr.config.get("array.rectilinear_chunks", None) is None:
        pytest.skip("this release of zarr-python has only regular grids")
    with zarr.config.set({"array.rectilinear_chunks": True}):
        yield


@pytest.mark.parametrize(
    "layout",
    [
        {"chunks": ((3, 30, 1, 20, 6), (24, 26))},
        {"chunks": ((10, 10, 10, 10, 20), 7)},
        {"chunks": (5, 5), "shards": ((20, 5, 35), 25)},
    ],
    ids=str,
)
def test_chunks_of_several_lengths(layout: dict[str, Any], store: Any, plain: Plain, engine: list[str]) -> None:
    array, expected = zarr.create_array(store, data=DATA, **layout), DATA.copy()
    rows, columns = np.array([3, 3, 59, 0, 33]), np.array([49, 0, 7, 26, 24])
    mask = DATA % 7 == 0
    for step in (1, 2, 4, 9, 25, 40):
        np.testing.assert_array_equal(array[2:60:step, 1::step], DATA[2:60:step, 1::step])
    np.testing.assert_array_equal(array.oindex[rows, columns], DATA[np.ix_(rows, columns)])
    np.testing.assert_array_equal(array.oindex[4, columns], DATA[4, columns])
    np.testing.assert_array_equal(array.oindex[rows, 5:40:3], DATA[rows, 5:40:3])
    np.testing.assert_array_equal(array.vindex[rows, columns], DATA[rows, columns])
    np.testing.assert_array_equal(array.vindex[mask], DATA[mask])
    assert array[33, 26] == DATA[33, 26]
    array[2:35, 24:27] = expected[2:35, 24:27] = -1
    array.oindex[[33, 0], [1, 49]] = expected[np.ix_([33, 0], [1, 49])] = [[1, 2], [3, 4]]
    array.vindex[[59, 32], [0, 25]] = expected[[59, 32], [0, 25]] = [5, 6]
    np.testing.assert_array_equal(array[:], expected)
    assert set(engine) == {"engine"}
    np.testing.assert_array_equal(plain(store, mode="r")[:], expected)


def test_chunks_that_a_grid_gets_when_it_grows(store: Any, plain: Plain, engine: list[str]) -> None:
    """An array that is open keeps the pipeline of its old grid, which does not know where new chunks begin."""
    array, more = zarr.create_array(store, data=np.arange(30), chunks=((10, 10, 10),)), np.arange(37, 47)
    array.resize((37,))
    array.resize((47,))
    array[37:] = more
    np.testing.assert_array_equal(array[25:30], np.arange(25, 30))
    np.testing.assert_array_equal(array[37:], more)
    assert engine[-2:] == ["engine", "usual"]
    expected = np.concatenate([np.arange(30), np.zeros(7, int), more])
    np.testing.assert_array_equal(array[:], expected)
    for opened in (plain, zarr.open_array):
        np.testing.assert_array_equal(opened(store, mode="r")[:], expected)
    assert engine[-1] == "engine"
