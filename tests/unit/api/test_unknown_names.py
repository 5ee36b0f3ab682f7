"""Arrays with names that nobody here knows: everything but the data is there, and the error says what is missing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.array import ArrayWithoutData
from blizzarr.errors import CodecError, MetadataError, NodeTypeError, ReadOnlyError, UnknownExtensionError
from blizzarr.suppliers import SUPPLIERS, supplier

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ATTRIBUTES = {"site": "ridge", "nested": [1, {"a": 2}]}
CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "codec": ({"codecs": ["bytes", {"name": "zarrs.newer", "configuration": {"level": 1}}]}, "codec of zarrs, which"),
    "inner codec": (
        {
            "codecs": [
                {
                    "name": "sharding_indexed",
                    "configuration": {"chunk_shape": [2], "codecs": ["bytes", "acme"], "index_codecs": [LITTLE]},
                }
            ]
        },
        "nor in an installed package",
    ),
    "data type": ({"data_type": "acme.decimal", "fill_value": "0.0"}, "nor in an installed package"),
    "grid": ({"chunk_grid": {"name": "acme.grid", "configuration": {}}}, "nor in an installed package"),
    "keys": ({"chunk_key_encoding": {"name": "acme.keys"}}, "nor in an installed package"),
    "transformer": ({"storage_transformers": [{"name": "acme.below"}]}, "nobody has registered it"),
}


def store_with(change: dict[str, Any]) -> dict[str, Any]:
    store: dict[str, Any] = {}
    group = blizzarr.create_group(store)
    group.create_array("a", data=np.arange(4, dtype="int8"), attributes=ATTRIBUTES, dimension_names=["x"])
    document = json.loads(bytes(store["a/zarr.json"]))
    store["a/zarr.json"] = json.dumps({**document, **change}).encode()
    return store


@pytest.mark.parametrize("what", CHANGES)
def test_all_but_the_data(what: str) -> None:
    """Shape, names of the axes, attributes, info and the document are there, however the array is opened."""
    change, advice = CHANGES[what]
    store = store_with(change)
    before = dict(store)
    for array in (
        blizzarr.open(store, path="a"),
        blizzarr.open(store, path="a", mode="r"),
        blizzarr.open_array(store, path="a"),
        blizzarr.open_array(store, path="a", mode="a", shape=4, dtype="int8"),
        blizzarr.open_group(store)["a"],
    ):
        assert isinstance(array, ArrayWithoutData)
        assert (array.shape, array.ndim, array.size, len(array)) == ((4,), 1, 4, 4)
        assert array.dimension_names == ("x",)
        assert dict(array.attrs) == ATTRIBUTES
        assert array.document == json.loads(store["a/zarr.json"])
        assert advice in repr(array)
        assert advice in repr(array.info)
        assert array.info.to_dict()["shape"] == [4]
        array.attrs["nested"].append(3)
        for use in (
            lambda array: array[:],
            lambda array: array[0],
            lambda array: np.asarray(array),
            lambda array: array.dtype,
            lambda array: array.chunks,
            lambda array: array.oindex[[0]],
            lambda array: array.metadata,
        ):
            with pytest.raises(UnknownExtensionError, match=advice):
                use(array)
        for change_it in (lambda array: array.__setitem__(0, 1), lambda array: array.resize((5,))):
            with pytest.raises((UnknownExtensionError, ReadOnlyError)):
                change_it(array)
        with pytest.raises(TypeError):
            array.attrs["new"] = 1  # type: ignore[index]
    assert store == before
    assert advice in str(blizzarr.tree(store))


def test_a_group_is_not_opened_as_such_an_array() -> None:
    """`open_group` says that an array is there; a document that is wrong in another way is refused as before."""
    store = store_with(CHANGES["codec"][0])
    with pytest.raises((NodeTypeError, UnknownExtensionError)):
        blizzarr.open_group(store, path="a", mode="r")
    document = json.loads(store["a/zarr.json"])
    for change in ({"shape": [-1]}, {"shape": "4"}, {"dimension_names": 5}):
        store["a/zarr.json"] = json.dumps({**document, **change}).encode()
        with pytest.raises(MetadataError):
            blizzarr.open(store, path="a")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"compressor": {"id": "squash"}}, "numcodecs has no codec of this name"),
        ({"filters": [{"id": "imagecodecs_unheard_of"}, {"id": "squash"}]}, "imagecodecs-zarr"),
    ],
)
def test_version_2(change: dict[str, Any], words: str) -> None:
    """Arrays of v2 are there but for their data, too, with their attributes and the names of their axes."""
    store: dict[str, Any] = {}
    group = blizzarr.create_group(store, zarr_format=2)
    group.create_array("a", shape=4, dtype="i1", attributes=ATTRIBUTES, dimension_names=["x"])
    stored = {**json.loads(bytes(store["a/.zarray"])), **change}
    store["a/.zarray"] = json.dumps(stored).encode()
    before = dict(store)
    for array in (blizzarr.open(store, path="a"), blizzarr.open_array(store, path="a", mode="a"), group["a"]):
        assert isinstance(array, ArrayWithoutData)
        assert (array.shape, array.dimension_names, array.attrs["nested"]) == ((4,), ("x",), ATTRIBUTES["nested"])
        assert stored.items() <= array.document.items()
        assert words in repr(array)
        assert words in repr(array.info)
        with pytest.raises(UnknownExtensionError, match=words):
            array[:]
        with pytest.raises(UnknownExtensionError, match=words):
            array[0] = 1
    assert [finding.kind for finding in blizzarr.check(store).findings] == ["not-supported"]
    assert store == before


def test_what_may_be_ignored_is_ignored() -> None:
    """A member or a storage transformer that need not be understood changes nothing."""
    change = {"storage_transformers": [{"name": "acme", "must_understand": False}], "acme": {"must_understand": False}}
    assert blizzarr.open(store_with(change), path="a")[:].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("codec", "before"), [("test.late", UnknownExtensionError), ("lz4", CodecError)])
def test_once_it_is_registered(codec: str, before: type[Exception]) -> None:
    """The data are there when the array is opened again after its codec was registered; an alias gives way."""
    store = store_with({"codecs": ["bytes", codec]})
    store["a/c/0"] = b"anything"
    array = blizzarr.open(store, path="a")
    with pytest.raises(before):
        array[:]

    class Late(blizzarr.codecs.BytesBytesCodec):
        name = codec

        def decode(self, encoded: bytes, max_size: int) -> bytes:
            return bytes(range(10, 14))

    try:
        blizzarr.register_codec(Late)
        assert blizzarr.open(store, path="a")[:].tolist() == [10, 11, 12, 13]
    finally:
        del blizzarr.codecs.CATALOGUE.places[codec], blizzarr.codecs.CATALOGUE._here[codec]


@pytest.mark.parametrize(
    ("point", "name", "words"),
    [
        ("codec", "zarrs.anything", "zarrista"),
        ("codec", "imagecodecs_jpeg2k", "pip install imagecodecs-zarr"),
        ("codec", "virtual_tiff.x", "virtual-tiff"),
        ("codec", "zip", "not in the registry"),
        ("data type", "object", "zarr_format=2"),
        ("chunk grid", "zarrs.anything", "zarrista"),
    ],
)
def test_suppliers(point: str, name: str, words: str) -> None:
    """What is known of a name, or of what it begins with, is in the text."""
    assert words in supplier(point, name)


def test_suppliers_are_for_what_is_missing() -> None:
    """No name that is supported here is in the table."""
    assert not SUPPLIERS["codec"].keys() & blizzarr.codecs.CATALOGUE.places.keys()
