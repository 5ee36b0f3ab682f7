"""The package numcodecs, imported when one of its codecs is first used."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import import_module
from typing import Any

from blizzarr.errors import UnknownExtensionError
from blizzarr.problems import describe

__all__ = ["is_registered", "make", "module"]

_REMEMBERED = 256


def module(name: str = "registry") -> Any:
    """A module of the package numcodecs."""
    try:
        return import_module(f"numcodecs.{name}")
    except (ImportError, ValueError) as missing:
        # A ValueError when a package beside it has a version that numcodecs does not understand.
        reason = f"the package numcodecs cannot be imported ({missing}): pip install --upgrade numcodecs"
        raise UnknownExtensionError(reason, extensions=("numcodecs",)) from missing


def is_registered(name: str) -> bool:
    """Whether somebody registered a codec of this id with numcodecs, or an installed package offers to."""
    registry = module()
    return name in registry.codec_registry or name in getattr(registry, "entries", ())


def make(config: dict[str, Any]) -> Any:
    """The codec of numcodecs for an object with an ``id``; one for all threads, as numcodecs means them to be used."""
    return _make(json.dumps(config))


@lru_cache(_REMEMBERED)
def _make(config: str) -> Any:
    document = json.loads(config)
    try:
        return module().get_codec(document)
    except (ValueError, TypeError, ImportError) as refused:
        # An id that is not registered is a ValueError, too.
        reason = f"numcodecs cannot make the codec {describe(document)}: {refused}"
        raise UnknownExtensionError(reason, extensions=(document["id"],)) from refused
