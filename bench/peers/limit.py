"""The baseline: the same bytes, plain reads or writes and the bare codec, on every core, into memory already there.

It assembles nothing: each chunk is decoded to a place of its own. A selection costs it the chunks that the selection
touches, and of a chunk without a codec only the span of bytes from the first wanted element to the last.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.layouts import DTYPE, Codec, Layout, volume, write_document
from bench.peers.base import Peer, Selection, Task, Values

SUFFIX = {"Darwin": "dylib", "Windows": "dll"}.get(platform.system(), "so")
LIBRARY = Path(__file__).parents[1] / "limit" / "target" / "release" / f"liblimit.{SUFFIX}"
CORES = os.cpu_count() or 1
# Below this many bytes a second thread costs more than it brings.
ALONE_BELOW = 128 << 10
KINDS = {None: 0, "gzip": 1, "zstd": 2, "blosc": 3}
SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}


class CCodec(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("level", ctypes.c_int),
        ("shuffle", ctypes.c_int),
        ("typesize", ctypes.c_size_t),
        ("cname", ctypes.c_char_p),
    )


class CPiece(ctypes.Structure):
    _fields_ = (
        ("path", ctypes.c_char_p),
        ("offset", ctypes.c_uint64),
        ("stored", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("memory", ctypes.c_void_p),
    )


class CFile(ctypes.Structure):
    _fields_ = (
        ("path", ctypes.c_char_p),
        ("pieces", ctypes.POINTER(CPiece)),
        ("count", ctypes.c_size_t),
        ("trailer", ctypes.c_uint64),
    )


def c_codec(codec: Codec) -> CCodec:
    options = dict(codec.configuration)
    return CCodec(
        KINDS[codec.name],
        options.get("level", options.get("clevel", 0)),
        SHUFFLES[options.get("shuffle", "noshuffle")],
        options.get("typesize", 1),
        options.get("cname", "").encode(),
    )


class Limit(Peer):
    name = "limit"
    settings = f"{CORES} threads; whole files written with open, write, close"

    def __init__(self) -> None:
        if not LIBRARY.exists():
            raise ImportError("it is not built: cargo build --release --manifest-path bench/limit/Cargo.toml")
        self.library = ctypes.CDLL(str(LIBRARY))
        for function in ("limit_read", "limit_write", "limit_update"):
            getattr(self.library, function).restype = ctypes.c_int64
        self.library.limit_list.restype = ctypes.c_int64
        # Written to once, so that its pages are there.
        self.memory = np.ones(2 * volume().nbytes, np.uint8)

    def version(self) -> str:
        return "bare Rust"

    def reading(self, root: Path, layout: Layout, selections: Sequence[Selection]) -> Task:
        codec = c_codec(layout.codec)
        calls = [self._pieces(root, layout, selection.without_mask()) for selection in selections]

        def task() -> None:
            for pieces, threads in calls:
                self._run("limit_read", codec, pieces, threads)

        return task

    def opening(self, root: Path, layout: Layout, index: tuple[int, ...], times: int) -> Task:
        read = self.reading(root, layout, [Selection(index)])
        document = self._piece(root / layout.document_name, 0, (root / layout.document_name).stat().st_size, 0)
        raw, documents = CCodec(KINDS[None], 0, 0, 1, b""), (CPiece * 1)(document)

        def task() -> None:
            for _ in range(times):
                self._run("limit_read", raw, documents, 1)
                read()

        return task

    def writing(self, root: Path, layout: Layout, boxes: Sequence[tuple[Selection, Values]], whole: bool) -> Task:
        codec = c_codec(layout.codec)
        function = "limit_write" if whole else "limit_update"
        calls = [self._files(root, layout, selection, stored=not whole) for selection, _ in boxes]

        def task() -> None:
            for files, _ in calls:
                self._run(function, codec, files, CORES)

        return task

    def appending(self, root: Path, layout: Layout, frames: Values) -> Task:
        raw, codec = CCodec(KINDS[None], 0, 0, 1, b""), c_codec(layout.codec)
        self.memory[: frames.nbytes] = frames.reshape(-1).view(np.uint8)
        write_document(root, layout)
        (root / "c").mkdir(exist_ok=True)
        document = self._piece(root / "zarr.json", 0, 0, frames.nbytes, size=(root / "zarr.json").stat().st_size)
        documents = self._file(document, 0)
        size = frames[0].nbytes
        chunks = []
        for number in range(len(frames)):
            path = layout.file(root, (number, 0, 0))
            path.parent.mkdir(parents=True, exist_ok=True)
            chunks.append(self._file(self._piece(path, 0, 0, number * size, size=size), 0))

        def task() -> None:
            for chunk in chunks:
                self._run("limit_write", codec, chunk, 1)
                self._run("limit_write", raw, documents, 1)

        return task

    def listing(self, root: Path) -> Task:
        path = str(root).encode()

        def task() -> None:
            if self.library.limit_list(path) < 0:
                raise OSError(f"cannot list {root}")

        return task

    def _run(self, function: str, codec: CCodec, items: Any, threads: int) -> None:
        failed = getattr(self.library, function)(ctypes.byref(codec), items, len(items), threads)
        if failed >= 0:
            raise OSError(f"{function}: {items[failed].path.decode()}")

    def _piece(self, path: Path, offset: int, stored: int, place: int, size: int | None = None) -> CPiece:
        memory = self.memory.ctypes.data + place
        return CPiece(str(path).encode(), offset, stored, stored if size is None else size, memory)

    def _file(self, piece: CPiece, trailer: int) -> Any:
        return (CFile * 1)(CFile(piece.path, (CPiece * 1)(piece), 1, trailer))

    def _pieces(self, root: Path, layout: Layout, selection: Selection) -> tuple[Any, int]:
        """Return what to read for a selection, and by how many threads."""
        pieces, place = [], 0
        for chunk in touched(layout, selection):
            path, offset, stored = layout.stored_range(root, chunk)
            size = layout.chunk_bytes
            if layout.codec.name is None:
                start, size = wanted_span(layout, selection, chunk)
                offset, stored = offset + start, size
            pieces.append(self._piece(path, offset, stored, place, size))
            place += size
        return (CPiece * len(pieces))(*pieces), 1 if place < ALONE_BELOW else CORES

    def _files(self, root: Path, layout: Layout, selection: Selection, stored: bool) -> tuple[Any, list[Any]]:
        """Return the files that a selection touches, each with the pieces that it touches."""
        by_file: dict[Path, list[CPiece]] = {}
        place = 0
        for chunk in touched(layout, selection):
            offset = length = 0
            path = layout.file(root, chunk)
            if stored:
                path, offset, length = layout.stored_range(root, chunk)
            else:
                self._fill(layout, chunk, place)
            path.parent.mkdir(parents=True, exist_ok=True)
            by_file.setdefault(path, []).append(self._piece(path, offset, length, place, layout.chunk_bytes))
            place += layout.chunk_bytes
        trailer = 0 if layout.shards is None else 16 * int(np.prod(layout.chunks_per_file)) + 4
        kept = [(CPiece * len(pieces))(*pieces) for pieces in by_file.values()]
        files = [
            CFile(str(path).encode(), pieces, len(pieces), trailer) for path, pieces in zip(by_file, kept, strict=True)
        ]
        return (CFile * len(files))(*files), kept

    def _fill(self, layout: Layout, chunk: tuple[int, ...], place: int) -> None:
        """Put the values of a chunk where its piece expects them."""
        self.memory[place : place + layout.chunk_bytes] = chunk_values(layout, chunk)


def chunk_values(layout: Layout, chunk: tuple[int, ...]) -> Any:
    """Return a chunk of the volume as the codec gets it: its bytes, in the order of the layout."""
    box = tuple(slice(at * size, (at + 1) * size) for at, size in zip(chunk, layout.chunks, strict=True))
    values = volume()[box]
    if layout.order is not None:
        values = values.transpose(layout.order)
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


def touched(layout: Layout, selection: Selection) -> Iterator[tuple[int, ...]]:
    """Yield the chunks of the reading grid that have a selected element."""
    if selection.kind == "points":
        columns = [np.asarray(part) // size for part, size in zip(selection.key, layout.chunks, strict=True)]
        yield from map(tuple, np.unique(np.stack(columns, axis=1), axis=0).tolist())
        return
    indices = [_indices(part, size) for part, size in zip(selection.key, layout.shape, strict=True)]
    yield from itertools.product(
        *(np.unique(wanted // size).tolist() for wanted, size in zip(indices, layout.chunks, strict=True))
    )


def wanted_span(layout: Layout, selection: Selection, chunk: tuple[int, ...]) -> tuple[int, int]:
    """Return the bytes of a chunk from the first selected element to the last: their start and how many."""
    indices = [np.atleast_1d(_indices(part, size)) for part, size in zip(selection.key, layout.shape, strict=True)]
    inside = [wanted // size == at for wanted, size, at in zip(indices, layout.chunks, chunk, strict=True)]
    if selection.kind == "points":
        inside = [np.logical_and.reduce(inside)] * len(inside)
    local = [
        wanted[here] - at * size for wanted, here, at, size in zip(indices, inside, chunk, layout.chunks, strict=True)
    ]
    if selection.kind == "points":
        flat = np.ravel_multi_index(local, layout.chunks)
        first, last = int(flat.min()), int(flat.max())
    else:
        first = int(np.ravel_multi_index([part.min() for part in local], layout.chunks))
        last = int(np.ravel_multi_index([part.max() for part in local], layout.chunks))
    return first * DTYPE.itemsize, (last - first + 1) * DTYPE.itemsize


def _indices(part: Any, size: int) -> Any:
    return np.arange(size)[part] if isinstance(part, slice) else np.asarray(part)


PEERS = {Limit.name: Limit}
