"""``zstd`` (bytes -> bytes): Zstandard, RFC 8878."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, flag, integer


@dataclass(frozen=True, slots=True)
class ZstdCodec(Codec):
    """The codec ``zstd`` (bytes -> bytes): compresses with Zstandard, in the format of RFC 8878.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd

    Parameters
    ----------
    level
        The level, from -131072 (fastest) to 22 (smallest); 0 is the default of Zstandard, which is 3.
    checksum
        Append a checksum of four bytes, which is verified when the chunk is read.

    Examples
    --------
    >>> ZstdCodec(level=5, checksum=True).to_json()
    {'name': 'zstd', 'configuration': {'level': 5, 'checksum': True}}
    """

    name: ClassVar[str] = "zstd"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    # The registry says that `checksum` should be left out if it is false, but older readers need it: it is always
    # written.
    options: ClassVar[tuple[Option, ...]] = (integer("level", -131072, 22), flag("checksum", required=False))

    level: int = 0
    checksum: bool = False

    def step(self, chunk: Chunk) -> Step:
        return ("zstd", self.level, self.checksum)
