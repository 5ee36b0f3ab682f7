"""blizzarr, through the functions that its users call."""

from __future__ import annotations

from typing import Any

import numpy as np

import blizzarr
from interop.case import fill_bytes, numpy_dtype
from interop.message import Message, array_answer, box_of, pack, unpack, values_of


def version() -> str:
    return blizzarr.__version__


def write(message: Message) -> Message:
    array = _create(message["root"], message["path"], message["document"])
    array[box_of(message)] = values_of(message)
    return {}


def read(message: Message) -> Message:
    array = blizzarr.open_array(message["root"], path=message["path"], mode="r")
    return array_answer(
        np.asarray(array[...]),
        data_type=array.metadata.dtype.name,
        fill=array.fill_value,
        attributes=array.attrs.asdict(),
        names=array.dimension_names,
    )


def write_group(message: Message) -> Message:
    for path, node in message["nodes"].items():
        if node["document"]["node_type"] == "group":
            blizzarr.create_group(message["root"], path=path, attributes=node["document"]["attributes"])
        else:
            array = _create(message["root"], path, node["document"])
            array[...] = unpack(node["values"], node["document"]["data_type"], array.shape)
    if message["consolidated"]:
        blizzarr.consolidate_metadata(message["root"])
    return {}


def read_group(message: Message) -> Message:
    opened = blizzarr.open_consolidated if message["consolidated"] else blizzarr.open_group
    group = opened(message["root"], mode="r")
    found: dict[str, dict[str, Any]] = {"": {"attributes": group.attrs.asdict()}}
    for path, node in group.members(max_depth=None):
        found[path] = {"attributes": node.attrs.asdict()}
        if isinstance(node, blizzarr.Array):
            found[path]["values"] = pack(np.asarray(node[...]))
    return {"nodes": found}


def _create(root: str, path: str, document: Any) -> Any:
    dtype = numpy_dtype(document["data_type"])
    return blizzarr.create_array(
        root,
        name=path,
        shape=tuple(document["shape"]),
        chunks=tuple(document["chunk_grid"]["configuration"]["chunk_shape"]),
        dtype=document["data_type"],
        fill_value=np.frombuffer(fill_bytes(document["data_type"], document["fill_value"]), dtype)[0],
        codecs=document["codecs"],
        chunk_key_encoding=document["chunk_key_encoding"],
        dimension_names=document.get("dimension_names"),
        attributes=document["attributes"],
    )
