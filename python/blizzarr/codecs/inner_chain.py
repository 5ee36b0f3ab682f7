"""Chains within codecs in Python: the codecs of a part of a chunk, whose length only the data say."""

from __future__ import annotations

from typing import Any

from blizzarr import _native
from blizzarr.codecs import chain as chains
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Step
from blizzarr.codecs.packbits import PackbitsCodec
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError
from blizzarr.problems import Problems


def decode_chain(listed: Any, path: str, problems: Problems, chunk: Chunk) -> chains.CodecChain | None:
    """Return the chain that a document lists for a part of a chunk; None if a problem was added."""
    chain = chains.decode(listed, path, problems, chunk._replace(depth=chunk.depth + 1))
    if chain is None or (isinstance(chain.serializer, BytesCodec | PackbitsCodec) and not chain.filters):
        return chain
    problems.add(path, "bytes or packbits, and codecs from bytes to bytes", [codec.name for codec in chain.all])
    return None


def encoded(chain: chains.CodecChain, dtype: DataType, elements: bytes) -> bytes:
    """Return the encoded bytes of elements, which are as in memory."""
    return _engine(chain, dtype, len(elements) // dtype.itemsize).encode(elements)


def decoded(chain: chains.CodecChain, dtype: DataType, stored: bytes, count: int) -> bytes:
    """Return so many elements; raise `CodecError` if there are more or fewer."""
    made = _engine(chain, dtype, count).decode(stored)
    if len(made) != count * dtype.itemsize:
        raise CodecError(f"expected {count * dtype.itemsize:,} bytes, found {len(made):,}")
    return made


def _engine(chain: chains.CodecChain, dtype: DataType, count: int) -> _native.Chain:
    # Used by itself, a chain of the engine applies only its codecs: the byte order has to be one of them.
    first, *rest = chain.steps(dtype, (count,))
    steps: list[Step] = [("bytes", 0), *([("swap", first[1])] if first[1] else []), *rest]
    return _native.Chain((count,), dtype.itemsize, bytes(dtype.itemsize), False, steps)
