"""Documents of version 1, of version 2 and of zarr-python's draft: their data types are NumPy's."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interop.documents.fill import fill_tags

KINDS = {
    "M": "datetime",
    "m": "timedelta",
    "S": "byte strings",
    "U": "texts",
    "V": "raw bytes",
    "O": "object",
    "c": "complex",
}


def numpy_dtype(written: Any) -> np.dtype[Any]:
    """Return the type of a string like "<f8", or of a list of fields, in the byte orders that it names."""
    return np.dtype(written if isinstance(written, str) else [_field(*field) for field in written])


def _field(name: str, written: Any, shape: list[int] | None = None) -> tuple[Any, ...]:
    return (name, numpy_dtype(written)) if shape is None else (name, numpy_dtype(written), tuple(shape))


def little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<")


def typestr(dtype: np.dtype[Any]) -> Any:
    """Return the type as it is written, but little-endian throughout: readers may choose the order in memory."""
    dtype = little(dtype)
    if dtype.names is None:
        return dtype.str
    return [_written(name, dtype[name]) for name in dtype.names]


def _written(name: str, dtype: np.dtype[Any]) -> list[Any]:
    base, shape = dtype.subdtype or (dtype, ())
    return [name, typestr(base), *([list(shape)] if shape else [])]


def fill(document: Mapping[str, Any]) -> NDArray[Any] | None:
    """Return the fill value as an array of one element; None if it is null."""
    dtype, written = little(numpy_dtype(document["dtype"])), document["fill_value"]
    if written is None:
        return None
    if dtype.kind in "SV":
        data = base64.b64decode(written)
        return np.frombuffer(data.ljust(dtype.itemsize, b"\0"), dtype).reshape(())
    if dtype.kind == "O":
        value = _object(document["filters"][0]["id"], written)
    elif dtype.kind in "mM":
        value = np.array(written, "i8").view(dtype)
    else:
        value = complex(*map(float, written)) if dtype.kind == "c" else written
    one = np.empty((), dtype)
    one[()] = value
    return one


def _object(codec: str, written: Any) -> Any:
    """Return what stands for an element: zarr-python 2 had 0 for all objects, which is neither text nor bytes."""
    if codec == "vlen-bytes":
        return base64.b64decode(written) if isinstance(written, str) else b""
    return "" if codec == "vlen-utf8" and written == 0 else written


def codecs(document: Mapping[str, Any]) -> tuple[list[Any], Any]:
    """Return the filters, and the compressor or None, as numcodecs has them."""
    if document["zarr_format"] != 1:
        return document["filters"] or [], document["compressor"]
    name, options = document["compression"], document["compression_opts"]
    if name == "none":
        return [], None
    return [], {"id": name, **(options if isinstance(options, dict) else {"level": options})}


def tags(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that describe the data type, the layout, the fill value and the codecs."""
    dtype = numpy_dtype(document["dtype"])
    yield from _type_tags(dtype)
    if document["order"] == "F":
        yield "order F"
        if sum(length > 1 for length in document["chunks"]) > 1:
            yield "order F of planes"
    if any(chunk > length > 0 for chunk, length in zip(document["chunks"], document["shape"], strict=True)):
        yield "chunks larger than the array"
    yield f"separator {document.get('dimension_separator')}"
    if document["fill_value"] is None:
        yield "fill null"
    elif dtype.kind not in "SVU":
        yield from fill_tags(document["fill_value"])
    if document["fill_value"] in (0, [0, 0]):
        yield "fill zero"
    yield from _codec_tags(document)


def _type_tags(dtype: np.dtype[Any]) -> Iterator[str]:
    yield f"type {typestr(dtype)[1:]}" if dtype.names is None else "type struct"
    if dtype != little(dtype):
        yield "big-endian"
    if dtype.names is not None:
        parts = [dtype[name] for name in dtype.names]
        if any(part.subdtype for part in parts):
            yield "struct with arrays"
        if any(part.base.names for part in parts):
            yield "nested struct"
        if any(tag == "big-endian" for part in parts for tag in _type_tags(part.base)):
            yield "mixed-endian struct"
        yield from {f"struct with {KINDS[part.base.kind]}" for part in parts if part.base.kind in "MmSUV"}
    elif dtype.kind in KINDS:
        yield KINDS[dtype.kind]
    if dtype == np.dtype("f2"):
        yield "float16"


def _codec_tags(document: Mapping[str, Any]) -> Iterator[str]:
    filters, compressor = codecs(document)
    if compressor is not None:
        yield f"compressor {compressor['id']}"
        if compressor["id"] == "blosc":
            yield f"blosc {compressor['cname']}"
            yield f"blosc shuffle {compressor['shuffle']}"
        if compressor.get("level", 0) < 0:
            yield "negative level"
        if compressor["id"] == "lzma":
            yield f"lzma format {compressor['format']}"
    else:
        yield "no compressor"
    if filters and document["dtype"] == "|O":
        yield f"object codec {filters[0]['id']}"
    for codec in filters:
        yield "filters"
        yield f"filter {codec['id']}"
        if "astype" in codec:
            yield f"{codec['id']} to another type"
    if document.get("shards"):
        yield "draft shards"
        if max(document["shards"]) > 1:
            yield "draft shards of several"
