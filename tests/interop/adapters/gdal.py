"""GDAL, through its multidimensional interface; what it creates is version 2, or zarr-python's draft of version 3."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from osgeo import gdal

from interop.documents import fill_of, old
from interop.elements import pack
from interop.message import Message, all_values, array_answer, values_of

gdal.UseExceptions()

NUMBERS = {
    "|u1": gdal.GDT_Byte,
    "<i2": gdal.GDT_Int16,
    "<u2": gdal.GDT_UInt16,
    "<i4": gdal.GDT_Int32,
    "<u4": gdal.GDT_UInt32,
    "<i8": gdal.GDT_Int64,
    "<u8": gdal.GDT_UInt64,
    "<f4": gdal.GDT_Float32,
    "<f8": gdal.GDT_Float64,
    "<c8": gdal.GDT_CFloat32,
    "<c16": gdal.GDT_CFloat64,
}
NUMPY = {number: name for name, number in NUMBERS.items()}
SHUFFLES = ("NONE", "BYTE", "BIT")
LEVELS = {name: ("level", f"{name.upper()}_LEVEL") for name in ("zlib", "gzip", "zstd")}
LEVELS["lz4"] = ("acceleration", "LZ4_ACCELERATION")


def version(message: Message) -> Message:
    return {"version": str(gdal.__version__)}


def write(message: Message) -> Message:
    document = message["document"]
    dataset = _dataset(message["root"], document)
    array = _create(dataset.GetRootGroup(), message["path"], document)
    _write(array, values_of(message), [start for start, _ in message["box"]])
    return {}


def read(message: Message) -> Message:
    array = _open(message["root"]).GetRootGroup().OpenMDArrayFromFullname(f"/{message['path']}")
    dtype = _dtype(array.GetDataType())
    # Of a text, it gives the address.
    fill = None if dtype.kind == "S" else array.GetNoDataValueAsRaw()
    return array_answer(
        _values(array),
        data_type=old.typestr(dtype),
        fill=None if fill is None else np.frombuffer(fill, dtype)[0],
        attributes=_attributes(array),
    )


def write_group(message: Message) -> Message:
    nodes = dict(message["nodes"])
    document = nodes.pop("")["document"]
    dataset = _dataset(message["root"], document, consolidated=message["consolidated"])
    root = dataset.GetRootGroup()
    _describe(root, document["attributes"])
    for path, node in nodes.items():
        document = node["document"]
        if "shape" in document:
            array = _create(root, path, document)
            _write(array, all_values(node), [0] * len(document["shape"]))
        else:
            _describe(_make_groups(root, path.split("/")), document["attributes"])
    return {}


def read_group(message: Message) -> Message:
    found: dict[str, dict[str, Any]] = {}
    dataset = _open(message["root"], f"USE_ZMETADATA={'YES' if message['consolidated'] else 'NO'}")
    groups = [dataset.GetRootGroup()]
    for group in groups:
        found[group.GetFullName().strip("/")] = {"attributes": _attributes(group)}
        groups += [group.OpenGroup(name) for name in group.GetGroupNames() or ()]
        for name in group.GetMDArrayNames() or ():
            array = group.OpenMDArray(name)
            found[array.GetFullName().strip("/")] = {"attributes": _attributes(array), "values": pack(_values(array))}
    return {"nodes": found}


def _open(root: str, *options: str, flags: int = 0) -> Any:
    return gdal.OpenEx(root, gdal.OF_MULTIDIM_RASTER | flags, open_options=list(options))


def _dataset(root: str, document: Any, *, consolidated: bool = False) -> Any:
    """Open a hierarchy, or make one."""
    if os.path.exists(os.path.join(root, ".zgroup")) or os.path.exists(os.path.join(root, "zarr.json")):
        return _open(root, flags=gdal.OF_UPDATE)
    form = "ZARR_V3" if document["zarr_format"] == "draft" else "ZARR_V2"
    options = [f"FORMAT={form}", f"CREATE_ZMETADATA={'YES' if consolidated else 'NO'}"]
    # It makes the directory itself, or there must be nothing in it.
    if os.path.isdir(root):
        os.rmdir(root)
    return gdal.GetDriverByName("Zarr").CreateMultiDimensional(root, [], options)


def _make_groups(group: Any, names: Sequence[str]) -> Any:
    for name in names:
        group = group.OpenGroup(name) if name in (group.GetGroupNames() or ()) else group.CreateGroup(name)
    return group


def _create(root: Any, path: str, document: Any) -> Any:
    *above, name = path.split("/")
    axes = [root.CreateDimension(f"{path}-{axis}", None, None, size) for axis, size in enumerate(document["shape"])]
    array = _make_groups(root, above).CreateMDArray(name, axes, _type(document["dtype"]), _options(document))
    fill = fill_of(document)
    if fill is not None:
        array.SetNoDataValueRaw(fill.tobytes())
    _describe(array, document["attributes"])
    return array


def _options(document: Any) -> list[str]:
    options = {"BLOCKSIZE": ",".join(map(str, document["chunks"])), "CHUNK_MEMORY_LAYOUT": document["order"]}
    if document.get("dimension_separator"):
        options["DIM_SEPARATOR"] = document["dimension_separator"]
    compressor = dict(document["compressor"] or {})
    if compressor:
        options["COMPRESS"] = compressor["id"].upper()
        if compressor["id"] == "blosc":
            options["BLOSC_SHUFFLE"] = SHUFFLES[compressor.pop("shuffle")]
            options |= {f"BLOSC_{key.upper()}": compressor[key] for key in ("cname", "clevel", "blocksize")}
        elif compressor["id"] in LEVELS:
            options[LEVELS[compressor["id"]]] = (
                compressor["level"] if "level" in compressor else compressor["acceleration"]
            )
        elif compressor["filters"] or compressor["format"] != 1:
            raise NotImplementedError("writes lzma as .xz files only")
    if document.get("shards"):
        raise NotImplementedError("has no shards")
    for codec in document["filters"] or []:
        if codec["id"] != "delta" or "astype" in codec or len(document["filters"]) > 1:
            raise NotImplementedError("has one filter, delta")
        options |= {"FILTER": "DELTA", "DELTA_DTYPE": codec["dtype"]}
    return [f"{key}={value}" for key, value in options.items()]


def _type(written: Any) -> Any:
    """Return GDAL's type for one of NumPy's; it writes numbers in the order of this machine only."""
    if isinstance(written, str):
        if written.startswith("|S"):
            return gdal.ExtendedDataType.CreateString(int(written[2:]))
        if written not in NUMBERS:
            raise NotImplementedError(f"writes no {written}")
        return gdal.ExtendedDataType.Create(NUMBERS[written])
    fields, dtype = [], old.numpy_dtype(written)
    for name, form in written:
        fields.append(gdal.EDTComponent.Create(name, dtype.fields[name][1], _type(form)))
    return gdal.ExtendedDataType.CreateCompound("", dtype.itemsize, fields)


def _dtype(kind: Any) -> np.dtype[Any]:
    """Return NumPy's type for one of GDAL's."""
    if kind.GetClass() == gdal.GEDTC_STRING:
        return np.dtype(f"S{kind.GetMaxStringLength()}")
    if kind.GetClass() == gdal.GEDTC_NUMERIC:
        return np.dtype(NUMPY[kind.GetNumericDataType()])
    parts = kind.GetComponents()
    return np.dtype(
        {
            "names": [part.GetName() for part in parts],
            "formats": [_dtype(part.GetType()) for part in parts],
            "offsets": [part.GetOffset() for part in parts],
            "itemsize": kind.GetSize(),
        }
    )


def _write(array: Any, values: NDArray[Any], start: list[int]) -> None:
    if not values.size:
        return
    if values.dtype.kind == "S":
        array.Write(
            [value.decode("utf-8", "surrogateescape") for value in values.ravel().tolist()], start, list(values.shape)
        )
    elif values.dtype.names is not None:
        array.Write(values.tobytes(), start, list(values.shape))
    else:
        array.Write(values, start)


def _values(array: Any) -> NDArray[Any]:
    shape = [axis.GetSize() for axis in array.GetDimensions()]
    dtype, read = _dtype(array.GetDataType()), array.Read()
    if dtype.kind == "S":
        # What is no UTF-8 comes as bytes.
        return np.array([os.fsencode(value) for value in read], dtype).reshape(shape)
    packed = np.frombuffer(read, dtype).reshape(shape)
    # Fields are aligned in its memory; what was stored had no gaps.
    return packed.astype([(name, dtype[name]) for name in dtype.names]) if dtype.names else packed


def _describe(node: Any, attributes: dict[str, Any]) -> None:
    """Write attributes: it has texts, numbers, and JSON for the rest."""
    for name, value in attributes.items():
        if isinstance(value, str):
            kind = gdal.ExtendedDataType.CreateString()
        elif isinstance(value, int | float) and not isinstance(value, bool):
            kind = gdal.ExtendedDataType.Create(gdal.GDT_Int32 if isinstance(value, int) else gdal.GDT_Float64)
        else:
            kind, value = gdal.ExtendedDataType.CreateString(0, gdal.GEDTST_JSON), json.dumps(value)
        node.CreateAttribute(name, [], kind).Write(value)


def _attributes(node: Any) -> dict[str, Any]:
    return {attribute.GetName(): _plain(attribute.Read()) for attribute in node.GetAttributes()}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
