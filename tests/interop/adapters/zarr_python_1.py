"""zarr 1.1.0, which wrote version 1: one array in a store, no groups."""

from __future__ import annotations

import collections
import collections.abc
import os
from typing import Any

# It was made for Pythons that still had this name.
collections.MutableMapping = collections.abc.MutableMapping  # type: ignore[attr-defined]

import numpy as np  # noqa: E402
import zarr  # noqa: E402

from interop.documents import fill_of, old  # noqa: E402
from interop.message import Message, array_answer, box_of, values_of  # noqa: E402


def version(message: Message) -> Message:
    return {"version": str(zarr.__version__)}


def write(message: Message) -> Message:
    document, fill = message["document"], fill_of(message["document"])
    array = zarr.create(
        store=_store(message),
        shape=document["shape"],
        chunks=document["chunks"],
        dtype=old.numpy_dtype(document["dtype"]),
        compression=document["compression"],
        compression_opts=document["compression_opts"],
        fill_value=None if fill is None else fill.item(),
        order=document["order"],
    )
    array[box_of(message)] = values_of(message)
    array.attrs.update(document["attributes"])
    return {}


def read(message: Message) -> Message:
    array = zarr.Array(_store(message), readonly=True)
    values = np.asarray(array[...])
    return array_answer(values, data_type=old.typestr(values.dtype), fill=_fill(array), attributes=array.attrs.asdict())


def _fill(array: Any) -> Any:
    """Return what NumPy fills arrays with when it is given the fill value, as that is what is done with it."""
    if array.fill_value is None:
        return None
    one = np.empty((), array.dtype)
    one.fill(array.fill_value)
    return one


def _store(message: Message) -> Any:
    folder = os.path.join(message["root"], message["path"])
    os.makedirs(folder, exist_ok=True)
    return zarr.DirectoryStore(folder)
