"""The codecs of numcodecs, the long tail of v1 and v2, under the names that zarr-python gives them in v3.

A row of `ROWS` is a codec by its name in v3 documents; without the prefix it is the codec's id in v1 and v2.
"""

from __future__ import annotations

from typing import Final

from blizzarr.codecs.numcodecs.registered import NumcodecsBlosc, NumcodecsGzip, NumcodecsZstd
from blizzarr.codecs.numcodecs.row import PREFIX, NumcodecsCodec
from blizzarr.codecs.numcodecs.zlib import ZlibCodec

__all__ = ["PREFIX", "ROWS", "NumcodecsBlosc", "NumcodecsCodec", "NumcodecsGzip", "NumcodecsZstd", "ZlibCodec"]

ROWS: Final[dict[str, type[NumcodecsCodec]]] = {
    row.name: row
    for row in (
        NumcodecsBlosc,
        NumcodecsGzip,
        NumcodecsZstd,
        ZlibCodec,
    )
}
