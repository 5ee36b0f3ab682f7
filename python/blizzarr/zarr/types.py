"""The module ``zarr.types``: names for annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

from blizzarr.zarr.array import Array
from blizzarr.zarr.awaitable import AsyncArray
from blizzarr.zarr.names import JSON, ZarrFormat

__all__ = [
    "JSON",
    "AnyArray",
    "AnyAsyncArray",
    "ArrayV2",
    "ArrayV3",
    "AsyncArrayV2",
    "AsyncArrayV3",
    "DTypeConfig_V2",
    "DTypeJSON",
    "ZarrFormat",
]

AnyArray: TypeAlias = Array
ArrayV2: TypeAlias = Array
ArrayV3: TypeAlias = Array
AnyAsyncArray: TypeAlias = AsyncArray
AsyncArrayV2: TypeAlias = AsyncArray
AsyncArrayV3: TypeAlias = AsyncArray
DTypeConfig_V2: TypeAlias = Any
DTypeJSON: TypeAlias = Any
