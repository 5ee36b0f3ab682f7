"""What every peer is asked to do.

A row asks for a *task*: a function without arguments that does what is timed, and nothing else. A library's tasks are
made here from its primitives, the calls that its users write; the baseline makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import dask.array
import numpy as np
from numpy.typing import NDArray

from bench.layouts import DTYPE, Layout

THREADS = 8

Task = Callable[[], Any]
Values = NDArray[np.uint16]


class CannotError(Exception):
    """The peer does not do this; the text says why."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A NumPy key, and how it is meant: slices, points (`vindex`), the outer product (`oindex`), or a mask."""

    key: tuple[Any, ...]
    kind: Literal["basic", "points", "outer", "mask"] = "basic"

    def of(self, values: Values) -> Values:
        """Select from an array in memory."""
        return values[np.ix_(*self.key) if self.kind == "outer" else self.key]

    def without_mask(self) -> Selection:
        """Return the same selection; a mask as points."""
        return Selection(np.nonzero(self.key[0]), "points") if self.kind == "mask" else self


@dataclass(frozen=True, slots=True)
class Selectable:
    """What Dask wants of an array, whoever reads it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[tuple[Any, ...]], Any]

    def __getitem__(self, key: tuple[Any, ...]) -> Any:
        return self.read(key)

    @property
    def ndim(self) -> int:
        return len(self.shape)


class Peer:
    """One implementation: how it makes the task of a row."""

    name: str
    settings: str
    """What its threads and writes are set to, for the report."""

    def activate(self) -> None:
        """Make this peer the current one; called before each of its timings."""

    def version(self) -> str:
        raise NotImplementedError

    def reading(self, root: Path, layout: Layout, selections: Sequence[Selection]) -> Task:
        raise NotImplementedError

    def threading(self, root: Path, layout: Layout, selections: Sequence[Selection]) -> Task:
        """Read selections of one open array in threads of the caller."""
        raise CannotError("is not called in threads")

    def beginning(self, root: Path, layout: Layout, boxes: Sequence[tuple[Selection, Values]], write: bool) -> Task:
        """Read, or write, boxes of one open array, all of which are begun before the first is waited for."""
        raise CannotError("has no futures")

    def sampling(self, roots: Sequence[Path], layout: Layout) -> Task:
        """Read many open arrays, each as a whole."""
        whole = Selection((slice(None),) * len(layout.shape))
        tasks = [self.reading(root, layout, (whole,)) for root in roots]
        return lambda: [task() for task in tasks]

    def summing(self, root: Path, layout: Layout, edge: int) -> Task:
        """Sum an open array with Dask, over cubes of so many elements along each edge."""
        raise CannotError("is not called by Dask")

    def opening(self, root: Path, layout: Layout, index: tuple[int, ...], times: int) -> Task:
        raise NotImplementedError

    def writing(self, root: Path, layout: Layout, boxes: Sequence[tuple[Selection, Values]], whole: bool) -> Task:
        raise NotImplementedError

    def appending(self, root: Path, layout: Layout, frames: Values) -> Task:
        raise NotImplementedError

    def listing(self, root: Path) -> Task:
        raise NotImplementedError


class Library(Peer):
    """An implementation by its primitives."""

    def open(self, path: str, write: bool = False, zarr_format: int = 3) -> Any:
        raise NotImplementedError

    def basic(self, array: Any, key: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def points(self, array: Any, key: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def outer(self, array: Any, key: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def mask(self, array: Any, key: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def write(self, array: Any, key: tuple[Any, ...], values: Values) -> None:
        raise NotImplementedError

    def append(self, array: Any, count: int, frame: Values) -> Any:
        """Append one frame to `count` that are there; return the longer array."""
        raise NotImplementedError

    def members(self, path: str) -> list[tuple[str, tuple[int, ...]]]:
        """Return name and shape of every array in a group."""
        raise NotImplementedError

    def reading(self, root: Path, layout: Layout, selections: Sequence[Selection]) -> Task:
        tasks = self._reads(root, layout, selections)
        return lambda: [task() for task in tasks]

    def threading(self, root: Path, layout: Layout, selections: Sequence[Selection]) -> Task:
        tasks = self._reads(root, layout, selections)
        shares = [tasks[at::THREADS] for at in range(THREADS)]

        def task() -> list[Any]:
            with ThreadPoolExecutor(THREADS) as pool:
                done = list(pool.map(lambda share: [read() for read in share], shares))
            return [done[at % THREADS][at // THREADS] for at in range(len(tasks))]

        return task

    def summing(self, root: Path, layout: Layout, edge: int) -> Task:
        array = self.open(str(root), zarr_format=layout.zarr_format)
        selectable = Selectable(layout.shape, DTYPE, partial(self.basic, array))
        blocks = dask.array.from_array(selectable, chunks=edge, asarray=False)
        return lambda: int(blocks.sum(dtype="u8").compute(scheduler="threads"))

    def _reads(self, root: Path, layout: Layout, selections: Sequence[Selection]) -> list[Task]:
        array = self.open(str(root), zarr_format=layout.zarr_format)
        read = {"basic": self.basic, "points": self.points, "outer": self.outer, "mask": self.mask}
        return [partial(read[selection.kind], array, selection.key) for selection in selections]

    def opening(self, root: Path, layout: Layout, index: tuple[int, ...], times: int) -> Task:
        path = str(root)
        return lambda: [self.basic(self.open(path), index) for _ in range(times)]

    def writing(self, root: Path, layout: Layout, boxes: Sequence[tuple[Selection, Values]], whole: bool) -> Task:
        array = self.open(str(root), True, layout.zarr_format)
        keys = [(box.key, values) for box, values in boxes]

        def task() -> None:
            for key, values in keys:
                self.write(array, key, values)

        return task

    def appending(self, root: Path, layout: Layout, frames: Values) -> Task:
        opened = self.open(str(root), write=True)

        def task() -> None:
            array = opened
            for count in range(len(frames)):
                array = self.append(array, count, frames[count : count + 1])

        return task

    def listing(self, root: Path) -> Task:
        path = str(root)
        return lambda: sorted(self.members(path))
