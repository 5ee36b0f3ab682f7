"""``zstd`` (bytes -> bytes): Zstandard, RFC 8878.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd

>>> ZstdCodec(level=5, checksum=True).to_json()
{'name': 'zstd', 'configuration': {'level': 5, 'checksum': True}}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, flag, integer

__all__ = ["ZstdCodec"]


@dataclass(frozen=True, slots=True)
class ZstdCodec(Codec):
    """Zstandard; `level` is from -131072 (fast) to 22 (small), 0 being the library's default; `checksum` adds one."""

    name: ClassVar[str] = "zstd"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    # Registered as "should be omitted if false", but older readers insist on it: we write it always.
    options: ClassVar[tuple[Option, ...]] = (integer("level", -131072, 22), flag("checksum", required=False))

    level: int = 0
    checksum: bool = False

    def step(self, chunk: Chunk) -> Step:
        return ("zstd", self.level, self.checksum)
