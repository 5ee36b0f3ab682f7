"""blizzarr, as its users call it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import blizzarr
from bench.layouts import Layout
from bench.peers.base import Library, Selection, Task, Values
from blizzarr.durability import Durability


class Blizzarr(Library):
    name = "blizzarr"
    settings = f"as it comes: {os.cpu_count()} threads"

    def version(self) -> str:
        return blizzarr.__version__

    def open(self, path: str, write: bool = False, zarr_format: int = 3) -> Any:
        return blizzarr.open_array(path, mode="r+" if write else "r")

    def basic(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array[key]

    def beginning(self, root: Path, layout: Layout, boxes: Sequence[tuple[Selection, Values]], write: bool) -> Task:
        # Futures are those of its interface for TensorStore's users.
        from bench.peers.tensorstore import BlizzarrTensorStore

        return BlizzarrTensorStore().beginning(root, layout, boxes, write)

    def points(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array.vindex[key]

    def outer(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array.oindex[key]

    def mask(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array[key[0]]

    def write(self, array: Any, key: tuple[Any, ...], values: Values) -> None:
        array[key] = values

    def append(self, array: Any, count: int, frame: Values) -> Any:
        array.append(frame, axis=0)
        return array

    def members(self, path: str) -> Any:
        return [(name, array.shape) for name, array in blizzarr.open_group(path, mode="r").members()]


class WithLevel(Blizzarr):
    """With a durability of its own, for what each of them costs."""

    level: Durability

    def write(self, array: Any, key: tuple[Any, ...], values: Values) -> None:
        with blizzarr.durable(self.level):
            array[key] = values


class NotDurable(WithLevel):
    name, level = "blizzarr none", "none"


class Ordered(WithLevel):
    name, level = "blizzarr ordered", "ordered"


class FullyDurable(WithLevel):
    name, level = "blizzarr full", "full"


PEERS = {peer.name: peer for peer in (Blizzarr, NotDurable, Ordered, FullyDurable)}
