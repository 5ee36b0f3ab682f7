"""TensorStore, asked to wait for each result; and blizzarr by the same calls."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore as ts

import blizzarr.tensorstore
from bench.layouts import Layout
from bench.peers.base import CannotError, Library, Selection, Task, Values

CORES = os.cpu_count() or 1


class TensorStore(Library):
    """Without fsync, as no other peer flushes to the disk."""

    name = "tensorstore"
    settings = f"file_io_sync off, no cache, {CORES} data copy threads, {max(4, CORES)} I/O threads"
    sync = False
    module = ts

    def __init__(self) -> None:
        self.context = self.module.Context(
            {
                "file_io_sync": self.sync,
                "data_copy_concurrency": {"limit": CORES},
                "file_io_concurrency": {"limit": max(4, CORES)},
            }
        )

    def version(self) -> str:
        return version("tensorstore")

    def open(self, path: str, write: bool = False, zarr_format: int = 3) -> Any:
        spec = {"driver": {2: "zarr", 3: "zarr3"}[zarr_format], "kvstore": {"driver": "file", "path": path + "/"}}
        return self.module.open(spec, open=True, read=True, write=write, context=self.context).result()

    def basic(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array[key].read().result()

    def sampling(self, roots: Sequence[Path], layout: Layout) -> Task:
        arrays = [self.open(str(root)) for root in roots]
        # All are read at once, as its users do.
        return lambda: [[read.result()] for read in [array.read() for array in arrays]]

    def beginning(self, root: Path, layout: Layout, boxes: Sequence[tuple[Selection, Values]], write: bool) -> Task:
        array = self.open(str(root), write, layout.zarr_format)
        pairs = [(box.key, values) for box, values in boxes]
        if write:
            return lambda: [done.result() for done in [array[key].write(values) for key, values in pairs]]
        return lambda: [done.result() for done in [array[key].read() for key, _ in pairs]]

    def points(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array.vindex[key].read().result()

    def outer(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array.oindex[key].read().result()

    def mask(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array[key[0]].read().result()

    def write(self, array: Any, key: tuple[Any, ...], values: Values) -> None:
        array[key].write(values).result()

    def append(self, array: Any, count: int, frame: Values) -> Any:
        longer = array.resize(exclusive_max=[count + 1, *np.shape(frame)[1:]], expand_only=True).result()
        longer[count : count + 1].write(frame).result()
        return longer

    def members(self, path: str) -> Any:
        raise CannotError("has no groups")


class TensorStoreSync(TensorStore):
    name = "tensorstore fsync"
    settings = "as it comes: every file is flushed to the disk"
    sync = True


class BlizzarrTensorStore(TensorStore):
    name = "blizzarr tensorstore"
    module = blizzarr.tensorstore

    def version(self) -> str:
        return blizzarr.__version__


PEERS = {peer.name: peer for peer in (TensorStore, TensorStoreSync, BlizzarrTensorStore)}
