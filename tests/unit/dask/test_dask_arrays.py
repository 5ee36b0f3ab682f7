"""Dask's arrays: chunks follow what is stored, names follow the content, and writes that share a chunk are all kept."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import Any

import dask
import dask.array as da
import fsspec
import numpy as np
import pytest
from dask.delayed import Delayed

import blizzarr
from blizzarr.dask import from_zarr, to_zarr
from blizzarr.dask.writing import _aligned
from blizzarr.errors import NodeExistsError, NodeNotFoundError, NodeTypeError, ReadOnlyError, UnsupportedOperationError
from blizzarr.stores import FsspecStore, LocalStore, MemoryStore, ObjectStore, StoreWrapper
from support.object_servers import OPTIONS, new_bucket, s3_server

VALUES = np.arange(31 * 17).reshape(31, 17)


def test_chunks(tmp_path: Path) -> None:
    """A chunk of Dask is a stored chunk or a shard, unless others are asked for."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    plain = group.create_array("plain", data=VALUES, chunks=(8, 10))
    sharded = group.create_array("sharded", data=VALUES, chunks=(4, 5), shards=(16, 10))
    assert from_zarr(plain).chunks == ((8, 8, 8, 7), (10, 7))
    assert from_zarr(sharded).chunks == ((16, 15), (10, 7))
    assert from_zarr(sharded, chunks=-1).chunks == ((31,), (17,))
    assert from_zarr(sharded, chunks={0: 5}).chunks == ((5,) * 6 + (1,), (17,))
    assert from_zarr(sharded, chunks="auto").chunks == ((31,), (17,))
    with pytest.raises(ValueError, match="Chunks do not add up"):
        from_zarr(plain, chunks=((8,), (17,)))
    assert (from_zarr(sharded)[::-2, [3, 0]].compute(scheduler="sync") == VALUES[::-2, [3, 0]]).all()


def test_chunks_of_several_lengths(tmp_path: Path) -> None:
    """Those of Dask are the stored ones; asked for, the stored ones are those of Dask; writes end where they do."""
    uneven: Any = ((4, 20, 7), (10, 7))
    plain = blizzarr.create_array(tmp_path / "a.zarr", data=VALUES, chunks=[[4, 20, 10], 10])
    sharded = blizzarr.create_array({}, data=VALUES, chunks=(2, 1), shards=[[4, 20, 10], [10, 7]])
    for array in (plain, sharded):
        assert from_zarr(array).chunks == uneven
        assert (from_zarr(array)[::-2, [3, 0]].compute(scheduler="sync") == VALUES[::-2, [3, 0]]).all()
    to_zarr(da.from_array(VALUES, chunks=uneven), tmp_path / "b.zarr", chunks=uneven)
    stored = blizzarr.open_array(tmp_path / "b.zarr")
    assert stored.chunks == uneven
    assert (stored[...] == VALUES).all()
    to_zarr(da.from_array(-VALUES, chunks=(9, 5)), FsspecStore(fsspec.filesystem("memory"), "uneven"), chunks=uneven)
    remote = blizzarr.open_array(FsspecStore(fsspec.filesystem("memory"), "uneven"))
    assert _aligned(da.from_array(VALUES, chunks=(9, 5)), remote, [(0, 31), (0, 17)]) == ((4, 20, 7), (10, 7))
    assert _aligned(da.from_array(VALUES, chunks=(26, 5)), remote, [(2, 31), (3, 3)]) == ((22, 7), (0,))
    assert (remote[...] == -VALUES).all()


def test_targets(tmp_path: Path) -> None:
    """Arrays, groups, paths, stores and URLs with options lead to the array."""
    path = tmp_path / "a.zarr"
    z = blizzarr.create_group(path).create_array("b/z", data=[1, 2, 3])
    store = FsspecStore(fsspec.filesystem("memory"), "dask/b.zarr")
    blizzarr.create_array(store, data=[1, 2, 3], overwrite=True)
    for found in (
        from_zarr(z),
        from_zarr(path, "b/z"),
        from_zarr(str(path / "b" / "z")),
        from_zarr(LocalStore(path), "/b/z"),
        from_zarr(blizzarr.open_group(path, mode="r"), "b/z"),
        from_zarr("memory://dask/b.zarr", storage_options={"skip_instance_cache": True}),
    ):
        assert found.sum().compute(scheduler="sync") == 6
    with pytest.raises(NodeNotFoundError):
        from_zarr(path, "c")
    for group in (blizzarr.open_group(path), path):
        with pytest.raises(
            NodeTypeError, match="expected an array, found a group; name one of its arrays with component="
        ):
            from_zarr(group, "b")
    with pytest.raises(NodeTypeError, match="expected an array, found an array, which has no component"):
        from_zarr(z, "c")


