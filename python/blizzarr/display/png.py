"""PNG files of 8-bit pixels, written with nothing but zlib.

https://www.w3.org/TR/png-3/
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES: Final = {1: 0, 3: 2, 4: 6}
"""The colour type in the header by the number of samples per pixel: grey, RGB, RGBA."""
_UP: Final = 2
"""The filter that stores the difference from the row above: small numbers where a picture changes slowly."""


class Picture(np.ndarray[Any, np.dtype[np.uint8]]):
    """A NumPy array of pixels, which a notebook shows as a picture."""

    def _repr_png_(self) -> bytes | None:
        is_picture = self.dtype == np.uint8 and self.ndim == 3 and self.shape[2] in _COLOUR_TYPES and self.size
        return encode(np.ascontiguousarray(self)) if is_picture else None

    def __repr__(self) -> str:
        # In a terminal, the numbers of the first pixels show nothing.
        return f"<Picture of {self.shape[1]} x {self.shape[0]} pixels>" if self.ndim == 3 else super().__repr__()

    def __str__(self) -> str:
        return repr(self) if self.ndim == 3 else super().__str__()


def encode(pixels: NDArray[np.uint8]) -> bytes:
    """Return the picture as the bytes of a PNG file.

    - `pixels`: height by width for grey, or height by width by 3 or 4 for RGB or RGBA.
    """
    samples = pixels.shape[2] if pixels.ndim == 3 else 1
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or samples not in _COLOUR_TYPES or 0 in pixels.shape:
        raise ValueError(f"expected uint8 pixels, grey, RGB or RGBA, found {pixels.dtype} of shape {pixels.shape}")
    height, width = pixels.shape[:2]
    rows = pixels.reshape(height, width * samples)
    filtered = np.empty((height, 1 + rows.shape[1]), np.uint8)
    filtered[:, 0] = _UP
    filtered[:, 1:] = rows
    # Unsigned subtraction wraps around, as the filter is defined.
    filtered[1:, 1:] -= rows[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[samples], 0, 0, 0)
    return b"".join(
        (_SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(filtered.data, 6)), _chunk(b"IEND", b""))
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
