"""The module ``zarr.registry``: codecs by name."""

from __future__ import annotations

from typing import Any

from blizzarr.codecs.numcodecs.library import make
from blizzarr.zarr.advice import missing
from blizzarr.zarr.buffer import Buffer, NDBuffer
from blizzarr.zarr.codecs.named import CLASSES

__all__ = ["get_buffer_class", "get_codec_class", "get_ndbuffer_class", "get_numcodec", "register_codec"]


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
    """Refuse a codec that the engine does not know.

    Raises
    ------
    NotImplementedError
        If the engine has no codec of this name.
    """
    if key not in CLASSES:
        raise NotImplementedError(
            f"the engine does not know the codec {key!r}: write it as CONTRIBUTING.md says, or register it with "
            "numcodecs and use it in Zarr v2"
        )


__getattr__ = missing(__name__)
