"""What is told of a store, or made from it, is apart from it: copies, specs, pickles."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from tensorstore_face import ours, theirs


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_specs_of_arrays_keep_their_elements(library: Any) -> None:
    elements = np.array([1, 2, 3])
    store = library.array(elements)
    spec, view = store.spec(), store[1:].spec()
    store[1] = 50
    elements[2] = 60
    assert (spec.to_json()["array"], view.to_json()["array"]) == ([1, 2, 3], [2, 3])
    assert store.spec().to_json()["array"] == [1, 50, 60]


def _spoil(document: Any) -> None:
    """Change everything in JSON."""
    for part in list(document.values()) if isinstance(document, dict) else document:
        if isinstance(part, dict | list):
            _spoil(part)
    if isinstance(document, dict):
        document["spoilt"] = 1
    else:
        document.append("spoilt")


def test_what_is_told_can_be_changed(tmp_path: Path) -> None:
    document: dict[str, Any] = {
        "driver": "zarr3",
        "kvstore": f"file://{tmp_path}/",
        "metadata": {
            "shape": [4],
            "data_type": "int8",
            "attributes": {"a": [1, {"b": 2}]},
            "dimension_names": ["x"],
            "codecs": [{"name": "gzip", "configuration": {"level": 1}}],
        },
        "create": True,
        "open": True,
    }
    given = copy.deepcopy(document)
    spec = ours.Spec(document)
    stores = [ours.open(spec).result() for _ in range(2)]
    asked = [
        spec,
        *(getattr(store, name) for store in stores for name in ("chunk_layout", "codec", "schema", "domain")),
    ]
    asked += [store.spec() for store in stores]
    before = [copy.deepcopy(each.to_json()) for each in asked]
    for each in asked:
        _spoil(each.to_json())
    assert document == given
    _spoil(document["metadata"])
    assert [each.to_json() for each in asked] == before
    assert ours.Spec(given).to_json() == before[0]
    stores[0].schema.update(dimension_units=["nm"])
    assert [store.spec().to_json() for store in stores] == before[-2:]


def test_stores_of_every_driver_are_pickled(tmp_path: Path) -> None:
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/"}
    store = ours.open(spec, create=True, dtype="int16", shape=[4, 5]).result()
    store[...] = np.arange(20, dtype="int16").reshape(4, 5)
    made = {
        "view": store[1:3, [1, 3, 1]],
        "points": store.vindex[[1, 2], [3, 3]],
        "cast": ours.cast(store, "float32"),
        "downsample": ours.downsample(store, [2, 1], "mean"),
        "stack": ours.stack([store, store]),
        "overlay": ours.overlay([store, spec_of(store)]),
        "opened stack": ours.open(ours.stack([store, store]).spec()).result(),
        "array": ours.array([[1, 2], [3, 4]])[1],
        "read only": ours.open(spec, read=True).result(),
    }
    for name, view in made.items():
        elements = view.read().result()
        for protocol in (2, pickle.HIGHEST_PROTOCOL):
            again = pickle.loads(pickle.dumps(view, protocol))
            assert again.spec() == view.spec(), name
            assert (again.readable, again.writable) == (view.readable, view.writable), name
            np.testing.assert_array_equal(again.read().result(), elements, name)


@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5", "zarr1", "zarr3_draft"])
def test_a_pickle_opens_an_array_that_was_resized_since(driver: str, tmp_path: Path) -> None:
    """Attributes may differ, too; it is no other array: then its chunks would mean something else."""
    spec = {"driver": driver, "kvstore": f"file://{tmp_path}/"}
    store = ours.open(spec, create=True, dtype="int16", shape=[4, 5]).result()
    store[...] = np.arange(20, dtype="int16").reshape(4, 5)
    part, cast = pickle.dumps(store[1:3]), pickle.dumps(ours.cast(store, "float32"))
    store.resize(exclusive_max=[7, 5]).result()
    blizzarr.open_array(tmp_path, mode="r+").attrs["seen"] = True
    again = pickle.loads(part)
    assert str(again.domain) == "{ [1, 3), [0, 5*) }"
    assert again.read().result().tolist() == np.arange(5, 15).reshape(2, 5).tolist()
    assert pickle.loads(cast).resolve().result().shape == (7, 5)
    again[1, 0] = 77
    assert int(store[1, 0].read().result()) == 77
    ours.open(
        spec,
        create=True,
        delete_existing=True,
        dtype="int16",
        shape=[4, 5],
        chunk_layout=ours.ChunkLayout(chunk_shape=[2, 2]),
    ).result()
    for pickled in (part, cast):
        with pytest.raises(ValueError, match=r"chunk_grid|chunks|blockSize"):
            pickle.loads(pickled)


def spec_of(store: Any) -> Any:
    """Its spec, with the domain known."""
    return store.spec()
