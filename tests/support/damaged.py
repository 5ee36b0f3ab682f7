"""Arrays of which one chunk is damaged, wherever chunks may be, and every way of touching it.

The same 16 x 16 elements of `int32` lie in four chunks of 8 x 8: as they are, as inner chunks of a shard, or of a shard
in a shard. The chunk at rows 8 to 15, columns 0 to 7 is the one that gets other bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from blizzarr import api
from blizzarr.array import Array
from blizzarr.errors import BlizzarrError, ChunkError, CodecError
from blizzarr.stores import LocalStore, MappingStore, MemoryStore
from support import shards

__all__ = [
    "DATA",
    "LAYOUTS",
    "SIZE",
    "STORES",
    "TARGET",
    "WAYS",
    "Damaged",
    "attempt",
    "codec_names",
    "codecs_of",
    "contents",
    "every_way_refuses",
    "flipped",
    "is_refused_or_right_in_size",
]

DATA = (np.arange(256) // 3 * 7919 % 1009).astype("int32").reshape(16, 16)
# Threes of equal elements, so that every compressor makes the chunk shorter.
SIZE = 8 * 8 * 4
"""Decoded bytes of a chunk."""
ROWS, COLUMNS = slice(8, 16), slice(0, 8)
TARGET = DATA[ROWS, COLUMNS]
SECONDS = 1.0
"""No damaged chunk keeps anybody busy for longer."""

_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
_CRC = {"name": "crc32c"}
_INDEX = [_BYTES, _CRC]


def _gzip(level: int = 6) -> dict[str, Any]:
    return {"name": "gzip", "configuration": {"level": level}}


def _zstd(checksum: bool = False) -> dict[str, Any]:
    return {"name": "zstd", "configuration": {"level": 3, "checksum": checksum}}


def _blosc(cname: str = "lz4", shuffle: str = "shuffle") -> dict[str, Any]:
    options = {"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0}
    return {"name": "blosc", "configuration": options}


_CODECS: dict[str, list[dict[str, Any]]] = {
    "raw": [_BYTES],
    "big-endian": [{"name": "bytes", "configuration": {"endian": "big"}}],
    "crc32c": [_BYTES, _CRC],
    "gzip": [_BYTES, _gzip()],
    "gzip-0": [_BYTES, _gzip(0)],
    "zstd": [_BYTES, _zstd()],
    "zstd+checksum": [_BYTES, _zstd(True)],
    "gzip, crc32c": [_BYTES, _gzip(), _CRC],
    "crc32c, zstd": [_BYTES, _CRC, _zstd()],
    "gzip, gzip, gzip": [_BYTES, _gzip(), _gzip(), _gzip()],
    "transpose, zstd": [{"name": "transpose", "configuration": {"order": [1, 0]}}, _BYTES, _zstd()],
    **{
        f"blosc-{cname}-{shuffle}": [_BYTES, _blosc(cname, shuffle)]
        for cname in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    },
}


def codecs_of(name: str) -> list[dict[str, Any]]:
    """The chain of one chunk, as documents list it."""
    return _CODECS[name]


def codec_names(*, starting: str = "") -> list[str]:
    """The chains that there are."""
    return [name for name in _CODECS if name.startswith(starting)]


class Layout(NamedTuple):
    """Where the four chunks lie."""

    chunk_shape: tuple[int, int]
    """Of what is stored as one object."""
    key: str
    """Which object holds the damaged chunk."""
    chunk: tuple[int, ...]
    """The damaged chunk as errors name it: place in the grid, then in the shard."""
    shards: tuple[tuple[tuple[int, int], int, int], ...] = ()
    """From the outside: the inner chunk shape, how many inner chunks, and which of them is the one."""
    at_start: bool = False


LAYOUTS = {
    "plain": Layout((8, 8), "c/1/0", (1, 0)),
    "shard": Layout((16, 16), "c/0/0", (0, 0, 1, 0), (((8, 8), 4, 2),)),
    "shard, index first": Layout((16, 16), "c/0/0", (0, 0, 1, 0), (((8, 8), 4, 2),), at_start=True),
    "nested": Layout((16, 16), "c/0/0", (0, 0, 0, 0), (((8, 16), 2, 1), ((8, 8), 2, 0))),
}

STORES: dict[str, Callable[[Path], Any]] = {
    "local": LocalStore,
    "memory": lambda _: MemoryStore(),
    "mapping": lambda _: MappingStore({}),
}

WAYS: dict[str, Callable[[Array], Any]] = {
    "read everything": lambda array: array[...],
    "read the chunk": lambda array: array[ROWS, COLUMNS],
    "read into memory as it lies": lambda array: array.get_basic_selection(
        (ROWS, COLUMNS), out=np.empty((8, 8), "int32")
    ),
    "read a box": lambda array: array[9:12, 1:3],
    "read a column": lambda array: array[:, 5],
    "read backwards": lambda array: array[::-3, ::-2],
    "read an element": lambda array: array[8, 0],
    "read points": lambda array: array.vindex[[0, 15, 9], [0, 7, 1]],
    "read a product": lambda array: array.oindex[[9, 9, 1], [7, 12]],
    "write a box": lambda array: array.__setitem__((slice(9, 12), slice(1, 3)), 7),
    "write an element": lambda array: array.__setitem__((8, 0), 7),
    "write points": lambda array: array.vindex.__setitem__(([15, 9], [7, 1]), [7, 8]),
}


class Damaged:
    """A stored array; `plant` puts other bytes in place of the encoded chunk."""

    def __init__(self, codecs: str, layout: str = "plain", store: Any = None) -> None:
        self.layout = LAYOUTS[layout]
        self.store = MemoryStore() if store is None else store
        chain = codecs_of(codecs)
        for shape, _, _ in reversed(self.layout.shards):
            place = "start" if self.layout.at_start else "end"
            options = {"chunk_shape": shape, "codecs": chain, "index_codecs": _INDEX, "index_location": place}
            chain = [{"name": "sharding_indexed", "configuration": options}]
        self.array = api.create_array(
            self.store, name="a", data=DATA, chunks=self.layout.chunk_shape, codecs=chain, fill_value=-1
        )
        self.key = f"a/{self.layout.key}"
        self.shard = bytes(self.store.get(self.key))
        self.encoded = self._find(self.shard, self.layout.shards)

    def plant(self, encoded: bytes) -> None:
        """Store these bytes as the encoded chunk."""
        self.store.set(self.key, self._put(self.shard, self.layout.shards, encoded))

    def _find(self, value: bytes, levels: tuple[Any, ...]) -> bytes:
        if not levels:
            return value
        (_, count, which), *rest = levels
        _, entries = shards.split(value, count, at_start=self.layout.at_start)
        offset, length = entries[which]
        return self._find(value[offset : offset + length], tuple(rest))

    def _put(self, value: bytes, levels: tuple[Any, ...], encoded: bytes) -> bytes:
        if not levels:
            return encoded
        (_, count, which), *rest = levels
        _, entries = shards.split(value, count, at_start=self.layout.at_start)
        chunks = [value[offset : offset + length] for offset, length in entries]
        chunks[which] = self._put(chunks[which], tuple(rest), encoded)
        return shards.lay_down(chunks, at_start=self.layout.at_start)


def every_way_refuses(
    damaged: Damaged, kind: type[BlizzarrError] = ChunkError, *, ways: Iterator[str] | None = None
) -> list[BlizzarrError]:
    """Each way of touching the chunk raises an error that says where; nothing stored changes; the rest stays readable.

    The common rule of the fault catalogue.
    """
    before = contents(damaged.store)
    errors = []
    for way in WAYS if ways is None else ways:
        begun = time.process_time()
        with pytest.raises(kind) as caught:
            WAYS[way](damaged.array)
        assert time.process_time() - begun < SECONDS, way
        error = caught.value
        assert (error.array, error.store) == ("/a", str(damaged.array.store)), way
        assert error.key == damaged.key, way
        assert error.chunk == damaged.layout.chunk, way
        assert error.codec, way
        assert error.direction == "decode", way
        assert error.reason, way
        text = str(error)
        inner = "inner chunk {}/{} of ".format(*damaged.layout.chunk[2:]) if damaged.layout.shards else ""
        for part in (
            f"cannot decode {inner}chunk {damaged.layout.key} of /a in {error.store}: {error.codec}: ",
            error.reason,
        ):
            assert part in text, way
        assert contents(damaged.store) == before, way
        errors.append(error)
    assert np.array_equal(damaged.array[:8], DATA[:8]), "another chunk"
    assert np.array_equal(damaged.array[8:, 8:], DATA[8:, 8:]), "another chunk"
    return errors


def flipped(encoded: bytes, bit: int) -> bytes:
    """The same bytes but for one bit."""
    changed = bytearray(encoded)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def is_refused_or_right_in_size(damaged: Damaged) -> bool:
    """Whether the chunk is refused, by its key and a codec; else what is read has the right shape and data type."""
    found = attempt(lambda: damaged.array[ROWS, COLUMNS])
    if isinstance(found, CodecError):
        assert (found.key, found.codec is not None) == (damaged.key, True)
        return True
    assert (found.shape, found.dtype) == (TARGET.shape, TARGET.dtype)
    return False


def attempt(read: Callable[[], Any]) -> Any:
    """What is read, or the `ChunkError` that is raised instead."""
    try:
        return read()
    except ChunkError as error:
        return error


def contents(store: Any) -> dict[str, bytes]:
    """Everything that is stored."""
    return {key: bytes(store.get(key)) for key in store.list()}
