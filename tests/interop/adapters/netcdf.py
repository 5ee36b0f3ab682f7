"""NetCDF-C, which writes version 2 when its name for a file asks for that; through netCDF4."""

from __future__ import annotations

from typing import Any

import netCDF4
import numpy as np

from interop.documents import fill_of, old
from interop.elements import pack
from interop.message import Message, all_values, array_answer, box_of, values_of

COMPRESSORS = {"zlib": "zlib", "bz2": "bzip2", "zstd": "zstd"}
OWN = ("_FillValue", "_NCProperties")


def version(message: Message) -> Message:
    return {"version": netCDF4.getlibversion().split()[0]}


def write(message: Message) -> Message:
    with _open(message["root"], "w") as root:
        array = _create(root, message["path"], message["document"])
        array[box_of(message)] = values_of(message)
    return {}


def read(message: Message) -> Message:
    with _open(message["root"], "r") as root:
        array = root[message["path"]]
        array.set_auto_maskandscale(False)
        values = np.asarray(array[...])
        return array_answer(
            values,
            data_type=old.typestr(values.dtype),
            fill=array.get_fill_value(),
            attributes=_attributes(array),
        )


def write_group(message: Message) -> Message:
    if message["consolidated"]:
        raise NotImplementedError("writes no consolidated metadata")
    with _open(message["root"], "w") as root:
        for path, node in message["nodes"].items():
            document = node["document"]
            if "shape" in document:
                array = _create(root, path, document)
                array[...] = all_values(node)
            else:
                group = root.createGroup(path) if path else root
                group.setncatts(document["attributes"])
    return {}


def read_group(message: Message) -> Message:
    found: dict[str, dict[str, Any]] = {}
    with _open(message["root"], "r") as root:
        groups = [root]
        for group in groups:
            path = group.path.strip("/")
            found[path] = {"attributes": _attributes(group)}
            groups += group.groups.values()
            for name, array in group.variables.items():
                array.set_auto_maskandscale(False)
                values = pack(np.asarray(array[...]))
                found[f"{path}/{name}".strip("/")] = {"attributes": _attributes(array), "values": values}
    return {"nodes": found}


def _open(root: str, mode: str) -> Any:
    return netCDF4.Dataset(f"file://{root}#mode=zarr,file", mode)


def _create(root: Any, path: str, document: Any) -> Any:
    filters, compressor = old.codecs(document)
    if document["order"] == "F":
        raise NotImplementedError("writes chunks in order C")
    if 0 in document["shape"]:
        raise NotImplementedError("has no axes of length 0: they would be unlimited")
    ids = [codec["id"] for codec in filters]
    if not set(ids) <= {"shuffle", "fletcher32"} or (compressor and compressor["id"] not in COMPRESSORS):
        raise NotImplementedError("writes the filters shuffle and fletcher32 and some compressors")
    *above, name = path.split("/")
    group = root.createGroup("/".join(above)) if above else root
    axes = [f"{name}-{axis}" for axis in range(len(document["shape"]))]
    for axis, size in zip(axes, document["shape"], strict=True):
        group.createDimension(axis, size)
    fill, dtype = fill_of(document), old.numpy_dtype(document["dtype"])
    array = group.createVariable(
        name,
        dtype.newbyteorder("="),
        axes,
        compression=COMPRESSORS[compressor["id"]] if compressor else None,
        complevel=compressor["level"] if compressor else None,
        shuffle="shuffle" in ids,
        fletcher32="fletcher32" in ids,
        chunksizes=document["chunks"] or None,
        endian="big" if dtype.byteorder == ">" else "little",
        fill_value=False if fill is None else fill[()],
    )
    array.set_auto_maskandscale(False)
    array.setncatts(document["attributes"])
    return array


def _attributes(node: Any) -> dict[str, Any]:
    found = {name: node.getncattr(name) for name in node.ncattrs() if name not in OWN}
    return {
        name: value.tolist() if isinstance(value, np.generic | np.ndarray) else value for name, value in found.items()
    }
