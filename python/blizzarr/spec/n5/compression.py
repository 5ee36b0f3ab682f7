"""The compressions of ``n5``: their options, and what these are unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, quote
from blizzarr.spec.members import Members, as_bool, as_integer, as_text
from blizzarr.spec.zarr.compressor import as_cname

__all__ = ["compression_json", "default_compression"]

_Option = tuple[Callable[[Any], Any], Any]
_COMPRESSIONS: Final[dict[str, dict[str, _Option]]] = {
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
    """The compression that JSON says, with all its options.

    Examples
    --------
    >>> compression_json({"type": "gzip"})
    {'level': -1, 'type': 'gzip', 'useZlib': False}
    """
    members = Members(value)
    name = members.take("type", _name)
    found: dict[str, Any] = {"type": name}
    for option, (parse, default) in _COMPRESSIONS[name].items():
        found[option] = members.take(option, parse, default)
    members.end()
    return dict(sorted(found.items()))


def _name(value: Any) -> str:
    name = as_text(value)
    if name not in _COMPRESSIONS:
        raise SpecError(f"{quote(name)} is not registered")
    return name


def default_compression(itemsize: int) -> Mapping[str, Any]:
    """What new arrays get: elements of one byte are shuffled bit by bit.

    Examples
    --------
    >>> default_compression(1)["shuffle"], default_compression(8)["shuffle"]
    (2, 1)
    """
    return compression_json({"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 2 if itemsize == 1 else 1})
