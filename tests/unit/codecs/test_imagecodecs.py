"""Codecs of imagecodecs in documents of v2, and by numcodecs' names in v3, which nobody has registered."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs.numcodecs import library
from blizzarr.errors import CodecError, UnknownExtensionError

DATA = (np.arange(64 * 48).reshape(64, 48) % 251).astype("uint8")


def store_with(id: str, member: str = "compressor", **options: Any) -> dict[str, Any]:
    """A store with an array whose codec has this id; nobody knows the codec in this process."""
    import numcodecs

    numcodecs.registry.codec_registry.pop(id, None)
    library._make.cache_clear()
    store: dict[str, Any] = {}
    blizzarr.create_array(
        store, shape=DATA.shape, chunks=(32, 48), dtype="uint8", zarr_format=2, compressors=None, fill_value=0
    )
    document = json.loads(store[".zarray"])
    document[member] = {"id": id, **options} if member == "compressor" else [{"id": id, **options}]
    store[".zarray"] = json.dumps(document).encode()
    return store


@pytest.mark.parametrize("member", ["compressor", "filters"])
@pytest.mark.parametrize(
    ("name", "options"),
    [("jpeg2k", {}), ("jpegxl", {"lossless": True}), ("png", {}), ("lzw", {}), ("zlib", {"level": 1}), ("lz4h5", {})],
)
def test_their_bytes(name: str, options: dict[str, Any], member: str) -> None:
    """What imagecodecs encodes is read, and what is written is what it encodes."""
    imagecodecs = pytest.importorskip("imagecodecs")
    store = store_with(f"imagecodecs_{name}", member, **options)
    encoded = [bytes(getattr(imagecodecs, f"{name}_encode")(DATA[start : start + 32], **options)) for start in (0, 32)]
    store["0.0"], store["1.0"] = encoded
    array = blizzarr.open(store)
    np.testing.assert_array_equal(array[...], DATA)
    array[...] = DATA
    assert [bytes(store["0.0"]), bytes(store["1.0"])] == encoded
    array[30:34] = 7
    assert array[30:34].tolist() == [[7] * 48] * 4


def test_lossy_options() -> None:
    """The options of the document are those of the codec."""
    imagecodecs = pytest.importorskip("imagecodecs")
    store = store_with("imagecodecs_jpeg", level=70)
    store["0.0"] = imagecodecs.jpeg_encode(DATA[:32], level=70)
    expected = imagecodecs.jpeg_decode(bytes(store["0.0"]))
    np.testing.assert_array_equal(blizzarr.open(store)[:32], expected)
    assert (expected != DATA[:32]).any()


def test_by_its_id() -> None:
    """An array is created by the codec's id, as by an object of numcodecs."""
    pytest.importorskip("imagecodecs")
    store_with("imagecodecs_jpegls")
    array = blizzarr.create_array(
        {}, data=DATA, zarr_format=2, compressors={"id": "imagecodecs_jpegls"}, chunks=(32, 48)
    )
    np.testing.assert_array_equal(array[5:40], DATA[5:40])


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra; a name that imagecodecs does not have is none of its codecs either."""
    store = store_with("imagecodecs_htj2k")  # no other test has read this document
    monkeypatch.setattr(library, "find_spec", lambda name: None)
    array = blizzarr.open(store)
    assert array.shape == DATA.shape
    with pytest.raises(UnknownExtensionError, match=r"pip install .*blizzarr\[images\]"):
        array[...]


def test_names_that_it_does_not_have() -> None:
    """They are unknown, as other ids are."""
    with pytest.raises(UnknownExtensionError, match="imagecodecs_unheard_of"):
        blizzarr.open(store_with("imagecodecs_unheard_of"))[...]


def v3_with(*codecs: Any, dtype: str = "uint8") -> dict[str, Any]:
    """A store with an array whose document has these codecs, two chunks along the first axis."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, shape=DATA.shape, chunks=(32, 48), dtype=dtype, compressors=None)
    document = json.loads(store["zarr.json"])
    document["codecs"] = list(codecs)
    store["zarr.json"] = json.dumps(document).encode()
    return store


@pytest.mark.parametrize(
    ("name", "options", "before"),
    [
        *((name, {}, []) for name in ("jpeg2k", "png", "lzw")),
        ("jpegxl", {"lossless": True}, []),
        ("png", {}, [{"name": "transpose", "configuration": {"order": [1, 0]}}]),
        ("zlib", {"level": 1}, ["bytes"]),
        ("lz4h5", {}, ["bytes"]),
    ],
)
def test_their_bytes_in_v3(name: str, options: dict[str, Any], before: list[Any]) -> None:
    """Behind a serializer such a codec is given bytes, and elsewhere it is the serializer."""
    imagecodecs = pytest.importorskip("imagecodecs")
    store = v3_with(*before, {"name": f"numcodecs.imagecodecs_{name}", "configuration": options})
    chunks = [DATA[:32], DATA[32:]]
    given = [np.ascontiguousarray(chunk.T) if before and before != ["bytes"] else chunk for chunk in chunks]
    encode = getattr(imagecodecs, f"{name}_encode")
    encoded = [bytes(encode(chunk.tobytes() if before == ["bytes"] else chunk, **options)) for chunk in given]
    store["c/0/0"], store["c/1/0"] = encoded
    array = blizzarr.open(store, mode="r+")
    np.testing.assert_array_equal(array[...], DATA)
    array[...] = DATA
    assert [bytes(store["c/0/0"]), bytes(store["c/1/0"])] == encoded
    array[30:34] = 7
    assert blizzarr.open(store)[30:34].tolist() == [[7] * 48] * 4
    assert json.loads(store["zarr.json"])["codecs"] == array.metadata.codecs.to_json() or before


def test_damage_in_v3() -> None:
    imagecodecs = pytest.importorskip("imagecodecs")
    for before, wrong in (([], imagecodecs.png_encode(DATA[:5])), (["bytes"], imagecodecs.zlib_encode(bytes(9999)))):
        name = "zlib" if before else "png"
        store = v3_with(*before, {"name": f"numcodecs.imagecodecs_{name}", "configuration": {}})
        store["c/0/0"] = wrong
        with pytest.raises(CodecError, match=r"expected .*1,536 bytes, found"):
            blizzarr.open(store)[...]
    with pytest.raises(UnknownExtensionError, match="imagecodecs-zarr"):
        blizzarr.open(v3_with({"name": "numcodecs.imagecodecs_unheard_of", "configuration": {}}))[...]
