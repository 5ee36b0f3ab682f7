"""What is around zarr-python does not matter: buffers of other kinds, event loops that run already, Dask."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")

DATA = np.arange(60 * 50, dtype="int32").reshape(60, 50)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_buffers_of_another_kind(zarr_format: int, tmp_path: Path, engine: list[str]) -> None:
    """Those of a GPU go to zarr-python's own pipeline, as what they are, and NumPy's go to the engine meanwhile."""
    kinds = pytest.importorskip("zarr.testing.buffer")
    array = zarr.create_array(tmp_path, data=DATA, chunks=(10, 7), zarr_format=zarr_format)
    del engine[:]
    prototype = zarr.core.buffer.BufferPrototype(buffer=kinds.TestBuffer, nd_buffer=kinds.NDBufferUsingTestNDArrayLike)
    found = array.get_basic_selection((slice(3, 44), slice(0, None, 7)), prototype=prototype)
    assert type(found) is kinds.TestNDArrayLike
    np.testing.assert_array_equal(found, DATA[3:44, ::7])
    array.set_basic_selection((slice(3, 44), 5), np.arange(41).view(kinds.TestNDArrayLike), prototype=prototype)
    np.testing.assert_array_equal(array[3:44, 5], np.arange(41))
    assert engine == ["usual", "usual", "engine"]


def test_from_within_an_event_loop_that_runs(tmp_path: Path, engine: list[str]) -> None:
    """As in a notebook: synchronous calls from the thread of a loop, beside awaited ones and calls of other threads."""

    async def cell() -> list[Any]:
        array = zarr.create_array(tmp_path, data=DATA, chunks=(10, 7))
        array[3] = -1
        awaited = asyncio.gather(*(array._async_array.getitem((row, slice(None))) for row in range(5)))
        threads = asyncio.gather(*(asyncio.to_thread(array.__getitem__, (row, 4)) for row in range(5)))
        return [array[3, 4], np.array(await awaited), np.array(await threads), array[59]]

    one, awaited, threads, last = asyncio.run(cell())
    expected = DATA.copy()
    expected[3] = -1
    assert one == -1
    np.testing.assert_array_equal(awaited, expected[:5])
    np.testing.assert_array_equal(threads, expected[:5, 4])
    np.testing.assert_array_equal(last, expected[59])
    assert set(engine) == {"engine"}


def test_from_two_event_loops_at_once(tmp_path: Path) -> None:
    zarr.create_array(tmp_path, data=DATA, chunks=(10, 7))

    async def rows(start: int) -> None:
        array = await zarr.api.asynchronous.open_array(store=tmp_path, mode="r+")
        for row in range(start, 60, 2):
            await array.setitem((row, slice(None)), np.full(50, row, "int32"))
            assert np.asarray(await array.getitem((row, 49))) == row

    threads = [threading.Thread(target=asyncio.run, args=(rows(start),)) for start in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(zarr.open_array(tmp_path)[:], np.repeat(np.arange(60)[:, None], 50, 1))


def test_many_threads_write_single_elements(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, shape=(64,), chunks=(32,), dtype="i4")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda place: array.__setitem__(place, place), range(64)))
        assert [*pool.map(array.__getitem__, range(64))] == [*range(64)]


def test_dask(tmp_path: Path) -> None:
    """Its chunks share chunks and shards of the array, so that its tasks write parts of them at the same time."""
    pytest.importorskip("dask.array", reason="Dask is not installed")
    script = Path(__file__).parents[2] / "support" / "zarr_dask.py"
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == ("threads: the same\nprocesses: the same\n", 0), done.stderr


def test_codecs_that_zarr_python_refuses_are_refused_before_anything_is_stored() -> None:
    """Its own pipeline, whose making checks the order of codecs, is made only where it may complain."""
    from zarr.codecs import BytesCodec, ShardingCodec, TransposeCodec, ZstdCodec

    def create(codecs: list[Any]) -> dict[str, Any]:
        stored: dict[str, Any] = {}
        given: Any = {"shape": (4, 4), "chunk_shape": (2, 2), "dtype": "i4", "zarr_format": 3, "codecs": codecs}
        zarr.create(**given, store=zarr.storage.MemoryStore(stored))
        return stored

    for codecs in ([BytesCodec(), TransposeCodec(order=(1, 0))], [ZstdCodec(), BytesCodec()]):
        with pytest.raises(TypeError, match="Invalid codec order"):
            create(codecs)
    with pytest.warns(UserWarning, match="disables partial reads"):
        create([ShardingCodec(chunk_shape=(1, 1)), ZstdCodec()])
    assert "zarr.json" in create([TransposeCodec(order=(1, 0)), BytesCodec(), ZstdCodec()])