@pytest.mark.parametrize("kind", ["directory", "memory", "shards"])
def test_names_follow_the_content(tmp_path: Path, kind: str) -> None:
    """The same content has the same name, other chunks and other content have another one."""
    target: Any = MemoryStore() if kind == "memory" else tmp_path / "a.zarr"
    shards = (16, 16) if kind == "shards" else None
    z = blizzarr.create_array(target, data=VALUES, chunks=(8, 8), shards=shards, fill_value=7)
    if kind != "memory":
        # Until then, no other time is sure to be another one: see `rust/core/src/store/local/times.rs`.
        assert from_zarr(z).name != from_zarr(z).name
        sleep(2.1)
    before = from_zarr(z)
    again = blizzarr.open_array(target, mode="r")
    assert from_zarr(again).name == before.name
    assert from_zarr(again, chunks=10).name != before.name
    assert from_zarr(again, name="mine").name == "mine"
    z[3, 3] = -1
    after = from_zarr(z)
    assert after.name != before.name
    z[:] = 7  # no chunk is stored any more
    assert from_zarr(z).name not in (before.name, after.name)


def test_names_where_versions_are_not_known() -> None:
    """In other stores a name is never used twice, so that no former result is taken for this one."""
    z = blizzarr.create_array(FsspecStore(fsspec.filesystem("memory"), "dask/c.zarr"), data=[1], overwrite=True)
    assert from_zarr(z).name != from_zarr(z).name
    many = blizzarr.create_array({}, shape=10_001, chunks=1, dtype="int8")
    assert from_zarr(many).name != from_zarr(many).name


@pytest.mark.parametrize("shards", [None, (20, 10)])
def test_unaligned_writes_are_kept(tmp_path: Path, shards: tuple[int, ...] | None) -> None:
    """Tasks that write parts of one chunk or shard at the same time lose nothing."""
    array = da.from_array(VALUES, chunks=(7, 3))
    with dask.config.set(scheduler="threads", num_workers=4):
        to_zarr(array, tmp_path / "a.zarr", "x/y", chunks=(10, 5), shards=shards)
    z = blizzarr.open_array(tmp_path / "a.zarr", path="x/y")
    assert (z.chunks, z.shards) == ((10, 5), shards)
    assert (z[:] == VALUES).all()


def test_new_arrays(tmp_path: Path) -> None:
    """New arrays have Dask's chunks if those are alike, and any option of `create_array`."""
    path = tmp_path / "a.zarr"
    to_zarr(da.from_array(VALUES, chunks=(8, 10)), path, attributes={"units": "m"}, compressors="gzip")
    z = blizzarr.open_array(path)
    assert (z.chunks, z.attrs["units"], z.compressors[0].name) == ((8, 10), "m", "gzip")
    uneven = da.from_array(VALUES, chunks=((1, 20, 10), 17))
    with pytest.raises(NodeExistsError):
        to_zarr(uneven, path)
    to_zarr(uneven, path, overwrite=True, dtype="int32")
    z = blizzarr.open_array(path)
    assert (z.chunks, z.dtype) == ((31, 17), np.dtype("int32"))
    group = blizzarr.create_group(tmp_path / "b.zarr", zarr_format=2)
    to_zarr(uneven, group, "z")
    assert group["z"].metadata.format == "v2"
    assert (group["z"][:] == VALUES).all()
    unknown = da.from_array(VALUES, chunks=8)
    with pytest.raises(ValueError, match=r"call compute_chunk_sizes\(\) first"):
        to_zarr(unknown[unknown > 3], tmp_path / "c.zarr")


