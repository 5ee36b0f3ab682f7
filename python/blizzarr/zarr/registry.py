"""The module ``zarr.registry``: codecs by name."""

from __future__ import annotations

from typing import Any, Final

import blizzarr
from blizzarr.codecs import CATALOGUE
from blizzarr.codecs.numcodecs.library import make
from blizzarr.codecs.zarr_python import adapted
from blizzarr.zarr.buffer import Buffer, NDBuffer
from blizzarr.zarr.codecs.named import CLASSES

__all__ = ["get_buffer_class", "get_codec_class", "get_ndbuffer_class", "get_numcodec", "register_codec"]

_OWN: Final[set[str]] = set()
"""The names of codecs that were made known here."""


def get_codec_class(key: str, reload_config: bool = False) -> Any:
    """Return the class of the codec of a name.

    Raises
    ------
    KeyError
        If there is none.
    """
    return CLASSES[key]


def get_numcodec(data: dict[str, Any]) -> Any:
    """Return the codec of numcodecs for its configuration."""
    return make(dict(data))


def get_buffer_class(reload_config: bool = False) -> type[Buffer]:
    """Return the class of buffers."""
    return Buffer


def get_ndbuffer_class(reload_config: bool = False) -> type[NDBuffer]:
    """Return the class of buffers of arrays."""
    return NDBuffer


def register_codec(key: str, codec_cls: Any, *, qualname: str | None = None) -> None:
    """Make a codec known by its name, if the engine has none of that name.

    Raises
    ------
    AttributeError
        If it is no class of codecs.
    """
    if key not in CATALOGUE or key in _OWN:
        _OWN.add(key)
        blizzarr.register_codec(adapted(key, codec_cls, "blizzarr.zarr"))
        CLASSES[key] = codec_cls
