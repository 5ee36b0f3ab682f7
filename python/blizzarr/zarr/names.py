"""Names of types and small functions of zarr-python that other packages import."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = Any
AccessModeLiteral: TypeAlias = Literal["r", "r+", "a", "w", "w-"]
MemoryOrder: TypeAlias = Literal["C", "F"]
ShapeLike: TypeAlias = Iterable[int] | int
ZarrFormat: TypeAlias = Literal[2, 3]
BytesLike: TypeAlias = bytes | bytearray | memoryview
ChunkCoords: TypeAlias = Sequence[int]
ChunksLike: TypeAlias = Any
CompressorLike: TypeAlias = Any
CompressorsLike: TypeAlias = Any
DimensionNamesLike: TypeAlias = Iterable[str | None] | None
FiltersLike: TypeAlias = Any
SerializerLike: TypeAlias = Any
ShardsLike: TypeAlias = Any


def parse_named_configuration(
    data: JSON, expected_name: str | None = None, *, require_configuration: bool = True
) -> tuple[str, JSON]:
    """Return the name and the configuration of a codec, or of another extension, in a document.

    Raises
    ------
    TypeError
        If it is no object.
    ValueError
        If it has another name than is expected, or no configuration.

    Examples
    --------
    >>> parse_named_configuration({"name": "gzip", "configuration": {"level": 1}}, "gzip")
    ('gzip', {'level': 1})
    """
    if not isinstance(data, Mapping):
        raise TypeError(f"expected an object with a name, found {data!r:.80}")
    name, configuration = data.get("name"), data.get("configuration")
    if not isinstance(name, str) or expected_name not in (None, name):
        raise ValueError(f"expected the name {expected_name or 'of an extension'!r}, found {name!r:.80}")
    if not isinstance(configuration, Mapping) and (require_configuration or configuration is not None):
        raise ValueError(f"expected {name!r} to have a configuration, found {configuration!r:.80}")
    return name, configuration


def product(lengths: Iterable[int]) -> int:
    """Return the number of elements of a shape."""
    return math.prod(lengths)


def ceildiv(a: float, b: float) -> int:
    """Return the quotient, rounded up.

    Examples
    --------
    >>> ceildiv(7, 2)
    4
    """
    return 0 if a == 0 else int(-(-a // b))
