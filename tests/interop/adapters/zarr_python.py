"""zarr-python 3, through the functions that its users call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numcodecs import get_codec
from numpy.typing import NDArray
from zarr.dtype import VariableLengthBytes, VariableLengthUTF8

from interop.documents import fill_of, old
from interop.elements import pack
from interop.message import Message, all_values, array_answer, box_of, values_of

UNEVEN = {"array.rectilinear_chunks": True}
"""The setting without which its newest releases refuse rectilinear chunk grids."""
OBJECTS = {"vlen-utf8": VariableLengthUTF8(), "vlen-bytes": VariableLengthBytes()}


def version(message: Message) -> Message:
    return {"version": str(zarr.__version__)}


def names(message: Message) -> Message:
    """List the names that it knows, by kind."""
    from zarr import registry

    return {
        "Codecs": sorted({*zarr.config.get("codecs"), *registry._codec_registries}),
        "Data types": sorted(registry.data_type_registry.contents),
        "Chunk key encodings": sorted(registry._chunk_key_encoding_registry),
    }


def write(message: Message) -> Message:
    with zarr.config.set(UNEVEN):
        array = _create(message["root"], message["path"], message["document"])
        array[box_of(message)] = values_of(message)
    return {}


def read(message: Message) -> Message:
    with zarr.config.set(UNEVEN):
        array = zarr.open_array(message["root"], path=message["path"], mode="r")
        document = array.metadata.to_dict()
        values = _values(array)
    return array_answer(
        values,
        data_type=_type_name(document["data_type"]) if "data_type" in document else old.typestr(values.dtype),
        fill=array.fill_value,
        attributes=array.attrs.asdict(),
        names=document.get("dimension_names"),
    )


def rewrite(message: Message) -> Message:
    """Write what is at `source` to `path`, where the document of the same array is."""
    with zarr.config.set(UNEVEN):
        source = zarr.open_array(message["root"], path=message["source"], mode="r")
        zarr.open_array(message["root"], path=message["path"], mode="r+")[...] = source[...]
    return {}


def _type_name(data_type: Any) -> str:
    """Return the name of a data type; that of raw bytes as in the specification."""
    raw = isinstance(data_type, dict) and data_type["name"] == "raw_bytes"
    return f"r{8 * data_type['configuration']['length_bytes']}" if raw else str(data_type)


def write_group(message: Message) -> Message:
    for path, node in message["nodes"].items():
        document = node["document"]
        if "shape" in document:
            array = _create(message["root"], path, document)
            array[...] = all_values(node)
        else:
            form = document["zarr_format"]
            zarr.create_group(message["root"], path=path, attributes=document["attributes"], zarr_format=form)
    if message["consolidated"]:
        zarr.consolidate_metadata(message["root"], zarr_format=message["nodes"][""]["document"]["zarr_format"])
    return {}


def read_group(message: Message) -> Message:
    opened = zarr.open_consolidated if message["consolidated"] else zarr.open_group
    group = opened(message["root"], mode="r")
    found = {"": {"attributes": group.attrs.asdict()}}
    for path, node in group.members(max_depth=None):
        found[path] = {"attributes": node.attrs.asdict()}
        if isinstance(node, zarr.Array):
            found[path]["values"] = pack(_values(node))
    return {"nodes": found}


def _values(array: Any) -> NDArray[Any]:
    """Return the whole array; texts of any length as Python objects."""
    values = np.asarray(array[...])
    return values.astype(object) if values.dtype.kind == "T" else values


def _create(root: str, path: str, document: Any) -> Any:
    fill = fill_of(document)
    options: dict[str, Any] = {
        "store": root,
        "path": path,
        "shape": tuple(document["shape"]),
        "fill_value": None if fill is None else fill[()],
        "attributes": document["attributes"],
        "zarr_format": document["zarr_format"],
    }
    if document["zarr_format"] == 3 and "chunk_shapes" in document["chunk_grid"]["configuration"]:
        # Its functions make no grids that reach beyond the array.
        if "/" in path:
            zarr.open_group(root, path=path.rpartition("/")[0], mode="a", zarr_format=3)
        folder = Path(root, path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "zarr.json").write_text(json.dumps(document))
        return zarr.open_array(root, path=path, mode="r+")
    if document["zarr_format"] == 3:
        return zarr.create(
            **options,
            chunks=tuple(document["chunk_grid"]["configuration"]["chunk_shape"]),
            dtype=fill.dtype,
            codecs=document["codecs"],
            chunk_key_encoding=document["chunk_key_encoding"],
            dimension_names=document.get("dimension_names"),
        )
    filters = [get_codec(dict(codec)) for codec in document["filters"] or []]
    # Its data types of any length bring their object codecs.
    dtypes = [OBJECTS[codec.codec_id] for codec in filters[:1] if codec.codec_id in OBJECTS]
    return zarr.create(
        **options,
        chunks=tuple(document["chunks"]),
        dtype=dtypes[0] if dtypes else old.numpy_dtype(document["dtype"]),
        compressor=document["compressor"] and get_codec(dict(document["compressor"])),
        filters=filters[len(dtypes) :] or None,
        order=document["order"],
        dimension_separator=document.get("dimension_separator"),
    )
