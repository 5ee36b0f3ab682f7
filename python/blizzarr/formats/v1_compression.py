"""Compressors of Zarr v1, ``compression`` and ``compression_opts``, and the codec configurations that they mean.

============  =========================================  ==================================
compression   compression_opts                           codec configuration
============  =========================================  ==================================
``blosc``     an object with cname, clevel, shuffle      ``blosc``
``zlib``      the level                                  ``zlib``
``gzip``      the level                                  ``zlib``: zarr-python 1 had it so
``bz2``       the level                                  ``bz2``
``lzma``      an object with format, check, preset,      ``lzma``
              filters
``none``      null                                       null
============  =========================================  ==================================

What is left out, or null, is what zarr-python 1 took for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.problems import Problems

__all__ = ["from_v1", "to_v1"]

_LEVELS: Final = {"zlib": "zlib", "gzip": "zlib", "bz2": "bz2"}
_OBJECTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "blosc": {"cname": "lz4", "clevel": 5, "shuffle": 1},
    # The numbers of Python's lzma module: the container XZ, no check.
    "lzma": {"format": 1, "check": 0, "preset": 1, "filters": None},
}
_DEFAULT_LEVEL: Final = 1
_NAMES: Final = '"blosc", "zlib", "bz2", "lzma" or "none"'


def from_v1(compression: Any, options: Any, problems: Problems) -> dict[str, Any] | None:
    """The configuration of a codec, or `None` for no compression, and when a problem was added.

    Examples
    --------
    >>> from_v1("zlib", 1, Problems()), from_v1("blosc", {"cname": "zstd"}, Problems())
    ({'id': 'zlib', 'level': 1}, {'id': 'blosc', 'cname': 'zstd', 'clevel': 5, 'shuffle': 1})
    """
    if compression is None or compression == "none":
        if options is not None:
            problems.add("compression_opts", "null: there is no compression", options)
        return None
    if type(compression) is not str:
        problems.add("compression", _NAMES, compression)
    elif compression in _LEVELS:
        level = _DEFAULT_LEVEL if options is None else options
        if type(level) is int:
            return {"id": _LEVELS[compression], "level": level}
        problems.add("compression_opts", "the level, an integer", options)
    elif compression in _OBJECTS:
        usual = _OBJECTS[compression]
        if options is not None and type(options) is not dict:
            problems.add("compression_opts", f"an object with {', '.join(usual)}", options)
            return None
        said = {name: value for name, value in (options or {}).items() if value is not None}
        if "filters" in said:
            # Whoever lists filters sets a preset in them.
            said = {"preset": None, **said}
        return {"id": compression, **usual, **said}
    else:
        problems.unknown("compression", "compressor of v1", compression, f"there are {_NAMES}")
    return None


def to_v1(config: Mapping[str, Any] | None, problems: Problems) -> tuple[str, Any]:
    """The compressor and its options for a codec configuration; a problem is added when v1 has none such.

    Examples
    --------
    >>> to_v1({"id": "zlib", "level": 1}, Problems()), to_v1(None, Problems())
    (('zlib', 1), ('none', None))
    """
    if config is None:
        return "none", None
    name = config["id"]
    if name in ("zlib", "bz2"):
        return name, config["level"]
    if name in _OBJECTS:
        if name == "blosc" and config.get("blocksize", 0):
            problems.add("compressor.blocksize", "0: v1 has no block size", config["blocksize"])
        if name == "blosc" and config.get("shuffle") not in (0, 1, 2):
            problems.add("compressor.shuffle", "0, 1 or 2", config.get("shuffle"))
        # Whoever lists filters sets a preset in them.
        usual = {**_OBJECTS[name], **({"preset": None} if config.get("filters") else {})}
        return name, {option: config.get(option, default) for option, default in usual.items()}
    problems.add("compressor", f"a compressor that v1 has: {_NAMES}", name)
    return name, None
