"""Codecs as users give them: ours, names, objects as in documents, and those of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final

from blizzarr.codecs.blosc import BloscCodec
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.catalogue import CATALOGUE, supplier
from blizzarr.codecs.codec import Codec
from blizzarr.codecs.crc32c import Crc32cCodec
from blizzarr.codecs.gzip import GzipCodec
from blizzarr.codecs.zstd import ZstdCodec
from blizzarr.errors import MetadataError, Problem
from blizzarr.problems import Problems, describe, extension

__all__ = ["arrange", "codec_of", "codecs_of"]


def arrange(filters: Any, serializer: Any, compressors: Any, endian: str) -> list[Codec]:
    """The codecs for the three arguments of `create_array`, in order."""
    return [
        *([] if _is(filters, "auto") else codecs_of(filters)),
        *([BytesCodec(endian)] if serializer is None or _is(serializer, "auto") else codecs_of(serializer)),
        *([ZstdCodec()] if _is(compressors, "auto") else codecs_of(compressors)),
    ]


def _is(value: Any, word: str) -> bool:
    # Compared by type first: an array or a codec may have an equality of its own.
    return isinstance(value, str) and value == word


def codecs_of(value: Any) -> list[Codec]:
    """A list of codecs, whether one, several or none are given."""
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [codec_of(item) for item in value]
    return [codec_of(value)]


def codec_of(value: Any) -> Codec:
    """The codec that a user means.

    Examples
    --------
    >>> codec_of("crc32c"), codec_of({"name": "gzip", "configuration": {"level": 3}})
    (Crc32cCodec(), GzipCodec(level=3))
    """
    if isinstance(value, Codec):
        return value
    if hasattr(value, "codec_id") and hasattr(value, "get_config"):
        return _from_numcodecs(value)
    if hasattr(value, "to_dict"):
        value = _from_zarr_python(value)
    problems = Problems()
    document = dict(value) if isinstance(value, Mapping) else value
    named = extension(document, "codec", problems, "codec", optional=True)
    problems.raise_any()
    assert named is not None
    name, configuration = named
    row = CATALOGUE.get(name)
    if row is None:
        close = get_close_matches(name, CATALOGUE, 1)
        advice = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(CATALOGUE))}"
        problems.unknown("codec", "codec", name, f"{supplier(name)}; {advice}")
        problems.raise_any()
        raise AssertionError
    # Unlike in a document, options may be left out: they have defaults.
    given = {option: _plain(setting) for option, setting in configuration.items() if setting is not None}
    allowed = [field.name for field in fields(row)]  # type: ignore[arg-type]
    for option, setting in given.items():
        if option not in allowed:
            there = f"an option of {', '.join(allowed)}" if allowed else "no options"
            problems.add(name, there, f"{option}={setting}")
    problems.raise_any()
    return row(**given)


def _from_zarr_python(value: Any) -> dict[str, Any]:
    """A codec of zarr-python as a document has it, without the options that it would choose for the data type."""
    document = dict(value.to_dict())
    chosen = getattr(value, "_tunable_attrs", ())
    configuration = {name: option for name, option in document.get("configuration", {}).items() if name not in chosen}
    return {"name": document["name"], "configuration": configuration}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return tuple(value) if isinstance(value, list) and all(type(item) is int for item in value) else value


_SHUFFLES: Final[dict[int, str | None]] = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle", -1: None}

_NUMCODECS: Final[dict[str, Callable[[dict[str, Any]], Codec | None]]] = {
    "gzip": lambda config: GzipCodec(config["level"]),
    "zstd": lambda config: ZstdCodec(config["level"], bool(config.get("checksum", False))),
    "blosc": lambda config: BloscCodec(
        config["cname"], config["clevel"], _SHUFFLES[config["shuffle"]], None, config.get("blocksize") or 0
    ),
    # With the checksum in front it is another format.
    "crc32c": lambda config: Crc32cCodec() if config.get("location", "start") == "end" else None,
}


def _from_numcodecs(value: Any) -> Codec:
    """The equivalent of a numcodecs codec."""
    config = value.get_config()
    make = _NUMCODECS.get(value.codec_id)
    codec = make(config) if make else None
    if codec is None:
        wanted = f"a codec that Zarr v3 has too: {', '.join(_NUMCODECS)}"
        raise MetadataError(problems=[Problem("codec", wanted, describe(config))])
    return codec
