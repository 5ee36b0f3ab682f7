"""One chunk through the engine: what is stored of an array, and what is read of stored bytes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType
from blizzarr.stores import MemoryStore

__all__ = ["decoded", "encoded", "prepared"]


def prepared(chain: CodecChain, dtype: DataType, shape: tuple[int, ...]) -> _native.Chain:
    """The chain as the engine keeps it, for chunks of this type and shape."""
    return _native.Chain(shape, dtype.itemsize, bytes(dtype.itemsize), dtype.boolean, chain.steps(dtype, shape))


def encoded(chain: CodecChain, data: npt.ArrayLike, dtype: DataType | None = None) -> bytes:
    """The one chunk of an array that is stored."""
    array = np.asarray(data)
    dtype = dtype or DataType.parse(array.dtype)
    array = np.ascontiguousarray(array, dtype.numpy).reshape(array.shape)
    store = MemoryStore()
    store.set("zarr.json", b"{}")  # what writers lock
    _handle(store, prepared(chain, dtype, array.shape), array.shape).write(array, _axes(array.shape), True)
    stored = store.get(_key(array.ndim))
    assert stored is not None
    return stored


def decoded(chain: CodecChain, stored: bytes, dtype: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The array whose one chunk is stored so."""
    kind = DataType.parse(dtype)
    store = MemoryStore()
    store.set(_key(len(shape)), stored)
    found = np.empty(shape, kind.numpy)
    assert prod(shape)
    _handle(store, prepared(chain, kind, shape), shape).read(found, _axes(shape))
    return found


def _handle(store: MemoryStore, chain: _native.Chain, shape: tuple[int, ...]) -> _native.ArrayHandle:
    return _native.ArrayHandle(store.native, "/", "", "zarr.json", shape, chain, "", ".", "0")


def _key(rank: int) -> str:
    return ".".join("0" * max(rank, 1))


def _axes(shape: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    return tuple((dim, 0, 1) for dim in range(len(shape)))
