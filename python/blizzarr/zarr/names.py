"""Names of types and small functions of zarr-python that other packages import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = Any
AccessModeLiteral: TypeAlias = Literal["r", "r+", "a", "w", "w-"]
MemoryOrder: TypeAlias = Literal["C", "F"]
ShapeLike: TypeAlias = Iterable[int] | int
ZarrFormat: TypeAlias = Literal[2, 3]
BytesLike: TypeAlias = bytes | bytearray | memoryview
ChunkCoords: TypeAlias = Sequence[int]


def ceildiv(a: float, b: float) -> int:
    """Return the quotient, rounded up.

    Examples
    --------
    >>> ceildiv(7, 2)
    4
    """
    return 0 if a == 0 else int(-(-a // b))
