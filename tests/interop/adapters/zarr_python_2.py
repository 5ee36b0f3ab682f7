"""zarr-python 2.18, the last that knows version 2 whole and, with its switches, its own draft of version 3."""

from __future__ import annotations

import os

os.environ.update(ZARR_V3_EXPERIMENTAL_API="1", ZARR_V3_SHARDING="1")

from typing import Any

import numpy as np
import zarr
from numcodecs import get_codec
from zarr._storage.v3_storage_transformers import ShardingStorageTransformer

from interop.documents import fill_of, old
from interop.elements import pack
from interop.message import Message, all_values, array_answer, box_of, values_of

VERSIONS = {"draft": 3, 2: 2}


def version(message: Message) -> Message:
    return {"version": str(zarr.__version__)}


def write(message: Message) -> Message:
    array = _create(message["root"], message["path"], message["document"])
    array[box_of(message)] = values_of(message)
    return {}


def read(message: Message) -> Message:
    array = zarr.open_array(message["root"], path=message["path"], mode="r", zarr_version=_version_at(message["root"]))
    values = np.asarray(array[...])
    return array_answer(
        values, data_type=old.typestr(values.dtype), fill=array.fill_value, attributes=_attributes(array)
    )


def write_group(message: Message) -> Message:
    root = message["root"]
    for path, node in message["nodes"].items():
        document = node["document"]
        if "shape" in document:
            array = _create(root, path, document)
            array[...] = all_values(node)
        else:
            group = zarr.open_group(root, path=path, mode="a", zarr_version=VERSIONS[document["zarr_format"]])
            group.attrs.put(document["attributes"])
    if message["consolidated"]:
        zarr.consolidate_metadata(zarr.DirectoryStoreV3(root) if _version_at(root) == 3 else root)
    return {}


def read_group(message: Message) -> Message:
    version = _version_at(message["root"])
    # In the draft, it can open no root that is consolidated.
    opened = zarr.open_consolidated if message["consolidated"] and version == 2 else zarr.open_group
    root = opened(message["root"], mode="r", zarr_version=version)
    found: dict[str, dict[str, Any]] = {"": {"attributes": root.attrs.asdict()}}

    def note(path: str, node: Any) -> None:
        found[path] = {"attributes": _attributes(node)}
        if isinstance(node, zarr.Array):
            found[path]["values"] = pack(np.asarray(node[...]))

    root.visititems(note)
    return {"nodes": found}


def _attributes(node: Any) -> dict[str, Any]:
    """Return the attributes; the draft has no place for filters, and so they lie there too."""
    attributes = node.attrs.asdict()
    if getattr(node, "filters", None) and node._version == 3:
        attributes.pop("filters")
    return attributes


def _version_at(root: str) -> int:
    return 3 if os.path.exists(os.path.join(root, "zarr.json")) else 2


def _create(root: str, path: str, document: Any) -> Any:
    shards = document.get("shards")
    array = zarr.create(
        store=root,
        path=path,
        shape=document["shape"],
        chunks=document["chunks"],
        dtype=old.numpy_dtype(document["dtype"]),
        compressor=document["compressor"] and get_codec(dict(document["compressor"])),
        filters=document["filters"] and [get_codec(dict(codec)) for codec in document["filters"]],
        fill_value=_fill(document),
        order=document["order"],
        dimension_separator=document.get("dimension_separator"),
        zarr_version=VERSIONS[document["zarr_format"]],
        storage_transformers=[ShardingStorageTransformer("indexed", tuple(shards))] if shards else [],
    )
    array.attrs.put(document["attributes"])
    return array


def _fill(document: Any) -> Any:
    """Return the fill value as its users give it; of objects it is whatever JSON says."""
    fill = fill_of(document)
    return fill[()] if fill is not None and fill.dtype.kind != "O" else document["fill_value"]
