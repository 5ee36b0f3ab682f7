"""``import zarr`` as the import of this package, for one process."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution
from types import ModuleType
from typing import Any, Final

from blizzarr.zarr.advice import INSTEAD

_OURS: Final = "blizzarr.zarr"
_THEIRS: Final = "zarr"

_ELSEWHERE: Final = {
    "zarr.buffer": "blizzarr.zarr.core.buffer",
    "zarr.buffer.cpu": "blizzarr.zarr.core.buffer.cpu",
    **{
        f"zarr.codecs.{name}": "blizzarr.zarr.codecs.registered"
        for name in ("blosc", "bytes", "crc32c_", "gzip", "sharding", "transpose", "vlen_utf8", "zstd")
    },
    "zarr.convenience": "blizzarr.zarr.api.synchronous",
    "zarr.core.config": "blizzarr.zarr.core.config",
    "zarr.creation": "blizzarr.zarr.api.synchronous",
    **{f"zarr.storage.{name}": "blizzarr.zarr.storage.store_path" for name in ("_common", "_utils")},
    **{f"zarr.storage.{name}": "blizzarr.zarr.storage.wrappers" for name in ("_logging", "_wrapper")},
    **{
        f"zarr.storage.{name}": "blizzarr.zarr.storage.stores"
        for name in ("_fsspec", "_local", "_memory", "_obstore", "_zip")
    },
}
"""The modules of zarr-python that are named otherwise here."""


class _Alias(Loader):
    """Loads a module of zarr-python's name by importing ours."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # What is in `sys.modules` afterwards is what was imported.
        sys.modules[module.__name__] = importlib.import_module(self._name)


class _Distribution(Distribution):
    """What `importlib.metadata` finds under the name ``zarr``."""

    def read_text(self, filename: str) -> str | None:
        from blizzarr.zarr import __version__

        return f"Metadata-Version: 2.1\nName: zarr\nVersion: {__version__}\n" if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return path


class _Finder(MetaPathFinder):
    """Finds the modules of zarr-python in this package."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _THEIRS and not fullname.startswith(f"{_THEIRS}."):
            return None
        ours = _ELSEWHERE.get(fullname, _OURS + fullname.removeprefix(_THEIRS))
        try:
            importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name != ours:
                raise
            advice = next((text for name, text in INSTEAD.items() if name.startswith(fullname)), "")
            raise ModuleNotFoundError(
                f"no module named {fullname!r}: `blizzarr.zarr` is in the place of zarr-python, and has no such module"
                + (f"; {advice}" if advice else ""),
                name=fullname,
            ) from None
        return ModuleSpec(fullname, _Alias(ours), is_package=True)

    @classmethod
    def find_distributions(cls, context: Any = None) -> Iterable[Distribution]:
        """Find the distribution ``zarr``, whose version other packages ask for."""
        return [_Distribution()] if getattr(context, "name", None) == _THEIRS else []


def install() -> None:
    """Make ``import zarr`` import this package, in this process.

    Raises
    ------
    ImportError
        If zarr-python has been imported already.
    """
    there = sys.modules.get(_THEIRS)
    if there is not None and there.__name__ != _OURS:
        raise ImportError(
            "zarr-python has been imported already; install blizzarr.zarr before anything that imports it"
        )
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    package = importlib.import_module(_OURS)
    # All of them at once: a finder of others that comes first, like that of pytest, would load a module a second time.
    for submodule in pkgutil.walk_packages(package.__path__, f"{_OURS}."):
        if not submodule.name.endswith("__main__"):
            importlib.import_module(submodule.name)
    for name, module in list(sys.modules.items()):
        if name == _OURS or name.startswith(f"{_OURS}."):
            sys.modules[_THEIRS + name.removeprefix(_OURS)] = module
    for theirs, ours in _ELSEWHERE.items():
        module = sys.modules[theirs] = importlib.import_module(ours)
        above, _, name = theirs.rpartition(".")
        if not hasattr(sys.modules[above], name):
            setattr(sys.modules[above], name, module)
