"""What numcodecs' own tests have encoded is read, in arrays of v2.

``numcodecs.tar.xz`` has files of the folder ``fixture`` of https://github.com/zarr-developers/numcodecs (MIT license)
at commit 82c3635 (June 2026), under the names that they have there: arrays, options of a codec, and the arrays as it
encoded them. Of the arrays of a codec, those are here that differ in the kind of their elements or in their memory
order, and are small; and not what names a codec ``json``, which numcodecs does not have any more.
"""

from __future__ import annotations

import io
import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import blizzarr

ARCHIVE = Path(__file__).with_name("numcodecs.tar.xz")
FILTERS = ("astype", "categorize", "delta", "fixedscaleoffset", "packbits", "quantize", "shuffle", "zfpy")
OBJECTS = ("json2", "msgpack2", "pickle", "vlen-array", "vlen-bytes", "vlen-utf8")
LOSSY = {"astype": 1, "fixedscaleoffset": 1, "quantize": 6, "zfpy": 0.01}
"""How far elements are from those that were encoded, at most; a quantum of ten is the coarsest."""


@cache
def files() -> dict[str, bytes]:
    with tarfile.open(ARCHIVE) as archive:
        return {name: archive.extractfile(name).read() for name in archive.getnames()}  # type: ignore[union-attr]


def vectors() -> list[tuple[str, str, str]]:
    """The names of the options, the encoded bytes and the array of each vector."""
    found = []
    for name in files():
        folder, _, last = name.rpartition("/")
        if last.startswith("encoded."):
            number = last.split(".")[1]
            found.append((f"{folder}/config.json", name, f"{folder.rpartition('/')[0]}/array.{number}.npy"))
    return found


def array_of(name: str) -> npt.NDArray[Any]:
    return np.load(io.BytesIO(files()[name]), allow_pickle=True)  # type: ignore[no-any-return]


def store_of(codec: dict[str, Any], encoded: bytes, data: npt.NDArray[Any]) -> dict[str, bytes]:
    is_filter = codec["id"] in FILTERS + OBJECTS
    in_order_f = data.flags.f_contiguous and not data.flags.c_contiguous and data.dtype != object
    document = {
        "zarr_format": 2,
        "shape": data.shape,
        "chunks": data.shape,
        "dtype": "|O" if codec["id"] in OBJECTS else data.dtype.str,
        "order": "F" if in_order_f else "C",
        "fill_value": None,
        "filters": [codec] if is_filter else None,
        "compressor": None if is_filter else codec,
    }
    return {".zarray": json.dumps(document).encode(), ".".join("0" * data.ndim): encoded}


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, np.ndarray | list):
        return len(found) == len(expected) and all(map(same, found, expected))
    return bool(found == expected) or (found != found and expected != expected)


@pytest.mark.parametrize(("options", "encoded", "array"), vectors())
def test_vector(options: str, encoded: str, array: str) -> None:
    codec, data = json.loads(files()[options]), array_of(array)
    package = {"pcodec": "pcodec", "zfpy": "zfpy", "msgpack2": "msgpack"}.get(codec["id"])
    if package is not None:
        pytest.importorskip(package)
    stored = files()[encoded] if encoded.endswith(".dat") else array_of(encoded).tobytes("A")
    with blizzarr.config.set(allowed_codecs=("pickle",)):
        found = blizzarr.open_array(store_of(codec, stored, data), mode="r")[...]
    assert found.shape == data.shape
    if found.dtype == object:
        assert same(found, data)
    elif codec["id"] in LOSSY:
        assert np.abs(found.astype("f8") - data.astype("f8")).max() <= LOSSY[codec["id"]]
    else:
        assert found.dtype == data.dtype
        assert found.tobytes() == data.tobytes()


@pytest.mark.parametrize("name", ["no_op", "none"])
def test_pcodec_without_differences_is_written(name: str) -> None:
    """numcodecs has two names for it: before 0.17, one that fails with pcodec 1; later, one that it warns of."""
    pcodec = pytest.importorskip("pcodec")
    data = array_of("pcodec/array.00.npy")
    store: dict[str, Any] = {}
    codec = {"id": "pcodec", "delta_spec": name}
    array = blizzarr.create_array(store, data=data, chunks=data.shape, compressors=codec, zarr_format=2)
    assert json.loads(store[".zarray"])["compressor"]["delta_spec"] == name
    assert array[...].tolist() == data.tolist()
    options = pcodec.ChunkConfig(delta_spec=pcodec.DeltaSpec.no_op())
    assert bytes(store["0"]) == pcodec.standalone.simple_compress(data, options)
