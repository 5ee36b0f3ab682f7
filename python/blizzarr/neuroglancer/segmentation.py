"""``compressed_segmentation`` (array -> bytes): Neuroglancer's encoding of labels, in blocks with few distinct values.

https://github.com/google/neuroglancer/blob/master/src/sliceview/compressed_segmentation/README.md

Volumes have the axes x, y, z and channel, with x varying fastest, which takes a transposition before this codec.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Stage, Step


@dataclass(frozen=True, slots=True)
class CompressedSegmentationCodec(Codec):
    """The codec of Neuroglancer's volumes of labels (array -> bytes): blocks with tables of their distinct values.

    Only Neuroglancer's volumes have it: it is in no registry of Zarr.

    Specification: https://github.com/google/neuroglancer/blob/master/src/sliceview/compressed_segmentation/README.md

    Parameters
    ----------
    block_size
        The size of a block along x, y and z.

    >>> CompressedSegmentationCodec((8, 8, 4)).configuration()
    {'block_size': [8, 8, 4]}
    """

    name: ClassVar[str] = "compressed_segmentation"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    endian: ClassVar[str] = "little"

    block_size: tuple[int, int, int]

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(shape=None)

    def steps(self, chunk: Chunk) -> list[Step]:
        assert chunk.dtype is not None
        assert chunk.shape is not None
        # This codec gets chunks with the channel first and x last.
        return [
            BytesCodec(self.endian).step(chunk),
            ("compressed_segmentation", chunk.shape, chunk.dtype.itemsize, self.block_size[::-1]),
        ]

    def configuration(self) -> dict[str, Any]:
        return {"block_size": list(self.block_size)}
