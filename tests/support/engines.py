"""Two engines behind one face: NumPy in memory, and the native one on chunks of a random layout."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from blizzarr.indexing import Form, Lowered, lower_form
from blizzarr.transfer import Binding, read, write
from support.reference import ReferenceHandle

__all__ = ["ENGINES", "bind", "contents"]

ENGINES = ["reference", "native"] if importlib.util.find_spec("blizzarr._native") else ["reference"]


@st.composite
def layouts(draw: st.DrawFn, rank: int, itemsize: int) -> tuple[tuple[int, ...], list[Any]]:
    """A chunk shape and the steps of a codec chain: perhaps sharded, transposed, compressed."""
    steps: list[Any] = [("bytes", 0)]
    if draw(st.booleans()):
        steps.append(draw(st.sampled_from([("gzip", 1), ("zstd", 1, True), ("crc32c",)])))
    if draw(st.booleans()):
        steps.insert(0, ("transpose", tuple(draw(st.permutations(range(rank))))))
    inner = tuple(draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
    if draw(st.booleans()):
        return inner, steps
    index = [("bytes", 0), ("crc32c",)]
    outer = tuple(length * draw(st.integers(1, 3)) for length in inner)
    order = draw(st.sampled_from(["lexicographic", "colexicographic", "morton"]))
    return outer, [("shard", inner, steps, index, draw(st.booleans()), order)]


def whole(shape: tuple[int, ...]) -> Lowered:
    return lower_form(Form.of_shape(shape), shape)


def bind(engine: str, array: npt.NDArray[Any], draw: st.DrawFn) -> Binding:
    """An array with these contents, to read and to write."""
    if engine == "reference":
        return Binding(ReferenceHandle(array.copy()), array.dtype)
    from blizzarr import _native

    chunk_shape, steps = draw(layouts(array.ndim, array.itemsize))
    fill = np.zeros((), array.dtype).tobytes()
    chain = _native.Chain(chunk_shape, array.itemsize, fill, array.dtype == bool, steps)
    store = _native.MemoryStore()
    store.set("a/zarr.json", b"{}")  # what writers lock
    handle = _native.ArrayHandle(store, "/a", "a/", "a/zarr.json", array.shape, chain, "c/", "/", "c")
    binding = Binding(handle, array.dtype)
    write(binding, whole(array.shape), array)
    return binding


def contents(binding: Binding, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Everything that is stored."""
    if isinstance(binding.handle, ReferenceHandle):
        return binding.handle.array
    return read(binding, whole(shape))
