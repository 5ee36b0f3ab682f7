"""TensorStore; it has arrays only, so the two functions for groups are not here.

In version 2 it opens the fields of structs one by one, takes n bytes for an axis of length n, and has no attributes.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore as ts
from numpy.typing import NDArray

from interop.documents import dtype_of, fill_of, old
from interop.message import Message, array_answer, box_of, values_of

# Durable writes are not what is tested, and cost a disk flush per chunk.
CONTEXT = ts.Context({"file_io_sync": False})


def version(message: Message) -> Message:
    return {"version": version_of("tensorstore")}


def names(message: Message) -> Message:
    """List the names that its errors list, by kind; of the codecs, those of the message that it knows."""

    def refused(**metadata: Any) -> str:
        spec = {"driver": "zarr3", "kvstore": "memory://", "metadata": {"data_type": "uint8", "shape": [1], **metadata}}
        try:
            ts.open(spec, create=True).result()
        except ValueError as error:
            return str(error)
        return ""

    listed = refused(data_type="none").partition("supported data types: ")[2].removesuffix(", r<N>").split(", ")
    quoted = {member: refused(**{member: {"name": "none"}}) for member in ("chunk_grid", "chunk_key_encoding")}
    codecs = [name for name in message["codecs"] if "not registered" not in refused(codecs=[{"name": name}])]
    return {
        "Codecs": codecs,
        "Data types": listed,
        "Chunk grids": re.findall('"([^"]+)"', quoted["chunk_grid"].partition("Expected")[2].partition("but")[0]),
        "Chunk key encodings": re.findall(
            '"([^"]+)"', quoted["chunk_key_encoding"].partition("Expected")[2].partition("but")[0]
        ),
    }


def write(message: Message) -> Message:
    # The members say which document this is; TensorStore knows from the driver.
    metadata, values = dict(message["document"]), values_of(message)
    if metadata["zarr_format"] == 3:
        array = _open(message, "zarr3", metadata=metadata, create=True)
        array[box_of(message)] = values
        return {}
    if metadata.pop("attributes"):
        raise NotImplementedError("its driver of version 2 has no attributes")
    for name in values.dtype.names or (None,):
        array = _open(message, "zarr", metadata=metadata, create=True, field=name)
        array[box_of(message)] = _part(values, name)
    return {}


def read(message: Message) -> Message:
    document = Path(message["root"]) / message["path"] / ".zarray"
    if document.exists():
        return _read_v2(message, dtype_of(json.loads(document.read_bytes())))
    array = _open(message, "zarr3")
    metadata = array.spec(retain_context=False).to_json()["metadata"]
    fill = metadata["fill_value"]
    return array_answer(
        np.asarray(array.read().result()),
        data_type=metadata["data_type"],
        fill=array.fill_value if array.fill_value is not None else fill,
        attributes=metadata.get("attributes", {}),
        names=metadata.get("dimension_names"),
    )


def rewrite(message: Message) -> Message:
    """Write what is at `source` to `path`, where the document of the same array is."""
    source = _open({**message, "path": message["source"]}, "zarr3")
    _open(message, "zarr3").write(source.read().result()).result()
    return {}


def _read_v2(message: Message, dtype: np.dtype[Any]) -> Message:
    for name in dtype.names or (None,):
        array = _open(message, "zarr", field=name)
        if name in (None, dtype.names and dtype.names[0]):
            metadata = array.spec(retain_context=False).to_json()["metadata"]
            values = np.empty(metadata["shape"], dtype)
        part = _part(values, name)
        # Its own arrays of bytes have elements of no length in this NumPy.
        read = np.empty(part.shape, part.dtype)
        ts.array(read, copy=False).write(array).result()
        part[...] = read
    return array_answer(values, data_type=old.typestr(dtype), fill=fill_of(metadata), attributes={})


def _part(values: NDArray[Any], field: str | None) -> NDArray[Any]:
    """Return a view of a field, if one is named, with an axis for the bytes of a text or of raw bytes."""
    part = values if field is None else values[field]
    if part.dtype.kind not in "SV":
        return part
    one = np.dtype(f"{part.dtype.kind}1")
    return np.ndarray((*part.shape, part.dtype.itemsize), one, part, strides=(*part.strides, 1))


def _open(
    message: Message, driver: str, *, metadata: Any = None, field: str | None = None, create: bool = False
) -> Any:
    spec: dict[str, Any] = {
        "driver": driver,
        "kvstore": {"driver": "file", "path": f"{message['root']}/{message['path']}/"},
    }
    spec |= {} if metadata is None else {"metadata": metadata}
    spec |= {} if field is None else {"field": field}
    return ts.open(spec, open=True, create=create, context=CONTEXT).result()
