"""``import zarr`` is `blizzarr.zarr`; what only zarr-python's own tests import is there, but fails when it is used.

Its ``zarr.testing`` is that of zarr-python: tests that derive from it test the stores of `blizzarr.zarr`.
"""

from __future__ import annotations

import inspect
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import pytest

from blizzarr.zarr import core, dtype, testing
from blizzarr.zarr.arguments import ArrayConfig
from blizzarr.zarr.installing import install


class _Missing(type):
    """Stands for a class or function of zarr-python's inner workings."""

    def __getattr__(cls, name: str) -> Any:
        return _there(name)

    def __call__(cls, *args: Any, **_: Any) -> Any:
        if len(args) == 1 and inspect.isfunction(args[0]):
            return args[0]  # a decorator
        if "PYTEST_CURRENT_TEST" not in os.environ:
            return _there(cls.__name__)  # a parameter of a test
        pytest.fail(f"{cls.__name__} is part of the inner workings of zarr-python")

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        return iter(())

    def __len__(cls) -> int:
        return 0

    def __contains__(cls, item: object) -> bool:
        return False


def _there(name: str) -> Any:
    # What Python and pytest ask any object for is not there.
    if name.startswith(("__", "pytest")):
        raise AttributeError(name)
    return type.__call__(_Missing, name, (), {})


class _MissingModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        value = vars(dtype).get(name) if self.__name__.startswith("zarr.core.dtype") else None
        value = _there(name) if value is None else value
        setattr(self, name, value)
        return value


class _Finder(MetaPathFinder, Loader):
    """Finds modules of zarr-python that `blizzarr.zarr` does not have."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("zarr."):
            return None
        try:
            return sys.meta_path[1].find_spec(fullname, path, target)  # type: ignore[attr-defined]
        except ModuleNotFoundError:
            above, _, name = fullname.rpartition(".")
            if name in dir(sys.modules.get(above)):
                return None  # of a function or a class there is no module
            return PathFinder.find_spec(fullname, path) or ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _MissingModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code."""


_theirs = PathFinder.find_spec("zarr")
install()
if _theirs is not None and _theirs.submodule_search_locations:
    testing.__path__ += [os.path.join(place, "testing") for place in _theirs.submodule_search_locations]
sys.meta_path.insert(0, _Finder())


def _found_or_there(module: Any, name: str) -> Any:
    try:
        return _found(module, name)
    except AttributeError:
        return _there(name)


def _config_or_there(data: Any) -> Any:
    try:
        return _config_of(data)
    except (TypeError, ValueError):
        return _there("ArrayConfig")  # a parameter of zarr-python 3.4, or a value that is refused here


_config_of = ArrayConfig.from_dict
ArrayConfig.from_dict = staticmethod(_config_or_there)  # type: ignore[method-assign,assignment]
_found = core._Names.__getattr__
core._Names.__getattr__ = _found_or_there  # type: ignore[method-assign]
for _name, _module in list(sys.modules.items()):
    # Modules of inner names, and those whose names are made on demand, find their own first.
    if _name.startswith("blizzarr.zarr") and type(_module) is ModuleType and not _name.endswith("asynchronous"):
        _module.__getattr__ = _there  # type: ignore[method-assign]
