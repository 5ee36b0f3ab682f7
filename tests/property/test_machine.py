"""Any history of a hierarchy ends where a dictionary of NumPy arrays ends (issue 2, "Properties")."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

import blizzarr
from support.strategies import codec_chains, dtypes, elements

NAMES = st.sampled_from(["a", "b", "g/a", "g/h/a", "g/b", "x"])
KINDS = ["local", "memory", "mapping"]


class Hierarchy(RuleBasedStateMachine):
    """Creates, writes, resizes, appends, deletes and reopens arrays; the model is a dictionary of NumPy arrays."""

    paths: Bundle[str] = Bundle("paths")

    def __init__(self) -> None:
        super().__init__()
        self.model: dict[str, npt.NDArray[Any]] = {}
        self.fills: dict[str, Any] = {}

    @initialize(kind=st.sampled_from(KINDS))
    def begin(self, kind: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        stores: dict[str, Any] = {
            "local": blizzarr.stores.LocalStore(Path(self.folder.name) / "root"),
            "memory": blizzarr.stores.MemoryStore(),
            "mapping": {},
        }
        self.store = stores[kind]
        blizzarr.create_group(self.store)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def array(self, path: str) -> blizzarr.Array:
        found = blizzarr.open(self.store, path=path, mode="r+")
        assert isinstance(found, blizzarr.Array)
        return found

    @rule(target=paths, path=NAMES, data=st.data())
    def create(self, path: str, data: st.DataObject) -> str:
        dtype = data.draw(dtypes)
        rank = data.draw(st.integers(0, 3))
        shape = tuple(data.draw(st.lists(st.integers(0, 7), min_size=rank, max_size=rank)))
        chunks = tuple(data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
        fill = data.draw(elements(dtype, (1,)))[0]
        options = {
            "shape": shape,
            "dtype": dtype,
            "chunks": chunks,
            "codecs": data.draw(codec_chains(chunks, dtype, 1)),
            "fill_value": fill,
        }
        if path in self.model:
            with pytest.raises(blizzarr.errors.NodeExistsError):
                blizzarr.create_array(self.store, name=path, **options)
        blizzarr.create_array(self.store, name=path, overwrite=True, **options)
        self.model[path] = np.full(shape, fill, dtype)
        self.fills[path] = fill
        return path

    @rule(path=paths, data=st.data())
    def write(self, path: str, data: st.DataObject) -> None:
        model = self.model.get(path)
        if model is None:
            return
        key = []
        for size in model.shape:
            start, stop = sorted(data.draw(st.tuples(st.integers(0, size), st.integers(0, size))))
            key.append(slice(start, stop, data.draw(st.integers(1, 3))))
        key = tuple(key)
        value = data.draw(elements(model.dtype, model[key].shape))
        self.array(path)[key] = value
        model[key] = value

    @rule(path=paths, data=st.data())
    def resize(self, path: str, data: st.DataObject) -> None:
        model = self.model.get(path)
        if model is None:
            return
        shape = tuple(data.draw(st.integers(0, 9)) for _ in model.shape)
        self.array(path).resize(shape)
        resized = np.full(shape, self.fills[path], model.dtype)
        common = tuple(slice(0, min(old, new)) for old, new in zip(model.shape, shape, strict=True))
        resized[common] = model[common]
        self.model[path] = resized

    @rule(path=paths, data=st.data())
    def append(self, path: str, data: st.DataObject) -> None:
        model = self.model.get(path)
        if model is None or not model.ndim:
            return
        axis = data.draw(st.integers(0, model.ndim - 1))
        shape = list(model.shape)
        shape[axis] = data.draw(st.integers(0, 4))
        value = data.draw(elements(model.dtype, tuple(shape)))
        self.array(path).append(value, axis=axis)
        self.model[path] = np.concatenate([model, value], axis=axis)

    @rule(path=consumes(paths))
    def delete(self, path: str) -> None:
        group = blizzarr.open_group(self.store, mode="r+")
        if path not in self.model:
            with pytest.raises(KeyError):
                del group[path]
            return
        del group[path]
        del self.model[path]

    @rule(path=paths, number=st.integers())
    def annotate(self, path: str, number: int) -> None:
        if path in self.model:
            array = self.array(path)
            array.attrs["number"] = number
            assert self.array(path).attrs["number"] == number

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        if not hasattr(self, "store"):
            return
        root = blizzarr.open_group(self.store, mode="r")
        arrays = {path: node for path, node in root.members(max_depth=None) if isinstance(node, blizzarr.Array)}
        assert sorted(arrays) == sorted(self.model)
        for path, expected in self.model.items():
            # What was opened by itself before is remembered.
            for found in (arrays[path], self.array(path)):
                assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
                assert np.asarray(found[...]).tobytes() == expected.tobytes(), path


TestHierarchy = Hierarchy.TestCase
TestHierarchy.settings = settings(
    max_examples=60, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
