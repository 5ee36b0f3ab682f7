"""``bytes`` (array -> bytes): the elements one after the other, in C order."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, one_of
from blizzarr.dtypes import Kind
from blizzarr.problems import MISSING, Notice, Problems

_NARROW_FLOATS: Final = ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn")


@dataclass(frozen=True, slots=True)
class BytesCodec(Codec):
    """The codec ``bytes`` (array -> bytes): stores the elements one after the other, in C order, uncompressed.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/

    Parameters
    ----------
    endian
        The byte order of each element: ``"little"``, ``"big"``, or None for elements of a single byte.

    Examples
    --------
    >>> BytesCodec(endian="big").to_json()
    {'name': 'bytes', 'configuration': {'endian': 'big'}}
    """

    name: ClassVar[str] = "bytes"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    options: ClassVar[tuple[Option, ...]] = (one_of("endian", ("little", "big"), required=False),)
    fixed_size: ClassVar[bool] = True

    endian: str | None = "little"

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        values = cls.read_options(configuration, path, problems)
        if values is None:
            return None
        # Left out of a document, unlike of a call, the byte order is not little-endian but unknown.
        codec = cls.of_checked({"endian": None, **values})
        if codec.endian is None and chunk.dtype is not None and chunk.dtype.name == "structured" and chunk.dtype.swap:
            codec = cls("little")
            text = (
                f"{path}: the document does not say in which byte order fields are stored, as zarr-python 3.1 left it "
                "out; they are taken for little-endian, as the specification has it, whatever zarr-python was given"
            )
            problems.notices.append(Notice("byte-order", text))
        return codec if codec.fits(chunk, path, problems) else None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is not None and chunk.dtype.kind is Kind.OBJECT:
            problems.add(path, f"a codec for elements of variable length, {chunk.dtype}", self.name)
            return False
        if self.endian is None and chunk.dtype is not None and chunk.dtype.swap and not chunk.order_optional:
            problems.add(f"{path}.configuration.endian", f'"little" or "big", for {chunk.dtype}', MISSING)
            return False
        return True

    def resolve(self, chunk: Chunk) -> Self:
        if chunk.dtype is None:
            return self
        if not chunk.dtype.swap:
            return replace(self, endian=None)
        return replace(self, endian=self.endian or "little")

    def step(self, chunk: Chunk) -> Step:
        assert chunk.dtype is not None
        swapped = self.endian is not None and self.endian != sys.byteorder
        return ("bytes", chunk.dtype.swap if swapped else 0)

    def steps(self, chunk: Chunk) -> list[Step]:
        assert chunk.dtype is not None
        part = chunk.dtype.name.removeprefix("complex_")
        if part not in _NARROW_FLOATS:
            return [self.step(chunk)]
        # What other programs leave in the upper bits of a byte is to be ignored; `ml_dtypes` would take it for a sign.
        return [self.step(chunk), ("cast_value", part, part, "nearest-even", "", "", "")]
