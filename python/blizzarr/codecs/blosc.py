"""``blosc`` (bytes -> bytes): shuffled blocks, each compressed by one of six algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer, one_of
from blizzarr.dtypes import Kind
from blizzarr.problems import MISSING, Problems

SHUFFLES: Final = ("noshuffle", "shuffle", "bitshuffle")
"""The ways to shuffle, each at the index of its number in Blosc itself; older formats have the number."""
SHUFFLE_NUMBER: Final = integer("shuffle", 0, len(SHUFFLES) - 1)
_WIDEST: Final = 255
"""The largest element size in bytes; Blosc treats wider elements as single bytes."""


@dataclass(frozen=True, slots=True)
class BloscCodec(Codec):
    """The codec ``blosc`` (bytes -> bytes): shuffles the bytes of a chunk in blocks, and compresses each block.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/

    Parameters
    ----------
    cname
        The algorithm: ``"blosclz"``, ``"lz4"``, ``"lz4hc"``, ``"snappy"``, ``"zlib"`` or ``"zstd"``.
    clevel
        The level, from 0 (no compression) to 9 (smallest).
    shuffle
        ``"noshuffle"``, ``"shuffle"`` (bytes) or ``"bitshuffle"``. With None, it is chosen when an array is created:
        ``"bitshuffle"`` for elements of one byte, ``"shuffle"`` for others.
    typesize
        The bytes per element, for shuffling. With None, it is taken from the data type when an array is created.
    blocksize
        The bytes per block; 0 lets Blosc choose.

    Examples
    --------
    >>> BloscCodec(cname="zstd", clevel=3, shuffle="shuffle", typesize=4).to_json()["configuration"]
    {'cname': 'zstd', 'clevel': 3, 'shuffle': 'shuffle', 'typesize': 4, 'blocksize': 0}
    """

    name: ClassVar[str] = "blosc"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (
        one_of("cname", ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")),
        integer("clevel", 0, 9),
        one_of("shuffle", SHUFFLES),
        integer("typesize", 0, 2**31 - 1, required=False),
        integer("blocksize", 0, 2**31 - 1),
    )

    cname: str = "lz4"
    clevel: int = 5
    shuffle: str | None = None
    typesize: int | None = None
    blocksize: int = 0

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        values = cls.read_options(configuration, path, problems)
        # Shuffling needs the type size to encode, though not to decode; without shuffling it has no meaning.
        if configuration.get("shuffle") in ("shuffle", "bitshuffle") and configuration.get("typesize", 0) == 0:
            expected = "a positive integer, as there is shuffling"
            problems.add(f"{path}.configuration.typesize", expected, configuration.get("typesize", MISSING))
            return None
        return None if values is None else cls(**values)

    def resolve(self, chunk: Chunk) -> Self:
        if chunk.dtype is None:
            return self
        if chunk.dtype.kind is Kind.OBJECT:
            # The bytes are those of elements of variable length.
            return replace(self, typesize=self.typesize or 1, shuffle=self.shuffle or "noshuffle")
        itemsize = chunk.dtype.itemsize
        typesize = itemsize if self.typesize is None else self.typesize
        shuffle = self.shuffle or ("bitshuffle" if itemsize == 1 else "shuffle")
        return replace(self, typesize=typesize if typesize <= _WIDEST else 1, shuffle=shuffle)

    def step(self, chunk: Chunk) -> Step:
        resolved = self.resolve(chunk)
        assert resolved.shuffle is not None
        shuffle = SHUFFLES.index(resolved.shuffle)
        return ("blosc", self.cname, self.clevel, shuffle, resolved.typesize or 1, self.blocksize)
