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

Options that are missing or null have the defaults of zarr-python 1; options that it did not have are ignored.

The Blosc of zarr-python 1 has zstd 0.7. Its data are read; with ``cname`` "zstd", zstd 1 is written, which newer
libraries read and zarr-python 1 does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.codecs import BloscCodec, GzipCodec
from blizzarr.codecs.blosc import SHUFFLE_NUMBER
from blizzarr.codecs.codec import Option
from blizzarr.codecs.numcodecs.compressors import PRESET, BZ2Codec
from blizzarr.codecs.numcodecs.registered import NumcodecsBlosc
from blizzarr.problems import Problems

_DEFLATE: Final = ("zlib", GzipCodec.option("level"))
_LEVELS: Final = {"zlib": _DEFLATE, "gzip": _DEFLATE, "bz2": ("bz2", BZ2Codec.option("level"))}
"""The codec and its levels."""
_OBJECTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "blosc": {name: NumcodecsBlosc().configuration()[name] for name in ("cname", "clevel", "shuffle")},
    # The numbers of Python's lzma module: the container XZ, no check.
    "lzma": {"format": 1, "check": 0, "preset": 1, "filters": None},
}
_NARROWER: Final = {"clevel": BloscCodec.option("clevel"), "shuffle": SHUFFLE_NUMBER, "preset": PRESET}
"""Options that have fewer values than in numcodecs; the codecs check the others."""
_NUMCODECS: Final = {"format": 1, "check": -1, "preset": None, "filters": None}
"""The defaults of numcodecs for ``lzma``."""
_DEFAULT_LEVEL: Final = 1
_NAMES: Final = '"blosc", "zlib", "bz2", "lzma" or "none"'


def from_v1(compression: Any, options: Any, problems: Problems) -> dict[str, Any] | None:
    """Return the configuration of a codec; `None` for no compression, or if a problem was added.

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
        codec, allowed = _LEVELS[compression]
        level = _DEFAULT_LEVEL if options is None else options
        if _accepts(allowed, level, "compression_opts", problems):
            return {"id": codec, "level": level}
    elif compression in _OBJECTS:
        return _with_options(compression, options, problems)
    else:
        problems.unknown("compression", "compressor of v1", compression, f"there are {_NAMES}")
    return None


def _with_options(compression: str, options: Any, problems: Problems) -> dict[str, Any] | None:
    """Return the configuration of a codec whose options are an object."""
    usual = _OBJECTS[compression]
    given = {} if options is None else options
    if type(given) is not dict:
        problems.add("compression_opts", f"an object with {', '.join(usual)}, or null", options)
        return None
    chosen = {name: given[name] for name in usual if given.get(name) is not None}
    if compression == "lzma" and ("filters" in chosen or "preset" in given):
        # Filters contain the preset; without filters, null is a preset that lzma accepts.
        chosen = {"preset": None, **chosen}
    for name, allowed in _NARROWER.items():
        value = chosen.get(name)
        if value is not None and not _accepts(allowed, value, f"compression_opts.{name}", problems):
            # The default replaces the invalid value, so that the other options are still checked.
            del chosen[name]
    return {"id": compression, **usual, **chosen}


def _accepts(option: Option, value: Any, where: str, problems: Problems) -> bool:
    """Return whether an option may have this value; if not, add a problem."""
    if option.accepts(value):
        return True
    problems.add(where, option.expected, value)
    return False


def to_v1(config: Mapping[str, Any] | None, problems: Problems) -> tuple[str, Any]:
    """Return the compressor and its options for a codec configuration; add a problem if v1 has none.

    >>> to_v1({"id": "zlib", "level": 1}, Problems()), to_v1(None, Problems())
    (('zlib', 1), ('none', None))
    """
    if config is None:
        return "none", None
    name = config["id"]
    if name in _LEVELS and name != "gzip":
        _accepts(_LEVELS[name][1], config["level"], "compressor.level", problems)
        return name, config["level"]
    if name in _OBJECTS:
        made = {option: config.get(option, _NUMCODECS.get(option)) for option in _OBJECTS[name]}
        for option, allowed in _NARROWER.items():
            if made.get(option) is not None:
                _accepts(allowed, made[option], f"compressor.{option}", problems)
        if name == "blosc" and config.get("blocksize", 0):
            problems.add("compressor.blocksize", "0: v1 has no block size", config["blocksize"])
        return name, made
    problems.add("compressor", f"a compressor that v1 has: {_NAMES}", name)
    return name, None
