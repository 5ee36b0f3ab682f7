"""blizzarr, through the functions that its users call."""

from __future__ import annotations

from typing import Any

import numpy as np

import blizzarr
from interop.documents import fill_of, old
from interop.elements import pack
from interop.message import Message, all_values, array_answer, box_of, values_of


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
        document = node["document"]
        if "shape" in document:
            array = _create(message["root"], path, document)
            array[...] = all_values(node)
        else:
            attributes, form = document["attributes"], document["zarr_format"]
            blizzarr.create_group(message["root"], path=path, attributes=attributes, zarr_format=form)
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
    fill = fill_of(document)
    options: dict[str, Any] = {
        "name": path,
        "shape": tuple(document["shape"]),
        "fill_value": fill[()],
        "attributes": document["attributes"],
        "zarr_format": document["zarr_format"],
    }
    if document["zarr_format"] == 3:
        return blizzarr.create_array(
            root,
            **options,
            dtype=document["data_type"],
            chunks=tuple(document["chunk_grid"]["configuration"]["chunk_shape"]),
            codecs=document["codecs"],
            chunk_key_encoding=document["chunk_key_encoding"],
            dimension_names=document.get("dimension_names"),
        )
    return blizzarr.create_array(
        root,
        **options,
        dtype=old.numpy_dtype(document["dtype"]),
        chunks=tuple(document["chunks"]),
        order=document["order"],
        filters=[_codec(config) for config in document["filters"] or []],
        compressors=document["compressor"] and _codec(document["compressor"]),
        chunk_key_encoding=("v2", document.get("dimension_separator", ".")),
    )


def _codec(config: Any) -> Any:
    return {"name": f"numcodecs.{config['id']}", "configuration": {k: v for k, v in config.items() if k != "id"}}
