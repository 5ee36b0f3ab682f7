"""The way of TensorStore's tutorial, with data of our own: what a user sees at each step is the same with both."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorstore

import blizzarr.tensorstore as ours

BOTH = (ours, tensorstore)


def seen(value: Any) -> str:
    """What the interpreter shows, but for addresses in memory and places on disk."""
    return re.sub(r"0x[0-9a-f]+|'/[^']*/(?=(ours|theirs))", "*", repr(value)).replace("theirs", "ours")


@pytest.fixture
def places(tmp_path: Path) -> list[tuple[ModuleType, str]]:
    """The libraries, each with a directory that is not there yet."""
    return [(ours, f"{tmp_path}/ours/"), (tensorstore, f"{tmp_path}/theirs/")]


async def first_half(ts: ModuleType, path: str, driver: str) -> list[str]:
    """A dataset is made, written in three ways, and read."""
    metadata = {
        "n5": {"compression": {"type": "gzip"}, "dataType": "int16", "dimensions": [70, 90], "blockSize": [32, 16]},
        "zarr": {"compressor": {"id": "zlib"}, "dtype": "<i2", "shape": [70, 90], "chunks": [32, 16]},
        "zarr3": {"codecs": ["gzip"], "data_type": "int16", "shape": [70, 90]},
    }[driver]
    store = {"driver": "file", "path": path}
    mode = {"create": True, "delete_existing": True}
    dataset = ts.open({"driver": driver, "kvstore": store, "metadata": metadata, **mode}).result()
    shown = [seen(dataset), seen(dataset.schema), seen(dataset.spec())]
    future = dataset[30:33, 14:18].write([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
    shown += [seen(future.result()), seen(await future), seen(future.done())]
    shown.append(seen(await dataset[0, :3].write([-1, -2, -3])))
    dataset[69:, 88:90] = [[-4, -5]]
    shown += [seen(dataset[31:34, 13:19].read().result()), seen(await dataset[0, :4].read()), seen(dataset[69, 88:])]
    assert "[ 0,  5,  6,  7,  8,  0]" in shown[-3]
    again = await ts.open({"driver": driver, "kvstore": f"file://{path}"})
    again[30:33, 14:18] = again[30:33, 14:18].read().result() * 2
    return [*shown, seen(np.asarray(again[29:33, 13:18])), seen(again == dataset), seen(again.dtype)]


async def second_half(ts: ModuleType, path: str, driver: str) -> list[str]:
    """A volume with names for its dimensions is opened with a cache, cut, looked at and read."""
    labels = ["x", "y", "z", "channel"]
    made = await ts.open(
        {"driver": driver, "kvstore": {"driver": "file", "path": path}},
        create=True,
        dtype=ts.uint64,
        domain=ts.IndexDomain(shape=[40, 50, 30, 1], labels=labels),
        chunk_layout=ts.ChunkLayout(read_chunk_shape=[8, 8, 8, 1], write_chunk_shape_soft_constraint=[16, 16, 16, 1]),
    )
    made[...] = np.arange(40 * 50 * 30, dtype=np.uint64).reshape(40, 50, 30, 1) * 977 % 1_400_000_000
    opening = ts.open(
        {
            "driver": driver,
            "kvstore": f"file://{path}",
            "context": {"cache_pool": {"total_bytes_limit": 100_000_000}},
            "recheck_cached_data": "open",
        }
    )
    dataset = opening.result()
    shown = [seen(opening), seen(dataset), seen(await opening), seen(dataset.domain)]
    volume = dataset[ts.d["channel"][0]]
    view = volume[15:25, 15:25, 20]
    shown += [seen(volume.domain), seen(view), seen(view.domain)]
    reading = view.read()
    shown += [seen(reading.result()), seen(np.array(volume[15:25, 15:25, 20])), seen(await view[20:, 24].read())]
    shown += [
        seen(volume[ts.d["y", "x"].translate_to[0]].domain),
        seen(view.oindex[[16, 15], [20, 24]].read().result()),
    ]
    shown += [seen(view[view.origin[0], ts.newaxis].domain), seen(view.vindex[[16, 15], [20, 24]].read().result())]
    return shown


@pytest.mark.parametrize("driver", ["n5", "zarr", "zarr3"])
def test_a_dataset_on_disk(places: list[tuple[ModuleType, str]], driver: str) -> None:
    """Written without waiting, by waiting, in a coroutine and by assignment; the same files can be opened by both."""
    mine, theirs = (asyncio.run(first_half(library, path, driver)) for library, path in places)
    assert mine == theirs
    crossed = [
        library.open({"driver": driver, "kvstore": f"file://{path}"}).result().read().result()
        for library, (_, path) in zip(BOTH, reversed(places), strict=True)
    ]
    np.testing.assert_array_equal(crossed[0], crossed[1])


def test_a_volume_with_names(places: list[tuple[ModuleType, str]]) -> None:
    """Named dimensions, a cache, views that read nothing, and what is read from them."""
    mine, theirs = (asyncio.run(second_half(library, path, "zarr3")) for library, path in places)
    assert mine == theirs
    assert mine[0] == "<tensorstore.Future object at *>"
    assert mine[3:5] == [
        '{ "x": [0, 40*), "y": [0, 50*), "z": [0, 30*), "channel": [0, 1*) }',
        '{ "x": [0, 40*), "y": [0, 50*), "z": [0, 30*) }',
    ]
    assert mine[6] == '{ "x": [15, 25), "y": [15, 25) }'