def test_regions(tmp_path: Path) -> None:
    """A region of an array that is there is written, and nothing else."""
    expected = np.zeros((31, 17), int)
    z = blizzarr.create_array(tmp_path / "a.zarr", data=expected, chunks=(8, 8))
    part = da.from_array(VALUES[:9], chunks=(2, 5))
    to_zarr(part, z, region=(slice(3, 12), ...))
    expected[3:12] = VALUES[:9]
    to_zarr(part[:, :2], tmp_path / "a.zarr", region=(slice(-9, None), slice(1, 3)))
    expected[-9:, 1:3] = VALUES[:9, :2]
    assert (z[:] == expected).all()
    with pytest.raises(ValueError, match=r"expected an array of shape \(10, 17\) to write, found shape \(9, 17\)"):
        to_zarr(part, z, region=slice(10))
    with pytest.raises(ValueError, match="expected a slice with step 1"):
        to_zarr(part, z, region=slice(0, 18, 2))
    with pytest.raises(TypeError, match="chunks, fill_value would be for a new array"):
        to_zarr(part, z, region=slice(9), chunks=3, fill_value=1)
    with pytest.raises(NodeNotFoundError):
        to_zarr(part, tmp_path / "b.zarr", region=slice(9))
    with pytest.raises(ValueError, match="expected no component with an array"):
        to_zarr(part, z, "b")


def test_later(tmp_path: Path) -> None:
    """With compute=False the array is there, and its elements come later; what is stored can be read again."""
    array = da.from_array(VALUES, chunks=(7, 3))
    pending = to_zarr(array, tmp_path / "a.zarr", chunks=8, compute=False)
    z = blizzarr.open_array(tmp_path / "a.zarr")
    assert not z[:].any()
    pending.compute(scheduler="threads")
    assert (z[:] == VALUES).all()
    [stored] = [to_zarr(array + 1, z, return_stored=True)]
    assert (np.asarray(stored) == VALUES + 1).all()


def test_what_was_computed_later_is_in_a_zip_file(tmp_path: Path) -> None:
    """While the object that writes is still there, and with it the open file."""
    pending = to_zarr(da.from_array(VALUES, chunks=(7, 3)), tmp_path / "a.zip", chunks=8, compute=False)
    assert not (tmp_path / "a.zip").exists()
    for _ in range(2):
        assert pending.compute() is None
        assert (blizzarr.open_array(tmp_path / "a.zip", mode="r")[:] == VALUES).all()
    assert type(pending) is Delayed


