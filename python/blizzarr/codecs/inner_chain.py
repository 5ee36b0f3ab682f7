"""Chains within codecs in Python: the codecs of a part of a chunk, whose length only the data say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blizzarr import _native
from blizzarr.codecs import chain as chains
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Option, Step
from blizzarr.codecs.packbits import PackbitsCodec
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError
from blizzarr.problems import MISSING, Problems


def codecs_option(name: str) -> Option:
    """Return an option that is a list of codecs."""
    return Option(name, "a list of codecs", lambda value: isinstance(value, list | tuple | chains.CodecChain))


def decode_chains(
    configuration: Mapping[str, Any], types: Mapping[str, DataType | None], path: str, problems: Problems, depth: int
) -> dict[str, chains.CodecChain] | None:
    """Return the chains that a document lists for the parts of a chunk, by option; None if a problem was added.

    - `types`: for each option, the data type of its part, None if it is not known.
    - `depth`: how deep in other codecs the codec with these options is.
    """
    parts: dict[str, chains.CodecChain] = {}
    for option, dtype in types.items():
        here = f"{path}.configuration.{option}"
        chain = chains.decode(configuration.get(option, MISSING), here, problems, Chunk(dtype, None, depth + 1))
        if chain is None:
            continue
        if isinstance(chain.serializer, BytesCodec | PackbitsCodec) and not chain.filters:
            parts[option] = chain
        else:
            problems.add(here, "bytes or packbits, and codecs from bytes to bytes", [codec.name for codec in chain.all])
    return parts if len(parts) == len(types) else None


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
