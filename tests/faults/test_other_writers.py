"""Faults: dask, buffers that change, writers of other libraries (rows 97, 110, 111)."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")

LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (64, 64)},
    "uncompressed": {"chunks": (64, 64), "compressors": None},
    "shards": {"chunks": (16, 16), "shards": (64, 64)},
    "v2": {"chunks": (64, 64), "zarr_format": 2},
}
EXPECTED = np.arange(128 * 128, dtype="int32").reshape(128, 128)


@pytest.fixture
def target(layout: str, tmp_path: Path) -> blizzarr.Array:
    """An array whose chunks, or shards, are larger than those that dask writes."""
    return blizzarr.create_array(tmp_path, shape=(128, 128), dtype="int32", **LAYOUTS[layout])


# Workers take seconds to start; with threads each layout has its turn.
@pytest.mark.parametrize(
    ("layout", "scheduler"),
    [
        *((layout, "threads") for layout in LAYOUTS),
        ("shards", "processes"),
        *(pytest.param(layout, "processes", marks=pytest.mark.thorough) for layout in ("chunks", "uncompressed", "v2")),
    ],
)
def test_row_097_dask_stores_parts_of_chunks_without_a_lock(target: blizzarr.Array, scheduler: str) -> None:
    """zarr-python's #3682: chunks of 7 x 11 into chunks and shards of 64 x 64, several at once; none is lost."""
    source = da.from_array(EXPECTED, chunks=(7, 11))
    for _ in range(3 if scheduler == "threads" else 1):
        target[...] = 0
        with dask.config.set(scheduler=scheduler, num_workers=4):
            da.store(source, target, lock=False)
        assert (target[...] == EXPECTED).all()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Workers of dask that are processes of their own."""
    distributed = pytest.importorskip("distributed")
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0", processes=True) as made,
        distributed.Client(made) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")
def test_row_097_workers_of_a_cluster(cluster: Any, tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path, shape=(128, 128), dtype="int32", chunks=(16, 16), shards=(128, 128))
    source = da.from_array(EXPECTED, chunks=(16, 32))
    da.store(source, array, lock=False, scheduler=cluster)
    assert (array[...] == EXPECTED).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_097_arrays_are_sources_of_dask(target: blizzarr.Array) -> None:
    """By their shapes, data types and chunks."""
    target[...] = EXPECTED
    with dask.config.set(scheduler="threads"):
        assert (da.from_array(target)[3:77, ::5].compute() == EXPECTED[3:77, ::5]).all()
        assert (da.from_array(target, chunks=target.chunks) + 1).sum().compute() == (EXPECTED + 1).sum()
    assert da.from_array(target).dtype == np.dtype("int32")


def test_row_110_a_buffer_that_changes_while_it_is_written(tmp_path: Path) -> None:
    """Each byte is one that the buffer had at some moment; the chunk can be read, whatever its codec."""
    for number, layout in enumerate(({"compressors": None}, {}, {"shards": 4096, "chunks": 512})):
        array = blizzarr.create_array(
            tmp_path / str(number), shape=4096, dtype="uint32", **{"chunks": 4096, **layout}, fill_value=9
        )
        buffer = np.zeros(4096, "uint32")
        over = threading.Event()

        def change(buffer: np.ndarray[Any, Any] = buffer, over: threading.Event = over) -> None:
            value = 0
            while not over.is_set():
                value = 1 - value
                buffer[...] = value * 0xFFFFFFFF

        changer = threading.Thread(target=change)
        changer.start()
        try:
            for _ in range(100):
                array[...] = buffer
                found = array[...]
                # Not each element: memory is copied in pieces that end within elements.
                assert np.isin(found.view("uint8"), (0, 0xFF)).all()
        finally:
            over.set()
            changer.join()


@pytest.mark.parametrize("peer", ["zarr", "tensorstore"])
def test_row_111_writers_of_other_libraries_in_other_chunks(tmp_path: Path, peer: str) -> None:
    """They know none of our locks: in different chunks nothing is lost, and that is all that is promised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pytest.importorskip(peer)
    array = blizzarr.create_array(tmp_path, shape=(16, 256), chunks=(1, 256), dtype="int32")
    if peer == "zarr":
        theirs = library.open_array(str(tmp_path), mode="r+")
    else:
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(tmp_path)}}
        theirs = library.open(spec).result()
    go = threading.Barrier(2)

    def write(array: Any, first: int) -> None:
        go.wait()
        for value in range(1, 30):
            for row in range(first, 16, 2):
                if hasattr(array, "write") and not isinstance(array, blizzarr.Array):
                    array[row, 5:200].write(np.full(195, value, "int32")).result()
                else:
                    array[row, 5:200] = value

    threads = [threading.Thread(target=write, args=each) for each in ((array, 0), (theirs, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (array[:, 5:200] == 29).all()
    assert not array[:, :5].any()
