"""The package numcodecs, imported for the codecs that users register with it, and for the few that it alone has."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from blizzarr.codecs.numcodecs.row import IMAGES
from blizzarr.errors import UnknownExtensionError
from blizzarr.problems import describe

ZFPY: Final = "zfpy==1.0.1"
"""The requirement of the codec zfpy: numcodecs cannot be imported beside 1.0.1.post0, which its extra installs."""

_REMEMBERED = 256


def module(name: str = "registry") -> Any:
    """Import a module of the package numcodecs; raise `UnknownExtensionError` if the package cannot be imported."""
    try:
        return import_module(f"numcodecs.{name}")
    except (ImportError, ValueError) as missing:
        # numcodecs raises ValueError if another package has a version that it does not understand.
        cause, remedy = str(missing), "--upgrade numcodecs"
        if isinstance(missing, ModuleNotFoundError):
            remedy = "'blizzarr[codecs]'"
        if not isinstance(missing, ImportError) and not _is_plain(_version("zfpy")):
            cause, remedy = f"it does not understand the version of zfpy, {_version('zfpy')}", f"'{ZFPY}'"
        reason = f"the package numcodecs cannot be imported ({cause}): pip install {remedy}"
        raise UnknownExtensionError(reason, extensions=("numcodecs",)) from missing


def _version(package: str) -> str:
    """Return the version of an installed package; empty if there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _is_plain(version: str) -> bool:
    return all(part.isdigit() for part in version.split(".")) or not version


def is_registered(name: str) -> bool:
    """Return whether a codec of this id is registered with numcodecs, or an installed package provides one.

    Raise `UnknownExtensionError` if the package that provides it cannot be imported.
    """
    if find_spec("numcodecs") is None:
        if name.startswith(IMAGES):
            reason = f"{name!r} needs the packages imagecodecs and numcodecs: pip install 'blizzarr[images]'"
            raise UnknownExtensionError(reason, extensions=(name,))
        return False
    return _is_listed(_registry_for(name), name)


def _is_listed(registry: Any, name: str) -> bool:
    return name in registry.codec_registry or name in getattr(registry, "entries", ())


def _registry_for(name: str) -> Any:
    """Return the registry of numcodecs, in which imagecodecs has registered the codec if it has one of this id."""
    registry = module()
    if name.startswith(IMAGES) and not _is_listed(registry, name) and find_spec("imagecodecs") is not None:
        try:
            import_module("imagecodecs.numcodecs").register_codecs([name], verbose=False)
        except (ImportError, AttributeError, TypeError) as missing:
            reason = f"the package imagecodecs cannot be used ({missing}): pip install --upgrade imagecodecs"
            raise UnknownExtensionError(reason, extensions=(name,)) from missing
    return registry


def make(config: dict[str, Any]) -> Any:
    """Return the codec of numcodecs for an object with an ``id``; threads share it.

    Raise `UnknownExtensionError` if numcodecs has no such codec, or refuses the options.
    """
    return _make(json.dumps(config))


def as_object(document: dict[str, Any]) -> Any:
    """Return a codec in a document of v1 or v2 as an object of numcodecs; the document if that has none for it."""
    try:
        return make(document) if "id" in document else document
    except UnknownExtensionError:
        return document


@lru_cache(_REMEMBERED)
def _make(config: str) -> Any:
    document = json.loads(config)
    try:
        return _registry_for(document["id"]).get_codec(document)
    except (ValueError, TypeError, ImportError) as refused:
        # An id that is not registered is a ValueError, too.
        reason = f"numcodecs cannot make the codec {describe(document)}: {refused}"
        raise UnknownExtensionError(reason, extensions=(document["id"],)) from refused
