"""``zarrs.squeeze`` (array -> array): chunks without their axes of length 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Stage, Step


@dataclass(frozen=True, slots=True)
class SqueezeCodec(Codec):
    """The codec ``zarrs.squeeze`` (array -> array): gives the next codec chunks without their axes of length 1.

    There are no options.

    Specification: https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_array/squeeze/

    Examples
    --------
    >>> SqueezeCodec().after(Chunk(None, (1, 20, 1, 30))).shape
    (20, 30)
    """

    name: ClassVar[str] = "zarrs.squeeze"
    stage: ClassVar[Stage] = Stage.FILTER
    fixed_size: ClassVar[bool] = True

    def after(self, chunk: Chunk) -> Chunk:
        shape = chunk.shape
        return chunk._replace(shape=None if shape is None else tuple(length for length in shape if length != 1))

    def steps(self, chunk: Chunk) -> list[Step]:
        # The elements stay where they are.
        return []
