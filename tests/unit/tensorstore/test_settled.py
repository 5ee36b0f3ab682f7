"""What follows from a spec is worked out once for many arrays, which nobody must notice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore

import blizzarr.tensorstore as ts
from blizzarr.tensorstore import stored_array, stored_place
from blizzarr.tensorstore.store import TensorStore, driver_of

_SPEC = {"driver": "zarr3", "kvstore": "memory://a/"}


def _create(module: Any, **constraints: Any) -> Any:
    return module.open(_SPEC, create=True, **constraints).result()


@pytest.mark.parametrize(
    "constraints",
    [
        {},
        {"fill_value": 1},
        {"fill_value": 2},
        {"dimension_units": ["3nm", None]},
        {"dimension_units": ["4nm", None]},
        {"chunk_layout": {"read_chunk": {"shape": [2, 3]}}},
        {"chunk_layout": {"read_chunk": {"shape_soft_constraint": [2, 3]}}},
        {"chunk_layout": {"read_chunk": {"elements": 6}}},
        {"chunk_layout": {"inner_order": [1, 0]}},
        {"codec": {"driver": "zarr3", "codecs": [{"name": "gzip", "configuration": {"level": 5}}]}},
        {"codec": {"driver": "zarr3", "codecs": [{"name": "gzip", "configuration": {"level": 6}}]}},
        {"domain": {"shape": [4, 6], "labels": ["x", "y"]}},
        {"domain": {"shape": [4, 6], "labels": ["x", ""]}},
    ],
)
def test_arrays_of_other_constraints_are_others(constraints: dict[str, Any]) -> None:
    made = []
    for module in (tensorstore, ts, ts):
        given = dict(constraints)
        for name, kind in (("chunk_layout", module.ChunkLayout), ("codec", module.CodecSpec)):
            if name in given:
                given[name] = kind(given[name])
        if "domain" in given:
            given["domain"] = module.IndexDomain(json={**given["domain"], "inclusive_min": [0, 0]})
        else:
            given["shape"] = [4, 6]
        made.append(_create(module, dtype="int16", **given).spec().to_json())
    assert made[1] == made[0]
    assert made[2] == made[0]


def test_attributes_of_arrays_of_one_spec_are_their_own() -> None:
    spec = {**_SPEC, "metadata": {"attributes": {"a": [1]}}}
    first = ts.open(spec, create=True, dtype="int8", shape=[2]).result()
    driver_of(first)._array.metadata.attributes["a"].append(2)
    second = ts.open(spec, create=True, dtype="int8", shape=[2]).result()
    assert driver_of(second)._array.metadata.attributes == {"a": [1]}


def test_what_one_array_fulfils_is_asked_of_another() -> None:
    context = ts.Context()
    for shape in ([4], [5]):
        spec = {"driver": "zarr3", "kvstore": f"memory://{shape[0]}/"}
        ts.open(spec, create=True, dtype="int8", shape=shape, context=context).result()
    for _ in range(2):
        assert ts.open(spec, shape=[5], context=context).result().shape == (5,)
        with pytest.raises(ValueError, match="domain"):
            ts.open({"driver": "zarr3", "kvstore": "memory://4/"}, shape=[5], context=context).result()
        with pytest.raises(ValueError, match="dtype"):
            ts.open(spec, shape=[5], dtype="int16", context=context).result()


def test_an_array_that_was_resized_is_held_against_its_new_shape() -> None:
    context = ts.Context()
    store = ts.open(_SPEC, create=True, dtype="int8", shape=[4], context=context).result()
    assert ts.open(_SPEC, shape=[4], context=context).result().shape == (4,)
    assert store.resize(exclusive_max=[5]).result().schema.domain.shape == (5,)
    with pytest.raises(ValueError, match="domain"):
        ts.open(_SPEC, shape=[4], context=context).result()
    assert ts.open(_SPEC, shape=[5], context=context).result().read().result().tolist() == [0] * 5


def test_opening_reads_the_document_once(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ts.Context()
    ts.open(_SPEC, create=True, dtype="int8", shape=[4], context=context).result()
    asked = []
    find = stored_array.find_one

    def counted(*arguments: Any) -> Any:
        asked.append(arguments[1])
        return find(*arguments)

    for module in (stored_array, stored_place):
        monkeypatch.setattr(module, "find_one", counted)
    store = ts.open(_SPEC, read=True, write=False, open=True, context=context).result()
    assert isinstance(store, TensorStore)
    assert asked == ["a"]
    assert not store.writable
    np.testing.assert_array_equal(store.read().result(), [0] * 4)
    asked.clear()
    ts.open(_SPEC, open=True, context=context).result().resize(exclusive_max=[6]).result()
    assert asked == ["a"] * 2


_GROWING = """
import sys
import blizzarr.tensorstore as ts
path, axis = sys.argv[1], int(sys.argv[2])
store = ts.open({"driver": "zarr3", "kvstore": f"file://{path}/"}).result()
for length in range(1, 61):
    wanted = [None, None]
    wanted[axis] = length
    store = store.resize(exclusive_max=wanted).result()
    assert store.shape[axis] == length
"""


def test_processes_that_resize_one_array_lose_nothing(tmp_path: Path) -> None:
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/"}
    ts.open(spec, create=True, dtype="int8", shape=[0, 0]).result()
    running = [subprocess.Popen([sys.executable, "-c", _GROWING, str(tmp_path), axis]) for axis in "01"]
    assert [process.wait() for process in running] == [0, 0]
    assert ts.open(spec).result().shape == (60, 60)
