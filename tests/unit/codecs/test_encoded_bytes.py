"""Bytes that specifications determine, and what they depend on."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import BytesCodec, TransposeCodec
from blizzarr.dtypes import table

CORE = [row[0] for row in table._ROWS]


def test_transposed_bytes() -> None:
    """T-6, T-7: element (i, j) of the chunk is element (j, i) of what is stored."""
    store: dict[str, Any] = {}
    codecs = [TransposeCodec(order=(1, 0)), BytesCodec("little")]
    blizzarr.create_array(store, data=np.arange(6, dtype="int16").reshape(2, 3), chunks=(2, 3), codecs=codecs)
    assert store["c/0/0"].hex() == "000003000100040002000500"


@pytest.mark.parametrize("name", [*CORE, "r24"])
def test_sizes_depend_on_shape_and_type_alone(name: str) -> None:
    """D-32, D-45: whole bytes for each element, whatever its value."""
    sizes = set()
    for byte in (0, 1):
        store: dict[str, Any] = {}
        z = blizzarr.create_array(store, shape=(3, 5), dtype=name, chunks=(2, 4), codecs=["bytes"], fill_value=None)
        data = np.frombuffer(bytes([byte]) * 15 * z.itemsize, z.dtype).reshape(3, 5)
        with blizzarr.config.set(write_empty_chunks=True):
            z[...] = data
        sizes |= {len(value) for key, value in store.items() if key != "zarr.json"}
        assert len(store) == 5
    assert sizes == {8 * z.itemsize}


def test_a_blosc_container() -> None:
    """D-164, O-14: 16 bytes of header, with the type size, both lengths, and the flags, then the data."""
    store: dict[str, Any] = {}
    data = np.arange(1000, dtype="<u4")
    blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    blizzarr.create_array(store, data=data, chunks=1000, compressors=blosc, zarr_format=2)
    version, _, flags, itemsize, decoded, _, encoded = struct.unpack_from("<BBBBIII", store["0"])
    assert (version, flags & 1, flags >> 5, itemsize) == (2, 1, 1, 4)
    assert (decoded, encoded) == (4000, len(store["0"]))
    assert encoded < 4000


def test_growing_and_shrinking() -> None:
    """F-14: what a shrinking array loses is erased, so that a growing one shows fill values."""
    for zarr_format in (1, 2, 3, "v3_draft"):
        store: dict[str, Any] = {}
        z = blizzarr.create_array(store, data=np.arange(1, 11), chunks=4, fill_value=-1, zarr_format=zarr_format)
        z.resize(5)
        z.resize(10)
        assert z[:].tolist() == [1, 2, 3, 4, 5, -1, -1, -1, -1, -1]
        z.append([7, 8])
        assert blizzarr.open_array(store, mode="r")[8:].tolist() == [-1, -1, 7, 8]


@pytest.mark.parametrize("name", ["Numpy.thing", "1abc", "https://example.org/types/thing", "a" * 300])
def test_names_of_extensions_are_any(name: str) -> None:
    """F-15, Z-6: also those that are not registered are told by name; only fixed sizes are in the core."""
    with pytest.raises(blizzarr.errors.UnknownExtensionError) as caught:
        blizzarr.create_array({}, shape=3, dtype={"name": name, "configuration": {}})
    assert caught.value.extensions == (name,)


@pytest.mark.parametrize("name", ["a/b", "A-1", "x.y_z"])
def test_keys_of_the_draft(name: str) -> None:
    """W-13, D-85: every key that is written is in ASCII letters, digits and / . - _, below data or meta."""
    for spelling in ("v3_draft", "v3_draft_zarr_python"):
        store: dict[str, Any] = {}
        blizzarr.create_array(store, name=name, data=np.zeros((3, 3)) + 1, chunks=2, zarr_format=spelling)
        for key in store:
            assert key == "zarr.json" or key.startswith(("data/", "meta/"))
            assert key.isascii()
            assert all(character.isalnum() or character in "/.-_" for character in key)
