"""Memory of what zarr-python reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import blizzarr._native

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")
zarr_pipeline = pytest.importorskip("blizzarr.zarr_pipeline")


@pytest.mark.parametrize("dtype", ["float32", ">i2", "M8[2h]", ">m8[s]", "T"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_of_results_is_used_again(dtype: str, order: str, tmp_path: Path, engine: list[str]) -> None:
    """The memory of results is the engine's, which uses it again, but never while somebody has a result there."""
    data = (np.arange(1 << 21) % 1000).reshape(1 << 11, -1).astype(dtype)
    with zarr.config.set({"ndbuffer": "blizzarr.zarr_pipeline.NDBuffer", "array.order": order}):
        array = zarr.create_array(tmp_path, shape=data.shape, dtype=data.dtype, chunks=(512, 512), compressors=None)
        array[:] = data
        kept = array[:]
        array[:]
        again = array[1:]
    assert isinstance(zarr_pipeline.NDBuffer.empty((2,), data.dtype), zarr.core.buffer.cpu.NDBuffer)
    assert again.dtype == kept.dtype == data.dtype
    assert kept.flags.c_contiguous == (order == "C")
    np.testing.assert_array_equal(kept, data)
    np.testing.assert_array_equal(again, data[1:])
    assert again.ctypes.data != kept.ctypes.data
    memory: object = again
    while isinstance(memory, np.ndarray):
        memory = memory.base
    assert isinstance(memory, blizzarr._native.ResultMemory) == (dtype != "T")
    assert set(engine) == {"engine"}


def test_small_results_own_their_memory() -> None:
    """So they can be resized in place, as those of zarr-python."""
    with zarr.config.set({"ndbuffer": "blizzarr.zarr_pipeline.NDBuffer"}):
        array = zarr.create_array({}, shape=3, dtype="int32")
        array[:] = [1, 2, 3]
        result = array[:]
    assert result.base is None
    result.resize(2)
    assert result.tolist() == [1, 2]
