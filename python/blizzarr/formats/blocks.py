"""Converting codec chains for N5, whose blocks contain their compressor, and back."""

from __future__ import annotations

from dataclasses import replace

from blizzarr.codecs import Chunk, CodecChain
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.dtypes import DataType
from blizzarr.formats.format import Format
from blizzarr.formats.n5 import N5


def arranged(chain: CodecChain, dtype: DataType, rank: int, form: Format) -> CodecChain:
    """Return the codecs of a new array as its format requires them.

    In N5 elements are always big-endian and the first axis is the fastest. Codecs that N5 does not have are left for
    `Format.encode` to refuse.

    >>> chain = CodecChain.from_list(["bytes", "gzip"], "uint16", (4, 4))
    >>> arranged(chain, DataType.parse("uint16"), 2, N5).all
    (TransposeCodec(order=(1, 0)), N5Codec(compressor=GzipCodec(level=6)))
    """
    if form is not N5 or not isinstance(chain.serializer, BytesCodec) or len(chain.compressors) > 1:
        return chain
    from blizzarr.formats.n5_array import n5_chain

    made = n5_chain(dtype, rank, chain.compressors[0] if chain.compressors else None)
    return made if chain.filters in ((), made.filters) else chain


def without_blocks(chain: CodecChain, dtype: DataType) -> CodecChain:
    """Return the codecs of an array with the compressor of N5 blocks as a separate codec, as in other formats.

    >>> chain = arranged(CodecChain.from_list(["bytes"], "uint16", (4,)), DataType.parse("uint16"), 1, N5)
    >>> without_blocks(chain, DataType.parse("uint16")).all
    (BytesCodec(endian='big'),)
    """
    from blizzarr.codecs import N5Codec

    blocks = chain.serializer
    if not isinstance(blocks, N5Codec):
        return chain
    serializer = BytesCodec(blocks.endian).resolve(Chunk(dtype, None))
    return replace(chain, serializer=serializer, compressors=() if blocks.compressor is None else (blocks.compressor,))
