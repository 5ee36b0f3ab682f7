"""blizzarr, through the functions that its users call."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numcodecs import get_codec

import blizzarr
from interop.documents import fill_of, old, tags_of
from interop.elements import pack
from interop.message import Message, all_values, array_answer, box_of, values_of

ZARR_FORMATS = {"draft": "v3_draft_zarr_python"}
# The pickles of these tests are our own.
LENGTHS = {"regular": "chunk_shape", "rectilinear": "chunk_shapes"}
TRUSTED = {"allowed_codecs": ("pickle",)}


def version(message: Message) -> Message:
    return {"version": blizzarr.__version__}


def write(message: Message) -> Message:
    with blizzarr.config.set(TRUSTED):
        array = _create(message["root"], message["path"], message["document"])
        array[box_of(message)] = values_of(message)
    return {}


def read(message: Message) -> Message:
    array = blizzarr.open_array(message["root"], path=message["path"], mode="r")
    is_v3 = array.metadata.format == "v3"
    with blizzarr.config.set(TRUSTED):
        values = np.asarray(array[...])
    return array_answer(
        values,
        data_type=array.metadata.dtype.name if is_v3 else old.typestr(array.dtype),
        fill=array.fill_value,
        attributes=array.attrs.asdict(),
        # Old formats of Zarr have none, only an attribute that stands for them.
        names=array.dimension_names if is_v3 or array.metadata.format == "n5" else None,
    )


def write_group(message: Message) -> Message:
    for path, node in message["nodes"].items():
        document = node["document"]
        if "shape" in document:
            array = _create(message["root"], path, document)
            array[...] = all_values(node)
        else:
            attributes, form = document["attributes"], document["zarr_format"]
            blizzarr.create_group(
                message["root"], path=path, attributes=attributes, zarr_format=ZARR_FORMATS.get(form, form)
            )
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
    # Of arrays of any length it is what a user leaves out.
    if fill is None and "object codec vlen-array" not in tags_of(document):
        raise NotImplementedError("makes no arrays without a fill value")
    options: dict[str, Any] = {
        "name": path or None,
        "shape": tuple(document["shape"]),
        "fill_value": None if fill is None else fill[()],
        "attributes": document["attributes"],
        "zarr_format": ZARR_FORMATS.get(document["zarr_format"], document["zarr_format"]),
    }
    if document["zarr_format"] == 3:
        return blizzarr.create_array(
            root,
            **options,
            dtype=document["data_type"],
            chunks=document["chunk_grid"]["configuration"][LENGTHS[document["chunk_grid"]["name"]]],
            codecs=document["codecs"],
            chunk_key_encoding=document["chunk_key_encoding"],
            dimension_names=document.get("dimension_names"),
        )
    filters, compressor = old.codecs(document)
    separator, shards = document.get("dimension_separator"), document.get("shards")
    return blizzarr.create_array(
        root,
        **options,
        dtype=old.numpy_dtype(document["dtype"]),
        chunks=tuple(document["chunks"]),
        shards=shards and tuple(map(operator.mul, shards, document["chunks"])),
        order=document["order"],
        filters=[get_codec(dict(config)) for config in filters],
        compressors=compressor and get_codec(dict(compressor)),
        chunk_key_encoding=separator and ("default" if document["zarr_format"] == "draft" else "v2", separator),
    )
