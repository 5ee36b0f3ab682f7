"""The rows of the benchmark, as a table: what is done on which layout, how often, and what must come out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from bench.layouts import FRAME, FRAMES, LAYOUTS, SAMPLE, SHAPE, SMALL, Layout, content, volume
from bench.peers.base import Selection, Values

Kind = Literal[
    "read", "open", "write", "update", "append", "list", "threads", "futures", "futures write", "samples", "dask"
]
EVERYTHING = Selection((slice(None),) * 3)
ELEMENTS = 200
BOX = 12
OPENS = 20
POINTS = 20_000
OUTER = 100
FRAME_COUNT = 1000
FUTURES = 300
ARRAYS = 500
SAMPLES = 128
MASKED = 0.001
BLOCK = 64
# The layouts on which the kinds of selection are compared.
SELECTED = ("raw 512 KiB", "blosc-lz4 512 KiB", "zstd 64 KiB", "shards of zstd 64 KiB")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; a time is divided by `per`, so that a table says what one read, or one frame, costs."""

    section: str
    name: str
    kind: Kind
    layout: Layout | None = None
    selections: tuple[Selection, ...] = ()
    per: int = 1

    @property
    def title(self) -> str:
        return f"{self.section}: {self.name}"

    @property
    def volume_bytes(self) -> int | None:
        """How many bytes one call moves, where the whole volume is moved."""
        return volume().nbytes if self.selections == (EVERYTHING,) and self.per == 1 else None

    def boxes(self) -> list[tuple[Selection, Values]]:
        """Return what is written where: the values that are there already, so that a row can be repeated."""
        values = volume() if self.layout is None else content(self.layout)
        return [(selection, np.ascontiguousarray(selection.of(values))) for selection in self.selections]


@cache
def frames() -> Values:
    return np.ascontiguousarray(volume().reshape(-1)[: FRAME_COUNT * FRAME[0] * FRAME[1]].reshape(FRAME_COUNT, *FRAME))


def _random_index(random: np.random.Generator, margin: int = 0) -> tuple[int, ...]:
    return tuple(int(random.integers(0, size - margin)) for size in SHAPE)


def _elements(count: int) -> tuple[Selection, ...]:
    random = np.random.default_rng(1)
    return tuple(Selection(_random_index(random)) for _ in range(count))


def _boxes(count: int, edge: int) -> tuple[Selection, ...]:
    random = np.random.default_rng(2)
    starts = [_random_index(random, edge) for _ in range(count)]
    return tuple(Selection(tuple(slice(at, at + edge) for at in start)) for start in starts)


def _planes(axis: int) -> tuple[Selection, ...]:
    """Return four planes across one axis."""
    keys: list[list[Any]] = [[slice(None)] * 3 for _ in range(4)]
    for number, key in enumerate(keys):
        key[axis] = (2 * number + 1) * SHAPE[axis] // 8
    return tuple(Selection(tuple(key)) for key in keys)


def _points(count: int) -> Selection:
    random = np.random.default_rng(3)
    return Selection(tuple(random.integers(0, size, count) for size in SHAPE), "points")


def _mask(share: float) -> Selection:
    return Selection((np.random.default_rng(5).random(SHAPE) < share,), "mask")


def _outer(count: int) -> Selection:
    random = np.random.default_rng(4)
    return Selection(tuple(np.sort(random.choice(size, count, replace=False)) for size in SHAPE), "outer")


def rows() -> Iterator[Row]:
    """Yield every row, in the order of the report."""
    for name, layout in LAYOUTS.items():
        yield Row("whole read", name, "read", layout, (EVERYTHING,))
    for name, layout in LAYOUTS.items():
        yield Row("whole write", name, "write", layout, (EVERYTHING,))
    for name in SELECTED:
        yield Row("open and one element", name, "open", LAYOUTS[name], _elements(1), OPENS)
    for name, layout in LAYOUTS.items():
        yield Row("one element of an open array", name, "read", layout, _elements(ELEMENTS), ELEMENTS)
    for name, layout in LAYOUTS.items():
        yield Row(f"box of {BOX}³ of an open array", name, "read", layout, _boxes(ELEMENTS, BOX), ELEMENTS)
    for name in SELECTED:
        layout = LAYOUTS[name]
        yield Row("selection", f"plane across the first axis, {name}", "read", layout, _planes(0), 4)
        yield Row("selection", f"plane across the last axis, {name}", "read", layout, _planes(2), 4)
        yield Row("selection", f"every fourth, {name}", "read", layout, (Selection((slice(None, None, 4),) * 3),))
        yield Row("selection", f"{POINTS:,} points, {name}", "read", layout, (_points(POINTS),))
        yield Row("selection", f"outer product of {OUTER} indices per axis, {name}", "read", layout, (_outer(OUTER),))
        yield Row("selection", f"mask of {MASKED:.1%}, {name}", "read", layout, (_mask(MASKED),))
    for name in SELECTED[1:]:
        layout = LAYOUTS[name]
        yield Row("8 threads, one array", f"boxes of 40³, {name}", "threads", layout, _boxes(96, 40), 96)
        yield Row("8 threads, one array", f"single elements, {name}", "threads", layout, _elements(320), 320)
    for name in SELECTED:
        yield Row(
            "futures", f"{FUTURES} boxes of 24³ read, {name}", "futures", LAYOUTS[name], _boxes(FUTURES, 24), FUTURES
        )
    for name in SELECTED[:3]:
        title = f"{FUTURES} boxes of 24³ written, {name}"
        yield Row("futures", title, "futures write", LAYOUTS[name], _boxes(FUTURES, 24), FUTURES)
    for name in SELECTED[1:]:
        yield Row("Dask", f"sum over blocks of {BLOCK}³, {name}", "dask", LAYOUTS[name])
    yield Row(
        "small arrays", f"{SAMPLES} samples of 3 KiB, each of its own array", "samples", SAMPLE, (EVERYTHING,), SAMPLES
    )
    yield Row("part write", "1,000 chunks of 200 bytes, replaced", "update", SMALL, (EVERYTHING,), 1000)
    yield Row("part write", "box of 24³ into zstd 64 KiB", "update", LAYOUTS["zstd 64 KiB"], _boxes(40, 24), 40)
    shards = LAYOUTS["shards of zstd 64 KiB"]
    yield Row("part write", "box of 24³ into shards of zstd 64 KiB", "update", shards, _boxes(8, 24), 8)
    yield Row("append", f"{FRAME_COUNT:,} frames, one by one", "append", FRAMES, (), FRAME_COUNT)
    yield Row("list", f"names and shapes of {ARRAYS} arrays of a group", "list")
