"""``packbits`` (array -> bytes): elements of a few bits, without gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer, one_of
from blizzarr.dtypes import DataType, Kind
from blizzarr.problems import Problems

_NARROW = {"bool": 1, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4": 4, "float6": 6}
"""The bits of types that take a byte in memory, by the first part of their names."""


@dataclass(frozen=True, slots=True)
class PackbitsCodec(Codec):
    """The codec ``packbits`` (array -> bytes): stores elements one after the other, each in as few bits as it has.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits

    Parameters
    ----------
    padding_encoding
        Where the number of unused bits in the last byte is stored: ``"none"``, ``"first_byte"`` or ``"last_byte"``.
    first_bit
        The first bit that is stored, of each part of a complex number; None for 0. Those before it are lost.
    last_bit
        The last bit that is stored; None for the last one. Those behind it are lost.

    Examples
    --------
    >>> import blizzarr
    >>> store = blizzarr.stores.MemoryStore()
    >>> data = [True, False, True, True]
    >>> array = blizzarr.create_array(store, data=data, serializer=PackbitsCodec(), compressors=None)
    >>> list(store.get("c/0"))
    [13]
    """

    name: ClassVar[str] = "packbits"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    options: ClassVar[tuple[Option, ...]] = (
        one_of("padding_encoding", ("none", "first_byte", "last_byte"), required=False),
        replace(integer("first_bit", 0, 63, required=False), nullable=True),
        replace(integer("last_bit", 0, 63, required=False), nullable=True),
    )
    fixed_size: ClassVar[bool] = True

    padding_encoding: str = "none"
    first_bit: int | None = None
    last_bit: int | None = None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        width = _width(chunk.dtype)
        if width is None:
            problems.add(path, "a codec for such elements; this one is for numbers and booleans", str(chunk.dtype))
            return False
        first, last = self._kept(width)
        if first <= last < width:
            return True
        where = f"{path}.configuration.{'first_bit' if self.last_bit is None else 'last_bit'}"
        problems.add(where, f"bits in order, below the {width} of {chunk.dtype}", [first, last])
        return False

    def _kept(self, width: int) -> tuple[int, int]:
        return self.first_bit or 0, width - 1 if self.last_bit is None else self.last_bit

    def steps(self, chunk: Chunk) -> list[Step]:
        assert chunk.dtype is not None
        width = _width(chunk.dtype)
        assert width is not None
        # The upper bits of a narrow type in memory may be anything; as a number, it has a sign where its name says so.
        signed = chunk.dtype.kind is Kind.INTEGER and not chunk.dtype.name.startswith("u")
        return [("bytes", 0), ("packbits", width, *self._kept(width), signed, self.padding_encoding)]

    def configuration(self) -> dict[str, Any]:
        values = super(PackbitsCodec, self).configuration()
        if self.padding_encoding == "none":
            del values["padding_encoding"]
        return values


def _width(dtype: DataType) -> int | None:
    """Return the bits of an element, or of a part of a complex one; None for other types."""
    part = dtype.part
    if part.kind not in (Kind.BOOL, Kind.INTEGER, Kind.FLOAT):
        return None
    return _NARROW.get(part.name.partition("_")[0]) or 8 * part.itemsize
