"""Hypothesis strategies for small arrays of every kind that the v3 specification allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

_NAMES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "V3"]
_OTHERS: list[Any] = ["S3", "M8[s]", [("a", "i2"), ("b", "S1"), ("c", [("d", "f8"), ("e", "u1")])]]

dtypes: st.SearchStrategy[np.dtype[Any]] = st.sampled_from([np.dtype(name) for name in (*_NAMES, *_OTHERS)])
"""The core data types (``V3`` is ``r24``), a byte string, a time and a record."""


def elements(dtype: np.dtype[Any], shape: tuple[int, ...]) -> st.SearchStrategy[npt.NDArray[Any]]:
    """Return arrays of random bits, or of few distinct values, which compress and match fill values."""
    count = int(np.prod(shape, dtype=np.int64))

    def random(seed: int) -> npt.NDArray[Any]:
        source = np.random.default_rng(seed)
        raw = source.bytes(count * dtype.itemsize)
        if dtype == np.bool_:
            return (np.frombuffer(raw, "u1") & 1).astype(bool).reshape(shape)
        return np.frombuffer(raw, dtype).reshape(shape)

    def few(seed: int) -> npt.NDArray[Any]:
        source = np.random.default_rng(seed)
        values = np.zeros(2, dtype)
        values[1:] = random(seed).reshape(-1)[:1] if count else values[:1]
        # NumPy would make a single text a scalar of its own length.
        return np.asarray(values[source.integers(0, 2, shape)], dtype)

    kinds: st.SearchStrategy[Callable[[int], npt.NDArray[Any]]] = st.sampled_from([random, few])
    return st.builds(lambda kind, seed: kind(seed), kinds, st.integers(0, 1 << 32))


_COMPRESSORS: list[dict[str, Any]] = [
    {"name": "gzip", "configuration": {"level": 1}},
    {"name": "zstd", "configuration": {"level": -1, "checksum": True}},
    {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
    {"name": "crc32c"},
    *(
        {
            "name": "blosc",
            "configuration": {"cname": name, "clevel": 3, "shuffle": shuffle, "typesize": size, "blocksize": 0},
        }
        for name, shuffle, size in [
            ("lz4", "shuffle", 2),
            ("lz4hc", "noshuffle", 4),
            ("blosclz", "bitshuffle", 1),
            ("zstd", "bitshuffle", 4),
            ("zlib", "shuffle", 8),
            ("snappy", "shuffle", 3),
        ]
    ),
]


@st.composite
def codec_chains(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any], depth: int = 2) -> list[dict[str, Any]]:
    """Draw a legal list of codecs for chunks of this shape: transposed, sharded up to `depth` times, compressed."""
    chain: list[dict[str, Any]] = []
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        order = draw(st.permutations(range(len(shape))))
        chain.append({"name": "transpose", "configuration": {"order": list(order)}})
        shape = tuple(shape[axis] for axis in order)
    if depth and draw(st.booleans()):
        inner = tuple(draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0])) for size in shape)
        index = [_bytes(draw, np.dtype("u8")), *draw(st.sampled_from([[], [{"name": "crc32c"}]]))]
        configuration = {
            "chunk_shape": list(inner),
            "codecs": draw(codec_chains(inner, dtype, depth - 1)),
            "index_codecs": index,
            "index_location": draw(st.sampled_from(["start", "end"])),
        }
        chain.append({"name": "sharding_indexed", "configuration": configuration})
    else:
        chain.append(_bytes(draw, dtype))
    chain += draw(st.lists(st.sampled_from(_COMPRESSORS), max_size=2))
    return chain


def _bytes(draw: st.DrawFn, dtype: np.dtype[Any]) -> dict[str, Any]:
    if dtype.itemsize == 1 or dtype.kind == "V":
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": draw(st.sampled_from(["little", "big"]))}}


@st.composite
def edges(draw: st.DrawFn, size: int) -> tuple[Any, int]:
    """Draw lengths of chunks along an axis, as `create_array` takes them, and one that divides them all."""
    unit = draw(st.integers(1, 4))
    if draw(st.sampled_from([False, False, True])):
        return unit, unit
    listed: list[int | list[int]] = []
    covered = 0
    while not covered or covered < size or draw(st.sampled_from([False, False, False, True])):
        length, count = unit * draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 1, 3]))
        listed.append(length if count == 1 else [length, count])
        covered += length * count
    return listed, unit


@st.composite
def layouts(draw: st.DrawFn, max_rank: int = 3) -> dict[str, Any]:
    """Draw arguments of `blizzarr.create_array`: shape, data type, chunks, codecs, chunk keys, fill value."""
    rank = draw(st.integers(0, max_rank))
    dtype = draw(dtypes)
    shape = tuple(draw(st.lists(st.integers(0, 11), min_size=rank, max_size=rank)))
    chunks: tuple[Any, ...] = tuple(draw(st.lists(st.integers(1, 6), min_size=rank, max_size=rank)))
    divisors = chunks
    if draw(st.sampled_from([False, False, True])):
        drawn = [draw(edges(size)) for size in shape]
        chunks, divisors = tuple(chunk for chunk, _ in drawn), tuple(divisor for _, divisor in drawn)
    return {
        "shape": shape,
        "dtype": dtype,
        "chunks": chunks,
        "codecs": draw(codec_chains(divisors, dtype)),
        "fill_value": draw(elements(dtype, (1,)))[0],
        "chunk_key_encoding": {
            "name": draw(st.sampled_from(["default", "v2"])),
            "configuration": {"separator": draw(st.sampled_from("/."))},
        },
    }
