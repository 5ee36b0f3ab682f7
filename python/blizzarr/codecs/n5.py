"""``n5`` (array -> bytes): the blocks of N5, a header and the elements, compressed or not.

Elements are big-endian with the first axis varying fastest, which takes a transposition before this codec. The header
is not compressed, so the compressor is an option of this codec rather than a codec after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Stage, Step


@dataclass(frozen=True, slots=True)
class N5Codec(Codec):
    """The codec ``n5`` (array -> bytes): stores chunks as blocks of N5, a header followed by the elements.

    Only arrays of N5 have it (``zarr_format="n5"``): it is in no registry of Zarr.

    Specification: https://github.com/saalfeldlab/n5#file-system-specification

    Parameters
    ----------
    compressor
        A codec from bytes to bytes, for the elements; None stores them uncompressed.

    Examples
    --------
    >>> from blizzarr.codecs.gzip import GzipCodec
    >>> N5Codec(GzipCodec(level=1)).configuration()
    {'compressor': {'name': 'gzip', 'configuration': {'level': 1}}}
    """

    name: ClassVar[str] = "n5"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    endian: ClassVar[str] = "big"

    compressor: Codec | None = None

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(shape=None)

    def steps(self, chunk: Chunk) -> list[Step]:
        assert chunk.dtype is not None
        assert chunk.shape is not None
        inner = None if self.compressor is None else self.compressor.step(chunk)
        # The header lists the axes in the order of the array; this codec gets the chunk with its axes reversed.
        return [BytesCodec(self.endian).step(chunk), ("n5", chunk.shape[::-1], chunk.dtype.itemsize, inner)]

    def configuration(self) -> dict[str, Any]:
        return {"compressor": None if self.compressor is None else self.compressor.to_json()}