def test_an_array_does_not_replace_what_it_is_read_from(tmp_path: Path) -> None:
    """What is to be read would be removed first, and read as the fill value."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    z = group.create_array("b/z", data=VALUES)
    for target, component in ((group, "b"), (tmp_path / "a.zarr", "b/z"), (str(tmp_path), "a.zarr")):
        with pytest.raises(ValueError, match="which would be removed before it is copied"):
            to_zarr(from_zarr(z) + 1, target, component, overwrite=True)
    assert (z[:] == VALUES).all()
    to_zarr(from_zarr(z) + 1, group, "c", overwrite=True)
    to_zarr(from_zarr(group["c"]).persist(scheduler="sync"), group, "c", overwrite=True)
    assert (group["c"][:] == VALUES + 1).all()


def test_stores_that_merge_for_one_process_only() -> None:
    """Elsewhere each stored chunk is written by one task."""
    written: list[str] = []

    class Values(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            written.append(key)
            super().__setitem__(key, value)

    z = blizzarr.create_array(Values(), shape=(31, 17), chunks=(8, 8), dtype=VALUES.dtype)
    part = da.from_array(VALUES[:20, :14], chunks=(3, 5))
    written.clear()
    to_zarr(part, z, region=(slice(5, 25), slice(2, 16)))
    assert sorted(written) == sorted(f"c/{y}/{x}" for y in range(4) for x in range(2))
    assert (z[5:25, 2:16] == VALUES[:20, :14]).all()
    assert not z[:5].any()


@pytest.mark.parametrize("make", [dict, pytest.param(MemoryStore, marks=pytest.mark.thorough)])
def test_processes_cannot_write_to_this_memory(make: Any) -> None:
    """What would be written to a copy of this memory is refused before anything is changed, or by the tasks."""
    target, array = make(), da.ones(4, chunks=2)
    z = blizzarr.create_array(target, name="z", shape=4, dtype="int8")
    with ProcessPoolExecutor(1) as pool:
        for scheduler in ("processes", pool):
            with dask.config.set(scheduler=scheduler):
                for place, options in ((target, {"component": "z", "overwrite": True}), (z, {})):
                    with pytest.raises(UnsupportedOperationError, match="memory of this process; compute with sched"):
                        to_zarr(array, place, **options)
    assert blizzarr.open_array(target, path="z").dtype == np.int8
    pending = to_zarr(array, target, "z", overwrite=True, compute=False)
    with pytest.raises(ReadOnlyError, match="the copy of a store in memory that pickling made"):
        pending.compute(scheduler="processes", num_workers=1)
    with ThreadPoolExecutor(1) as threads, dask.config.set(scheduler=threads):
        to_zarr(array + 1, target, "z", overwrite=True)
    assert blizzarr.open_array(target, path="z")[:].tolist() == [2, 2, 2, 2]


def test_processes_cannot_write_to_a_zip_file(tmp_path: Path) -> None:
    """It has one writer; nothing is created, and what is there stays."""
    array = da.ones(4, chunks=2)
    blizzarr.create_array(tmp_path / "old.zip", data=[7]).store.close()
    with dask.config.set(scheduler="processes"):
        for name in ("old.zip", "new.zip"):
            with pytest.raises(UnsupportedOperationError, match=r"open for writing .*; compute with sched"):
                to_zarr(array, tmp_path / name, overwrite=True)
    gc.collect()
    assert blizzarr.open_array(tmp_path / "old.zip", mode="r")[:].tolist() == [7]
    assert [path.name for path in tmp_path.iterdir()] == ["old.zip"]


def test_processes_write_to_a_store_of_a_local_class(tmp_path: Path) -> None:
    """Dask can pickle it, though `pickle` cannot."""

    class Mine(StoreWrapper):
        pass

    with dask.config.set(scheduler="processes"):
        to_zarr(da.ones(4, chunks=2), Mine(LocalStore(tmp_path / "z")))
    assert blizzarr.open_array(tmp_path / "z")[:].tolist() == [1, 1, 1, 1]


def test_only_arrays_of_dask() -> None:
    """Others are refused with a way to store them."""
    for other, name in ((VALUES, "ndarray"), ([1, 2], "list")):
        with pytest.raises(TypeError, match=f"expected an array of Dask, found {name}; .*create_array"):
            to_zarr(other, {})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    pytest.importorskip("obstore")
    pytest.importorskip("moto")
    with s3_server() as url:
        yield url


def test_distributed(tmp_path: Path, server: str) -> None:
    """Workers in other processes read and write, in directories and in S3."""
    distributed = pytest.importorskip("distributed")
    remote = ObjectStore.from_url(f"s3://{new_bucket(server)}/a.zarr", endpoint=server, **OPTIONS)
    array = da.from_array(VALUES, chunks=(16, 10))
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=True) as made,
        distributed.Client(made),
    ):
        memory: dict[str, Any] = {}
        with pytest.raises(UnsupportedOperationError, match="in the memory of this process"):
            to_zarr(array, memory)
        assert not memory
        for target in (tmp_path / "a.zarr", remote):
            to_zarr(array, target, chunks=(20, 12))
            assert (blizzarr.open_array(target, mode="r")[:] == VALUES).all()
            found = from_zarr(target).persist()
            assert found.sum().compute() == VALUES.sum()
            blizzarr.open_array(target, mode="r+")[0, 0] = 1000
            assert from_zarr(target).sum().compute() == VALUES.sum() + 1000


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Dask, the error names the extra."""
    for name in [name for name in sys.modules if name.startswith("blizzarr.dask")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(ImportError, match=r"pip install 'blizzarr\[dask\]'"):
        import blizzarr.dask  # noqa: F401


def test_masks_are_not_lost(tmp_path: Path) -> None:
    masked = da.ma.masked_array(da.arange(6, chunks=2), mask=[0, 1, 0, 0, 0, 1])
    with pytest.raises(ValueError, match=r"found a masked one; .*dask\.array\.ma\.filled"):
        to_zarr(masked, tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()
    to_zarr(da.ma.filled(masked, -1), tmp_path / "a.zarr")
    assert blizzarr.open(tmp_path / "a.zarr")[:].tolist() == [0, -1, 2, 3, 4, -1]
