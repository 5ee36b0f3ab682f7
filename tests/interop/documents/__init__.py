"""What a document says, whatever its format: the type, the fill value, the words that describe it.

The documents of cases are those that are stored, with two changes: attributes are always a member, and those of the
old formats carry a number or name in `zarr_format` by which they are told apart (:data:`FORMATS`). Everything here is
worked out from the specifications' texts, not by the library under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interop.documents import old, v3

Document = Mapping[str, Any]
FORMATS = {1: "v1", 2: "v2", 3: "v3", "draft": "draft"}


def format_of(document: Document) -> str:
    return FORMATS[document["zarr_format"]]


def dtype_of(document: Document) -> np.dtype[Any]:
    """Return the NumPy type of the elements, little-endian."""
    if "data_type" in document:
        return v3.numpy_dtype(document["data_type"])
    return old.little(old.numpy_dtype(document["dtype"]))


def chunks_of(document: Document) -> list[int]:
    """Return the shape of what is stored as one, the first of them if there are several."""
    if "data_type" not in document:
        return document["chunks"]
    configuration = document["chunk_grid"]["configuration"]
    if "chunk_shape" in configuration:
        return configuration["chunk_shape"]
    first = [axis if isinstance(axis, int) else axis[0] for axis in configuration["chunk_shapes"]]
    return [axis if isinstance(axis, int) else axis[0] for axis in first]


def type_name(document: Document) -> Any:
    """Return what a reader must call the data type: its name in version 3, NumPy's otherwise."""
    return document["data_type"] if "data_type" in document else old.typestr(dtype_of(document))


def fill_of(document: Document) -> NDArray[Any] | None:
    """Return the fill value as an array of one element, little-endian; None if it is null."""
    if "data_type" in document:
        data = v3.fill_bytes(document["data_type"], document["fill_value"])
        return np.frombuffer(data, dtype_of(document)).reshape(())
    return old.fill(document)


def tags_of(document: Document) -> Iterator[str]:
    """Yield the words by which peers say what they do not support."""
    yield format_of(document)
    yield from (v3 if "data_type" in document else old).tags(document)
    shape = document["shape"]
    yield f"rank {len(shape)}"
    if 0 in shape:
        yield "empty"
    if document["attributes"]:
        yield "attributes"
    yield from (f"attribute {name}" for name in document["attributes"])
