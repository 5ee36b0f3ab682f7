"""From a row and a peer to what is timed: the task, what comes before it, and the check of what it did."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore as ts

from bench.layouts import FRAMES, LAYOUTS, RAW, Layout, content, volume, write_document
from bench.peers.base import Peer, Selection, Task
from bench.peers.limit import Limit, chunk_values, touched, wanted_span
from bench.rows import ARRAYS, BLOCK, EVERYTHING, SAMPLES, Row, frames


@dataclass(frozen=True, slots=True)
class Timed:
    """`before` is called untimed before each run of `task`; `check` gets the result of one run."""

    before: Callable[[], None]
    task: Task
    check: Callable[[Any], None]


class WrongError(AssertionError):
    """A peer's result is not what is stored."""


class Site:
    """A directory with the layouts, written once by TensorStore, and a place of its own for each peer that writes."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def stored(self, layout: Layout) -> Path:
        """Return where a layout is, after writing it if it is not there yet."""
        root = self.root / "stored" / layout.name
        if not root.exists():
            write_document(root, layout)
            neutral(root).write(content(layout)).result()
        return root

    def own(self, peer: Peer, row: Row) -> Path:
        return self.root / "own" / peer.name / row.title.replace("/", " ")

    def group(self) -> Path:
        """Return where a group of many arrays is."""
        root = self.root / "group"
        if not root.exists():
            document = {"zarr_format": 3, "node_type": "group", "attributes": {}}
            for number in range(ARRAYS):
                write_document(root / f"array{number:03}", LAYOUTS["zstd 64 KiB"])
            (root / "zarr.json").write_text(json.dumps(document))
        return root


def neutral(root: Path) -> Any:
    """Open an array with TensorStore, which writes what is read and reads what was written."""
    driver = "zarr" if (root / ".zarray").exists() else "zarr3"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": f"{root}/"}}
    return ts.open(spec, open=True, context=ts.Context({"file_io_sync": False})).result()


def prepare(row: Row, peer: Peer, site: Site) -> Timed:
    """Make what is timed for one row and one peer."""
    kinds = {
        "read": _read,
        "threads": _read,
        "futures": _read,
        "futures write": _update,
        "samples": _samples,
        "dask": _dask,
        "open": _open,
        "write": _write,
        "update": _update,
        "append": _append,
        "list": _list,
    }
    return kinds[row.kind](row, peer, site)


def _nothing() -> None:
    pass


def _read(row: Row, peer: Peer, site: Site) -> Timed:
    layout = _layout(row)
    root = site.stored(layout)

    def check(results: Any) -> None:
        if isinstance(peer, Limit):
            _check_limit(peer, layout, row.selections[-1].without_mask())
            return
        for selection, result in zip(row.selections, results, strict=True):
            expected = selection.of(volume())
            if not np.array_equal(np.asarray(result).reshape(expected.shape), expected):
                raise WrongError(f"{peer.name} reads other values: {row.title}")

    if row.kind == "futures":
        return Timed(_nothing, peer.beginning(root, layout, row.boxes(), write=False), check)
    make = peer.threading if row.kind == "threads" else peer.reading
    return Timed(_nothing, make(root, layout, row.selections), check)


def _samples(row: Row, peer: Peer, site: Site) -> Timed:
    layout = _layout(row)
    stored = site.stored(layout)
    roots = [stored.parent / f"{layout.name} {number}" for number in range(SAMPLES)]
    for root in roots:
        if not root.exists():
            shutil.copytree(stored, root)

    def check(results: Any) -> None:
        if not isinstance(peer, Limit) and not all(np.array_equal(read, content(layout)) for [read] in results):
            raise WrongError(f"{peer.name} reads other values: {row.title}")

    return Timed(_nothing, peer.sampling(roots, layout), check)


def _dask(row: Row, peer: Peer, site: Site) -> Timed:
    layout = _layout(row)

    def check(found: Any) -> None:
        if found != content(layout).sum(dtype="u8"):
            raise WrongError(f"{peer.name} sums other values: {row.title}")

    return Timed(_nothing, peer.summing(site.stored(layout), layout, BLOCK), check)


def _open(row: Row, peer: Peer, site: Site) -> Timed:
    layout = _layout(row)
    root = site.stored(layout)
    index = row.selections[0].key

    def check(results: Any) -> None:
        if not isinstance(peer, Limit) and any(np.asarray(result).item() != volume()[index] for result in results):
            raise WrongError(f"{peer.name} reads another value: {row.title}")

    return Timed(_nothing, peer.opening(root, layout, index, row.per), check)


def _write(row: Row, peer: Peer, site: Site) -> Timed:
    layout = _layout(row)
    root = site.own(peer, row)

    def before() -> None:
        shutil.rmtree(root, ignore_errors=True)
        write_document(root, layout)
        if isinstance(peer, Limit):
            _make_folders(root, layout)

    before()
    task = peer.writing(root, layout, row.boxes(), whole=True)
    return Timed(before, task, lambda _: _check_written(row, peer, root, layout))


def _update(row: Row, peer: Peer, site: Site) -> Timed:
    layout = _layout(row)
    root = site.own(peer, row)
    if not root.exists():
        shutil.copytree(site.stored(layout), root)
    if row.kind == "futures write":
        task = peer.beginning(root, layout, row.boxes(), write=True)
    else:
        task = peer.writing(root, layout, row.boxes(), whole=row.selections == (EVERYTHING,))
    return Timed(_nothing, task, lambda _: _check_written(row, peer, root, layout))


def _append(row: Row, peer: Peer, site: Site) -> Timed:
    root = site.own(peer, row)
    task: list[Task] = []

    def before() -> None:
        # An opened array knows how long it is, so each run opens an empty one.
        shutil.rmtree(root, ignore_errors=True)
        write_document(root, FRAMES)
        task[:] = [peer.appending(root, FRAMES, frames())]

    def check(_: Any) -> None:
        if not isinstance(peer, Limit) and not np.array_equal(neutral(root).read().result(), frames()):
            raise WrongError(f"{peer.name} appended something else")

    return Timed(before, lambda: task[0](), check)


def _list(row: Row, peer: Peer, site: Site) -> Timed:
    def check(found: Any) -> None:
        expected = [(f"array{number:03}", volume().shape) for number in range(ARRAYS)]
        if not isinstance(peer, Limit) and found != expected:
            raise WrongError(f"{peer.name} lists something else")

    return Timed(_nothing, peer.listing(site.group()), check)


def _layout(row: Row) -> Layout:
    if row.layout is None:
        raise ValueError(f"{row.title} has no layout")
    return row.layout


def _make_folders(root: Path, layout: Layout) -> None:
    everything = Selection((slice(None),) * 3)
    for folder in {layout.file(root, chunk).parent for chunk in touched(layout, everything)}:
        folder.mkdir(parents=True, exist_ok=True)


def _check_limit(peer: Limit, layout: Layout, selection: Selection) -> None:
    place = 0
    for chunk in touched(layout, selection):
        start, size = 0, layout.chunk_bytes
        if layout.codec == RAW:
            start, size = wanted_span(layout, selection, chunk)
        if not np.array_equal(peer.memory[place : place + size], chunk_values(layout, chunk)[start : start + size]):
            raise WrongError(f"the limit decodes chunk {chunk} of {layout.name} otherwise")
        place += size


def _check_written(row: Row, peer: Peer, root: Path, layout: Layout) -> None:
    # The limit writes the bytes of a shard's index as zeros, so that only it can read its shards.
    if isinstance(peer, Limit) and layout.shards is not None:
        return
    if not np.array_equal(neutral(root).read().result(), content(layout)):
        raise WrongError(f"{peer.name} wrote something else: {row.title}")
