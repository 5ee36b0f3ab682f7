"""The compressors of ``zarr``, their options and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.json_values import quote
from blizzarr.spec.members import Choices, as_integer, as_text, named_options

__all__ = ["DEFAULT_COMPRESSOR", "as_cname", "compressor_json", "is_shared", "stored_compressor"]

_CNAMES: Final = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")


def as_cname(value: Any) -> str:
    """Check that a value is the name of a compressor within Blosc."""
    name = as_text(value)
    if name not in _CNAMES:
        raise SpecError(f"Expected one of {','.join(_CNAMES)}, but received: {quote(name)}")
    return name


_COMPRESSORS: Final[Choices] = {
    "blosc": {
        "cname": (as_cname, "lz4"),
        "clevel": (as_integer(0, 9), 5),
        "shuffle": (as_integer(-1, 2), -1),
        "blocksize": (as_integer(0, (1 << 64) - 1, "64-bit unsigned integer"), 0),
    },
    "bz2": {"level": (as_integer(1, 9), 1)},
    "gzip": {"level": (as_integer(0, 9), 1)},
    "zlib": {"level": (as_integer(0, 9), 1)},
    "zstd": {"level": (as_integer(-131072, 22), 1)},
}


def stored_compressor(value: Any) -> dict[str, Any] | None:
    """Parse the compressor of a document; those that TensorStore lacks are taken as they are."""
    if isinstance(value, dict) and isinstance(name := value.get("id"), str) and name not in _COMPRESSORS:
        return value
    return compressor_json(value)


def is_shared(compressor: Mapping[str, Any] | None) -> bool:
    """Return whether TensorStore has it too."""
    return compressor is None or compressor["id"] in _COMPRESSORS


def compressor_json(value: Any) -> dict[str, Any] | None:
    """Parse a compressor and all its options; null means none.

    Examples
    --------
    >>> compressor_json({"id": "zlib"})
    {'id': 'zlib', 'level': 1}
    """
    return None if value is None else named_options(value, "id", _COMPRESSORS)


DEFAULT_COMPRESSOR: Final = compressor_json({"id": "blosc"})
"""The compressor of new arrays."""
