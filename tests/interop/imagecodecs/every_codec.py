"""Each codec that imagecodecs-zarr registers: who reads what the other has written, as JSON.

It runs in the environment ``imagecodecs`` of `environments.py`, with blizzarr beside it. A codec for which zarr-python
can write none of the elements below with its default options is left out.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import zarr

import blizzarr

SHAPE = (32, 32)
PLANE = np.arange(32 * 32).reshape(SHAPE)
TYPES = ("uint8", "uint16", "float32", "float64", "uint32", "bool")


def arrays() -> Iterator[np.ndarray[Any, Any]]:
    """Planes of several types, then planes of colours."""
    for dtype in TYPES:
        yield (PLANE % 2 == 0) if dtype == "bool" else (PLANE % 251).astype(dtype)
    yield np.repeat((PLANE % 251).astype("uint8")[..., None], 3, axis=-1)
    yield np.repeat((PLANE % 251).astype("float32")[..., None], 3, axis=-1)


def arguments(name: str) -> Iterator[dict[str, Any]]:
    """The codec as a serializer, as a filter and as a compressor; the class says which it is, by raising or not."""
    try:
        codec = zarr.registry.get_codec_class(name).from_dict({"name": name})
    except (TypeError, ValueError):
        return  # it has no default options, or is not in this system's package
    for member in ("serializer", "filters", "compressors"):
        given = codec if member == "serializer" else [codec]
        yield {"compressors": None, member: given}


def crossed(name: str, place: Path) -> dict[str, Any] | None:
    """Who reads what the other has written; None if zarr-python writes nothing."""
    for data in arrays():
        for number, given in enumerate(arguments(name)):
            theirs = place / f"{data.dtype}-{data.ndim}-{number}"
            try:
                array = zarr.create_array(theirs, data=data, chunks=data.shape, **given)
                expected = array[...]
            except Exception:
                continue  # it is for other elements, or is no codec of this kind
            ours = theirs.with_suffix(".ours")
            found = blizzarr.open(theirs)
            again = blizzarr.create_array(ours, data=data, chunks=data.shape, **{**given, **codecs(found)})
            again[...] = data
            chunk = "c" + "/0" * data.ndim
            return {
                "reads": np.array_equal(found[...], expected),
                "is read": np.array_equal(zarr.open_array(ours, mode="r")[...], expected),
                "same bytes": (theirs / chunk).read_bytes() == (ours / chunk).read_bytes(),
            }
    return None


def codecs(array: blizzarr.Array) -> dict[str, Any]:
    chain = array.metadata.codecs
    return {"filters": chain.filters, "serializer": chain.serializer, "compressors": chain.compressors}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    names = sorted(point.name for point in entry_points(group="zarr.codecs") if point.name.startswith("imagecodecs_"))
    results: dict[str, Any] = {}
    for each in names:
        with tempfile.TemporaryDirectory() as temporary:
            try:
                results[each] = crossed(each, Path(temporary))
            except Exception as error:
                results[each] = f"{type(error).__name__}: {error}"
    json.dump(results, sys.stdout)
