"""The codecs of volumes of Neuroglancer (array -> bytes): chunks as images, and blocks of labels.

With ``jpeg`` and ``png``, which need ``imagecodecs``, a chunk is one image. Its width is the length along x, the rows
of all y and z follow one another, and the channels are the colours of a pixel. Other writers may choose another width;
only the order of the pixels counts.

Volumes have the axes x, y, z and channel, with x varying fastest, which takes a transposition before these codecs.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Stage, Step
from blizzarr.codecs.in_numpy import ArrayBytesCodec
from blizzarr.errors import CodecError, UnsupportedOperationError

_PACKAGE: Final = "imagecodecs"
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of JPEG whose segments hold the size of the image."""


@dataclass(frozen=True, slots=True)
class ImageCodec(ArrayBytesCodec):
    """The codec of Neuroglancer's volumes of images (array -> bytes); needs ``imagecodecs``.

    Only Neuroglancer's volumes have it: it is in no registry of Zarr.

    Specification: https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/volume.md

    Parameters
    ----------
    encoding
        ``"jpeg"`` or ``"png"``.
    quality
        The quality of JPEG; None for the library's default.
    level
        The level of compression of PNG; None for the library's default.

    >>> ImageCodec("jpeg", quality=90).configuration()
    {'encoding': 'jpeg', 'quality': 90}
    """

    name: ClassVar[str] = "image"

    encoding: str
    quality: int | None = None
    level: int | None = None

    def steps(self, chunk: Chunk) -> list[Step]:
        if find_spec(_PACKAGE) is None:
            raise UnsupportedOperationError(
                f"chunks are {self.encoding} images, which need the package {_PACKAGE}: pip install 'blizzarr[images]'"
            )
        return super(ImageCodec, self).steps(chunk)

    def encode(self, array: npt.NDArray[Any]) -> Any:
        """Return the image of a chunk, whose axes are channel, z, y and x."""
        channels, z, y, x = array.shape
        pixels = np.ascontiguousarray(array.transpose(1, 2, 3, 0)).reshape(z * y, x, channels)
        if channels == 1:
            pixels = pixels[..., 0]
        library = import_module(_PACKAGE)
        if self.encoding == "png":
            return library.png_encode(pixels, level=self.level)
        return library.jpeg8_encode(pixels, level=self.quality)

    def decode(self, encoded: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        channels, wanted = shape[0], prod(shape[1:])
        width, height = image_size(encoded)
        # Checked before decoding, so that a false size in the header allocates nothing.
        if width * height != wanted:
            raise CodecError(f"expected an image of {wanted} pixels, found one of {width} x {height}")
        library = import_module(_PACKAGE)
        decode = library.png_decode if self.encoding == "png" else library.jpeg8_decode
        try:
            pixels: npt.NDArray[Any] = decode(encoded)
        except Exception as error:
            raise CodecError(f"{self.encoding} image is damaged: {error}") from error
        if pixels.size != wanted * channels or pixels.dtype != dtype:
            found = f"{pixels.shape} of {pixels.dtype}"
            raise CodecError(f"expected {channels} channels of {dtype}, found an image {found}")
        return pixels.reshape(*shape[1:], channels).transpose(3, 0, 1, 2)


def image_size(encoded: bytes) -> tuple[int, int]:
    """Return width and height from the header of a PNG or JPEG image.

    Raise `CodecError` if the image is neither, or has no size.

    >>> image_size(b"\\x89PNG\\r\\n\\x1a\\n" + bytes([0, 0, 0, 13]) + b"IHDR" + bytes([0, 0, 0, 7, 0, 0, 1, 0]))
    (7, 256)
    >>> image_size(b"\\xff\\xd8" + b"\\xff\\xe0" + bytes([0, 3, 9]) + b"\\xff\\xc0" + bytes([0, 11, 8, 0, 2, 0, 3]))
    (3, 2)
    """
    data = bytes(encoded)
    if data.startswith(_PNG):
        if len(data) >= 24 and data[12:16] == b"IHDR":
            width, height = struct.unpack(">II", data[16:24])
            return width, height
    elif data.startswith(_JPEG):
        at = len(_JPEG)
        while at + 9 <= len(data) and data[at] == 0xFF:
            marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
            if marker in _FRAMES:
                height, width = struct.unpack(">HH", data[at + 5 : at + 9])
                return width, height
            # Any number of 0xFF bytes may precede a marker.
            at += 1 if marker == 0xFF else 2 + length
    raise CodecError(
        f"expected a PNG or JPEG image that tells its size, found bytes that begin with {data[:4].hex(' ')}"
    )


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
