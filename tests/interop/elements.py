"""Elements as JSON: numbers as their little-endian bytes in base64, Python objects one by one."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interop.documents import old

Packed = str | list[Any]


def pack(array: Any) -> Packed:
    """Return the elements in C order: base64 text of their bytes, or a list if they are Python objects."""
    array = np.asarray(array)
    if array.dtype.kind == "O":
        return [_pack_object(value) for value in array.ravel().tolist()]
    return _text(array.astype(old.little(array.dtype)).tobytes())


def unpack(packed: Packed, dtype: np.dtype[Any], shape: tuple[int, ...] | list[int]) -> NDArray[Any]:
    """Return the elements of `pack` as an array that may be written to."""
    if isinstance(packed, str):
        return np.frombuffer(base64.b64decode(packed), old.little(dtype)).reshape(shape).copy()
    objects = np.empty(len(packed), object)
    for index, value in enumerate(packed):
        objects[index] = _unpack_object(value)
    return objects.reshape(shape)


def _pack_object(value: Any) -> Any:
    """Write bytes and arrays as what they are; everything else is JSON already."""
    if isinstance(value, np.ndarray):
        return {"array": pack(value), "dtype": old.typestr(value.dtype), "shape": list(value.shape)}
    if isinstance(value, bytes):
        return {"bytes": _text(value)}
    return {"json": value.item() if isinstance(value, np.generic) else value}


def _unpack_object(value: Any) -> Any:
    if "array" in value:
        return unpack(value["array"], old.numpy_dtype(value["dtype"]), value["shape"])
    return base64.b64decode(value["bytes"]) if "bytes" in value else value["json"]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
