"""blizzarr: arrays and groups of every Zarr format there has been, on one fast native engine.

Create and open arrays and groups, and index them like NumPy arrays:

>>> import blizzarr
>>> store = blizzarr.stores.MemoryStore()
>>> volume = blizzarr.create_array(store, name="volume", shape=(4, 6), chunks=(2, 3), dtype="int16", fill_value=-1)
>>> volume[1:3, ::2] = [[1, 2, 3], [4, 5, 6]]
>>> volume[:, 2]
array([-1,  2,  5, -1], dtype=int16)
>>> blizzarr.open_group(store)["volume"].shape
(4, 6)
"""

# ruff: noqa: E402

from __future__ import annotations

from blizzarr import interrupts as _interrupts

_interrupts.leave_at_once()  # before the other imports, which take most of the time of a short command

import ctypes as _ctypes
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING

_state = _ctypes.PYFUNCTYPE(_ctypes.c_void_p)(("PyInterpreterState_Get", _ctypes.pythonapi))
_number = _ctypes.PYFUNCTYPE(_ctypes.c_int64, _ctypes.c_void_p)(("PyInterpreterState_GetID", _ctypes.pythonapi))
if _number(_state()) != 0:
    # Before NumPy is loaded, which the main interpreter could not load after it.
    raise ImportError("blizzarr, like NumPy, cannot be used in a sub-interpreter; import it in the main one")

from blizzarr import _native, codecs, dtypes, errors, stores
from blizzarr.api import (
    array,
    check,
    consolidate_metadata,
    copy,
    create,
    create_array,
    create_group,
    diff,
    empty,
    empty_like,
    full,
    full_like,
    group,
    load,
    ones,
    ones_like,
    open,
    open_array,
    open_consolidated,
    open_group,
    register_chunk_grid,
    register_chunk_key_encoding,
    register_codec,
    register_data_type,
    register_storage_transformer,
    register_store,
    save,
    save_array,
    save_group,
    show,
    tree,
    upgrade,
    zeros,
    zeros_like,
)
from blizzarr.array import Array
from blizzarr.caching import CachePool
from blizzarr.config import config
from blizzarr.durability import durable
from blizzarr.group import Group

__version__ = _native.version()

__all__ = [
    "Array",
    "CachePool",
    "Group",
    "__version__",
    "array",
    "check",
    "codecs",
    "config",
    "consolidate_metadata",
    "copy",
    "create",
    "create_array",
    "create_group",
    "diff",
    "dtypes",
    "durable",
    "empty",
    "empty_like",
    "errors",
    "full",
    "full_like",
    "group",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "register_chunk_grid",
    "register_chunk_key_encoding",
    "register_codec",
    "register_data_type",
    "register_storage_transformer",
    "register_store",
    "save",
    "save_array",
    "save_group",
    "show",
    "stores",
    "tree",
    "upgrade",
    "zeros",
    "zeros_like",
]

if not _TYPE_CHECKING:  # type checkers find missing names themselves

    def __dir__() -> list[str]:
        return sorted([*__all__, "ZarrPipeline", "__doc__", "__file__", "__name__", "__path__"])

    def __getattr__(name: str) -> object:
        if name == "ZarrPipeline":  # needs zarr-python, which nothing else does
            from blizzarr.zarr_pipeline import ZarrPipeline

            return ZarrPipeline
        import sys

        from blizzarr.renamed import MODULE, no_attribute

        raise no_attribute(sys.modules[__name__], f"module {__name__!r}", name, MODULE)


if not _native.is_optimised():
    _warnings.warn(
        "this build of blizzarr is not optimised and many times slower than it should be; "
        "install it with pip, or build it with `maturin develop --release`",
        RuntimeWarning,
        stacklevel=2,
    )
