"""The codecs of ``zarr3``, with their kinds and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from blizzarr.codecs.catalogue import CATALOGUE
from blizzarr.errors import SpecError
from blizzarr.json_values import expected, quote
from blizzarr.spec.constraint import MAX_RANK, braces
from blizzarr.spec.members import as_bool, as_integer, as_list, one_of

__all__ = ["CODECS", "Row", "chunk_sides", "row_of", "same_order"]

chunk_sides: Final = as_list(as_integer(1, (1 << 63) - 1))
"""Takes JSON arrays of lengths."""


class Row(NamedTuple):
    """One codec."""

    kind: str
    """``"array -> array"``, ``"array -> bytes"`` or ``"bytes -> bytes"``."""
    options: Mapping[str, Callable[[Any], Any] | None]
    """The parser of each option; None for options that are chains of codecs."""
    required: tuple[str, ...] = ()
    """The options without which not even a constraint is complete."""
    defaults: Mapping[str, Any] = MappingProxyType({})
    """The values of options that stored codecs leave out; all others are required there."""
    optional: tuple[str, ...] = ()
    """The options that stored codecs may leave out without meaning anything."""
    is_ours: bool = False
    """True if TensorStore lacks it."""


def _order(value: Any) -> Any:
    try:
        order = list(as_list(as_integer(0, MAX_RANK - 1), MAX_RANK)(value))
        if sorted(order) != list(range(len(order))):
            raise SpecError(f"{braces(order)} is not a valid permutation")
    except SpecError as no_order:
        try:
            return one_of("C", "F")(value)
        except SpecError as error:
            raise SpecError(f"No matching value binder: {no_order.reason}; {error.reason}") from error
    return order


def same_order(a: Any, b: Any) -> Any:
    """Return the more specific of two orders that agree; None if they differ.

    Examples
    --------
    >>> same_order("C", [0, 1]), same_order([1, 0], "F"), same_order([1, 0], "C"), same_order("C", [])
    ([0, 1], [1, 0], None, [])
    """
    if isinstance(a, str) and isinstance(b, list):
        return same_order(b, a)
    if isinstance(a, list) and isinstance(b, str):
        rank = len(a)
        return a if a == list(range(rank) if b == "C" else range(rank - 1, -1, -1)) else None
    return a if a == b else None


_CNAMES: Final = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")


def _cname(value: Any) -> str:
    if not isinstance(value, str):
        raise expected(value, "string")
    if value not in _CNAMES:
        raise SpecError(f"Expected one of {','.join(_CNAMES)} but received: {quote(value)}")
    return value


CODECS: Final[dict[str, Row]] = {
    "transpose": Row("array -> array", {"order": _order}, required=("order",)),
    "bytes": Row("array -> bytes", {"endian": one_of("little", "big")}, optional=("endian",)),
    "sharding_indexed": Row(
        "array -> bytes",
        {
            "chunk_shape": chunk_sides,
            "index_codecs": None,
            "codecs": None,
            "index_location": one_of("start", "end"),
        },
        defaults={"index_location": "end"},
    ),
    "blosc": Row(
        "bytes -> bytes",
        {
            "cname": _cname,
            "clevel": as_integer(0, 9),
            "shuffle": one_of("noshuffle", "shuffle", "bitshuffle"),
            "typesize": as_integer(1, 255),
            "blocksize": as_integer(0, 715827542),
        },
    ),
    "gzip": Row("bytes -> bytes", {"level": as_integer(0, 9)}),
    "zstd": Row(
        "bytes -> bytes", {"level": as_integer(-131072, 22), "checksum": as_bool}, defaults={"checksum": False}
    ),
    "crc32c": Row("bytes -> bytes", {}),
}


def row_of(name: str) -> Row | None:
    """Return the row of a codec; codecs that TensorStore lacks take any options, which are checked when they are used.

    Examples
    --------
    >>> row_of("numcodecs.delta").kind, row_of("foo")
    ('array -> array', None)
    """
    if name in CODECS:
        return CODECS[name]
    ours = CATALOGUE.get(name)
    return None if ours is None else Row(str(ours.stage), {}, is_ours=True)
