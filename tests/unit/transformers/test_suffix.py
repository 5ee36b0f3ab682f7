"""The chunk key encodings ``suffix`` and ``zarrs.default_suffix``: their keys, arrays that have them, wrong ones."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import MetadataError, UnknownExtensionError
from blizzarr.transformers.suffix import DefaultSuffix, Suffix


def suffix(base: Any, ending: str = ".tiff") -> dict[str, Any]:
    return {"name": "suffix", "configuration": {"suffix": ending, "base_encoding": base}}


BASES: list[tuple[Any, list[str], list[str]]] = [
    ("default", ["c/0/0.tiff", "c/0/1.tiff"], ["c.tiff"]),
    ({"name": "default", "configuration": {"separator": "."}}, ["c.0.0.tiff", "c.0.1.tiff"], ["c.tiff"]),
    ({"name": "v2"}, ["0.0.tiff", "0.1.tiff"], ["0.tiff"]),
    ({"name": "v2", "configuration": {"separator": "/"}}, ["0/0.tiff", "0/1.tiff"], ["0.tiff"]),
    ({"name": "fanout"}, ["c/0/000/0/000.tiff", "c/0/000/0/001.tiff"], ["c.tiff"]),
    (suffix("v2", ".b"), ["0.0.b.tiff", "0.1.b.tiff"], ["0.b.tiff"]),
]


@pytest.mark.parametrize(("base", "keys", "scalar"), BASES, ids=str)
def test_arrays(base: Any, keys: list[str], scalar: list[str]) -> None:
    """The keys of default and v2 are those that Zarr.jl's tests have; the document is as it was given."""
    for data, expected in ((np.arange(4).reshape(1, 4), keys), (np.array(5), scalar)):
        store: dict[str, Any] = {}
        array = blizzarr.create_array(store, data=data, chunks=(1, 2)[: data.ndim], chunk_key_encoding=suffix(base))
        assert sorted(set(store) - {"zarr.json"}) == expected
        assert json.loads(bytes(store["zarr.json"]))["chunk_key_encoding"] == suffix(base)
        again = blizzarr.open_array(store)
        assert again.metadata == array.metadata
        assert again[...].tolist() == data.tolist()
        assert again.nchunks_initialized == len(expected)
        assert blizzarr.check(store).ok
        assert blizzarr.copy(array, {})[...].tolist() == data.tolist()


def test_the_base_is_read_once() -> None:
    """Each chunk has a key of the base encoding, whose document is not read for each."""
    encoding = Suffix(".tiff", {"name": "v2"})
    assert (encoding.encode((1, 2)), encoding.encode((3, 4))) == ("1.2.tiff", "3.4.tiff")
    assert encoding.base is encoding.base


def test_files_that_are_no_chunks() -> None:
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=np.arange(4), chunks=2, chunk_key_encoding=suffix("v2"))
    for name in ("01.tiff", "1", "1.tif", "+1.tiff", "c/1.tiff", "1.tiff.tiff", ".tiff"):
        store[name] = b"x"
    assert array.nchunks_initialized == 2
    assert len(blizzarr.check(store).findings) == 7


@pytest.mark.parametrize(
    ("encoding", "place"),
    [
        (suffix("default", "/../x"), "suffix"),
        ({"name": "suffix", "configuration": {"suffix": ".b"}}, "base_encoding"),
        (suffix({"name": "v2", "configuration": {"separator": "-"}}), "base_encoding.configuration.separator"),
        (suffix({"name": "fanout", "configuration": {"max_children": 7}}), "base_encoding.configuration.max_children"),
        (suffix({"name": "v2", "configuration": {"x": 1}}), "base_encoding.configuration.x"),
        (suffix(suffix("v2", 7)), "base_encoding.configuration.suffix"),  # type: ignore[arg-type]
    ],
)
def test_wrong_documents(encoding: Any, place: str) -> None:
    with pytest.raises(MetadataError, match=rf"chunk_key_encoding\.configuration\.{place}: expected"):
        blizzarr.create_array({}, data=[1, 2], chunk_key_encoding=encoding)


def test_a_base_that_nobody_knows() -> None:
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=[1, 2], chunk_key_encoding=suffix("v2"))
    store["zarr.json"] = bytes(store["zarr.json"]).replace(b'"v2"', b'"acme.keys"')
    with pytest.raises(UnknownExtensionError, match=r"acme\.keys"):
        blizzarr.open_array(store)[:]


def test_default_suffix() -> None:
    assert DefaultSuffix(suffix=".tiff").encode((1, 23)) == "c/1/23.tiff"
    assert DefaultSuffix(".png", ".").decode("c.1.23.png") == (1, 23)
    assert [DefaultSuffix(".png", ".").decode(key) for key in ("x.1.png", "c.01.png", "c.1")] == [None] * 3
