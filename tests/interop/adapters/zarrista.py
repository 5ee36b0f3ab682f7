"""zarrista: zarrs under a Python face of its own."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import zarrista
from numpy.typing import NDArray
from zarrista.store import FilesystemStore

from interop.documents import dtype_of, type_name
from interop.elements import pack
from interop.message import Message, array_answer, box_of, values_of


def version(message: Message) -> Message:
    return {"version": zarrista.__version__}


def write(message: Message) -> Message:
    array = _create(FilesystemStore(message["root"]), message["path"], message["document"])
    array.store_array_subset(box_of(message), _input(values_of(message)))
    return {}


def read(message: Message) -> Message:
    array = zarrista.Array.open(FilesystemStore(message["root"]), f"/{message['path']}")
    return array_answer(
        _output(array),
        data_type=type_name(array.metadata),
        fill=_fill(array),
        attributes=array.attrs,
        names=array.dimension_names,
    )


def rewrite(message: Message) -> Message:
    """Write what is at `source` to `path`, where the document of the same array is."""
    store = FilesystemStore(message["root"])
    tensor = zarrista.Array.open(store, f"/{message['source']}").retrieve_array_subset(...)
    zarrista.Array.open(store, f"/{message['path']}").store_array_subset(..., _bytes_of(tensor))
    return {}


def _bytes_of(tensor: Any) -> Any:
    """Return a tensor as what can be stored: it takes back none that DLPack does not know."""
    if hasattr(tensor, "mask"):
        return zarrista.ArrayBytes(tensor.data.buffer(), mask=tensor.mask.buffer())
    if hasattr(tensor, "buffer"):
        return bytes(tensor.buffer())
    parts = [part.encode() if isinstance(part, str) else bytes(part) for part in tensor.to_numpy().ravel().tolist()]
    return zarrista.ArrayBytes(b"".join(parts), offsets=[0, *accumulate(map(len, parts))])


def read_group(message: Message) -> Message:
    group = zarrista.Group.open(FilesystemStore(message["root"]))
    found = {"": {"attributes": group.attrs}}
    for node in group.traverse():
        found[node.path.lstrip("/")] = {"attributes": node.attrs}
        if isinstance(node, zarrista.Array):
            found[node.path.lstrip("/")]["values"] = pack(_output(node))
    return {"nodes": found}


def _input(values: NDArray[Any]) -> NDArray[Any] | bytes:
    """Return what it takes as data: arrays of types that DLPack knows, and bytes for the others."""
    return values if values.dtype.kind in "biuf" else values.tobytes()


def _output(array: zarrista.Array) -> NDArray[Any]:
    """Return the whole array; of types whose names NumPy does not know, it is taken from the bytes."""
    tensor, dtype = array.retrieve_array_subset(...), dtype_of(array.metadata)
    if dtype.kind in "UV":
        return np.frombuffer(tensor.buffer(), dtype).reshape(tensor.shape)
    values = tensor.to_numpy()
    return values.astype(object) if values.dtype.kind == "T" else values


def _fill(array: zarrista.Array) -> Any:
    data, dtype = array.fill_value.as_bytes(), dtype_of(array.metadata)
    if dtype.kind == "O":
        return data.decode() if "string" in str(array.dtype) else data
    return np.frombuffer(data, dtype)[0]


def _create(store: FilesystemStore, path: str, document: Any) -> zarrista.Array:
    array = zarrista.Array.from_metadata(document, store, f"/{path}")
    array.store_metadata()
    return array
