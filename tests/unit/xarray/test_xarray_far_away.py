"""xarray's engine with stores far away: what opening a dataset needs is read at once, and only then."""

from __future__ import annotations

from collections import Counter
from threading import Barrier
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import blizzarr
import blizzarr.xarray
from blizzarr.errors import CodecError
from blizzarr.stores import MappingStore
from support import far_away as requests


def forecast() -> xr.Dataset:
    times = pd.date_range("2000", periods=6)
    lead = pd.to_timedelta(np.arange(6), "h")
    coords = {"time": times, "y": np.arange(3), "x": ["a", "b"], "valid_time": ("time", times + lead)}
    return xr.Dataset({"t": (("time", "y", "x"), np.arange(36.0).reshape(6, 3, 2))}, coords=coords)


class Far(MappingStore):
    """A store in which reads of so many chunks wait for each other, those of `t` apart."""

    remote = True

    def __init__(self, values: dict[str, bytes], together: int = 1) -> None:
        super().__init__(values)
        self.together = Barrier(together)
        self.read: Counter[str] = Counter()

    def get(self, key: str) -> Any:
        if "/c/" in key:
            self.read[key] += 1
            if not key.startswith("t/"):
                self.together.wait(10)
        return super().get(key)


def stored(data: xr.Dataset | xr.DataTree, **options: Any) -> dict[str, bytes]:
    values: dict[str, bytes] = {}
    blizzarr.xarray.to_zarr(data, values, **options)
    return values


def test_coordinates_are_read_at_once_and_once() -> None:
    data = forecast()
    values = stored(data, encoding={"time": {"chunks": (6,)}, "valid_time": {"chunks": (6,)}})
    store = Far(values, together=4)
    found = xr.open_dataset(store, engine="blizzarr")
    store.together = Barrier(1)
    assert store.read == {f"{name}/c/0": 1 for name in ("time", "valid_time", "y", "x")}
    xr.testing.assert_identical(found, data)


def test_coordinates_of_a_whole_tree_are_read_at_once() -> None:
    ends = xr.Dataset(coords={"y": np.arange(3), "x": np.arange(2)})
    tree = xr.DataTree.from_dict({"/a": ends, "/b": ends})
    store = Far(stored(tree), together=4)
    assert xr.open_datatree(store, engine="blizzarr").identical(tree)
    assert len(store.read) == 4


def test_of_times_in_many_chunks_only_the_ends_are_read() -> None:
    """Nobody needs the others to open a dataset, unless they are the coordinates of a dimension."""
    data = forecast()
    store = Far(stored(data, encoding={"time": {"chunks": (1,)}, "valid_time": {"chunks": (1,)}}))
    found = xr.open_dataset(store, engine="blizzarr")
    assert {key for key in store.read if key.startswith("valid")} == {"valid_time/c/0", "valid_time/c/5"}
    assert sum(key.startswith("time") for key in store.read) == 6
    xr.testing.assert_identical(found, data)


def test_what_is_not_used_when_a_dataset_is_opened_is_as_stored_later() -> None:
    values = stored(forecast())
    store = Far(values)
    found = xr.open_dataset(store, engine="blizzarr", create_default_indexes=False)
    # Of those, xarray has only asked how times are to be decoded.
    blizzarr.open_array(MappingStore(values), path="valid_time", mode="r+")[0] += 3_600
    assert found.valid_time[0].item() != forecast().valid_time[0].item()
    np.testing.assert_array_equal(found.y.variable.values, [0, 1, 2])
    store.read.clear()
    np.testing.assert_array_equal(found.y.variable[1:].values, [1, 2])
    for options in ({"decode_times": False}, {"decode_times": False, "group": "/"}):
        raw = Far(values, together=3)
        (xr.open_dataset if len(options) == 1 else xr.open_groups)(raw, engine="blizzarr", **options)
        assert {key.partition("/")[0] for key in raw.read} == {"time", "y", "x"}
    dropped = Far(values, together=2)
    assert "y" not in xr.open_dataset(dropped, engine="blizzarr", drop_variables=["y", "valid_time"]).variables
    assert {key.partition("/")[0] for key in dropped.read} == {"time", "x"}


def test_a_damaged_coordinate_is_an_error_where_xarray_reads_it() -> None:
    values = stored(forecast())
    values["y/c/0"] = values["y/c/0"][:-3]
    with pytest.raises(CodecError, match="/y"):
        xr.open_dataset(Far(values), engine="blizzarr")
    found = xr.open_dataset(Far(values), engine="blizzarr", create_default_indexes=False)
    with pytest.raises(CodecError, match="/y"):
        found.y.variable.load()


def test_arrays_that_are_there_are_looked_at_together_before_something_is_appended() -> None:
    store = requests.Far()
    data = xr.Dataset({name: ("time", np.arange(4)) for name in "ab"})
    store.mapping.update(stored(data, consolidated=False))
    more = xr.Dataset({name: ("time", np.arange(4, 8)) for name in "ab"})
    blizzarr.xarray.to_zarr(more, store, append_dim="time", consolidated=False)
    alone = [batch for batch in store.batches if {key.partition("/")[0] for key in batch} == {"b"}]
    # When it is opened, when it grows, and twice when its elements are stored; not in the rehearsal.
    assert sum("b/zarr.json" in batch for batch in alone) == 4
    assert blizzarr.open_group(store)["b"][:].tolist() == [*range(8)]
