"""The compressions of ``n5``, their options and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.json_values import MISSING
from blizzarr.spec.members import Choices, as_bool, as_integer, named_options
from blizzarr.spec.zarr.compressor import as_cname

__all__ = ["compression_json", "default_compression"]

_COMPRESSIONS: Final[Choices] = {
    "raw": {},
    "gzip": {"level": (as_integer(-1, 9), -1), "useZlib": (as_bool, False)},
    "bzip2": {"blockSize": (as_integer(1, 9), 9)},
    "xz": {"preset": (as_integer(0, 9), 6)},
    "zstd": {"level": (as_integer(-131072, 22), 0)},
    "blosc": {
        "cname": (as_cname, MISSING),
        "clevel": (as_integer(0, 9), MISSING),
        "shuffle": (as_integer(0, 2), MISSING),
        "blocksize": (as_integer(0, (1 << 64) - 1, "64-bit unsigned integer"), 0),
    },
}


def compression_json(value: Any) -> dict[str, Any]:
    """Parse a compression and all its options.

    Examples
    --------
    >>> compression_json({"type": "gzip"})
    {'level': -1, 'type': 'gzip', 'useZlib': False}
    """
    return named_options(value, "type", _COMPRESSIONS)


def default_compression(itemsize: int) -> Mapping[str, Any]:
    """Return the compression of new arrays: single bytes are shuffled bit by bit.

    Examples
    --------
    >>> default_compression(1)["shuffle"], default_compression(8)["shuffle"]
    (2, 1)
    """
    return compression_json({"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 2 if itemsize == 1 else 1})
