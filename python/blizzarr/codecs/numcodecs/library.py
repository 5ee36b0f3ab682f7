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
    """Import a module of the package numcodecs.

    Raises
    ------
    UnknownExtensionError
        If it cannot be imported.
    """
    try:
        return import_module(f"numcodecs.{name}")
    except (ImportError, ValueError) as missing:
        # numcodecs raises ValueError if another package has a version that it does not understand.
        reason = f"the package numcodecs cannot be imported ({missing}): pip install --upgrade numcodecs"
        raise UnknownExtensionError(reason, extensions=("numcodecs",)) from missing


def is_registered(name: str) -> bool:
    """Return whether a codec of this id is registered with numcodecs, or an installed package provides one."""
    registry = module()
    return name in registry.codec_registry or name in getattr(registry, "entries", ())


def make(config: dict[str, Any]) -> Any:
    """Return the codec of numcodecs for an object with an ``id``; threads share it.

    Raises
    ------
    UnknownExtensionError
        If numcodecs has no such codec, or refuses the options.
    """
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
