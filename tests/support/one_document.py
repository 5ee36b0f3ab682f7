"""An array of one chunk by its document of v3, whose members a test gives: what is stored, and what is read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import blizzarr

__all__ = ["LITTLE", "codec", "document", "opened", "read", "stored"]


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


LITTLE = codec("bytes", endian="little")


def document(shape: tuple[int, ...], **members: Any) -> dict[str, Any]:
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": "float32",
        "chunk_grid": codec("regular", chunk_shape=list(shape)),
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [LITTLE],
        **members,
    }


def opened(store: dict[str, bytes], shape: tuple[int, ...], **members: Any) -> blizzarr.Array:
    store["zarr.json"] = json.dumps(document(shape, **members)).encode()
    return blizzarr.open_array(store, mode="r+")


def stored(values: list[Any], **members: Any) -> bytes:
    """What is stored of the values, in one chunk."""
    store: dict[str, bytes] = {}
    opened(store, (len(values),), **members)[...] = np.array(values)
    return bytes(store["c/0"])


def read(chunk: str, count: int, **members: Any) -> list[Any]:
    store = {"c/0": bytes.fromhex(chunk)}
    found: list[Any] = opened(store, (count,), **members)[...].tolist()
    return found
