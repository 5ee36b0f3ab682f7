"""The interface of zarr-python 3.1 on the engine of blizzarr: ``import blizzarr.zarr as zarr``.

``python -m blizzarr.zarr script.py`` runs a script in which ``import zarr`` means this package, for the script as well
as for all that it imports.

Examples
--------
>>> import numpy as np
>>> import blizzarr.zarr as zarr
>>> root = zarr.open_group({}, mode="w", zarr_format=2)
>>> z = root.create_array("x", shape=(4, 6), chunks=(2, 3), dtype="int16", compressor=None)
>>> z[...] = np.arange(24).reshape(4, 6)
>>> z.metadata.zarr_format, z.compressor, z[1, 2]
(2, None, array(8, dtype=int16))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blizzarr.zarr import abc, api, buffer, codecs, core, dtype, errors, registry, storage
from blizzarr.zarr.advice import advise, missing
from blizzarr.zarr.array import Array
from blizzarr.zarr.awaitable import AsyncArray, AsyncGroup
from blizzarr.zarr.config import config
from blizzarr.zarr.functions import *  # noqa: F403
from blizzarr.zarr.functions import __all__ as _functions
from blizzarr.zarr.group import Group

__version__: Final = "3.1.6"
"""The version of zarr-python whose interface this is; other packages read it."""

__all__ = [
    "Array",
    "AsyncArray",
    "AsyncGroup",
    "Group",
    "__version__",
    "abc",
    "api",
    "codecs",
    "config",
    "core",
    "dtype",
    "errors",
    "print_debug_info",
    "registry",
    "storage",
    *_functions,
]


def print_debug_info() -> None:
    """Print which versions are in use."""
    import platform

    import numpy as np

    import blizzarr

    print(f"platform: {platform.platform()}\npython: {platform.python_version()}")
    print(f"zarr: {__version__} (blizzarr {blizzarr.__version__})\nnumpy: {np.__version__}")


advise(abc.codec, abc.store, api.synchronous, buffer, codecs, codecs.numcodecs, dtype, errors, registry, storage)
if not TYPE_CHECKING:
    __getattr__ = missing(__name__)
