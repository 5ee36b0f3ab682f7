"""Documents of N5 as data: what datasets mean, everything that is wrong with others, and what is none.

Each file below ``n5/good``, ``n5/bad`` and ``n5/none`` is a list of cases. A case is the document of ``n5/base.json``:
`drop` and `set` change its members, `text` stands in its place.
"""

from __future__ import annotations

import copy
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blizzarr.codecs import N5Codec
from blizzarr.errors import MetadataError, UnknownExtensionError
from blizzarr.formats import n5
from blizzarr.model import ArrayMeta

HERE = Path(__file__).parent / "n5"
BASE = json.loads((HERE / "base.json").read_text())
KEY = "attributes.json"


def cases(folder: str) -> list[Any]:
    return [
        pytest.param(case, id=case["name"])
        for file in sorted((HERE / folder).glob("*.json"))
        for case in json.loads(file.read_text())
    ]


def document(case: dict[str, Any]) -> bytes:
    made = copy.deepcopy(BASE)
    for member in case.get("drop", ()):
        del made[member]
    made.update(case.get("set", {}))
    text: str = case.get("text", json.dumps(made))
    return text.encode()


def compressor(meta: ArrayMeta) -> Any:
    codec = meta.codecs.serializer
    assert isinstance(codec, N5Codec)
    return None if codec.compressor is None else codec.compressor.to_json()


LOOK = {
    "dtype": lambda meta: meta.dtype.name,
    "compressor": compressor,
    "key": lambda meta: meta.chunk_keys.key((1, 2, 3)[: len(meta.shape)]),
}


@pytest.mark.parametrize("case", cases("good"))
def test_good(case: dict[str, Any]) -> None:
    """Conforming documents are read as what they mean, and are stored again as they were, byte by byte."""
    raw = document(case)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        meta = n5.decode("", {KEY: raw})
    assert isinstance(meta, ArrayMeta)
    for name, expected in case["expect"].items():
        found = LOOK[name](meta) if name in LOOK else json.loads(json.dumps(getattr(meta, name)))
        assert found == expected, name
    assert n5.encode(meta, "") == {KEY: raw}
    ones = [1] * len(meta.shape)
    resized = json.loads(n5.encode(meta.with_shape(tuple(ones)), "")[KEY])
    assert resized == {**json.loads(raw), "dimensions": ones}
    assert list(resized) == list(json.loads(raw))
    # From the model alone, as if it had come from nowhere.
    assert n5.decode("", n5.encode(replace(meta, source=None), "")) == meta


@pytest.mark.parametrize("case", cases("bad"))
def test_bad(case: dict[str, Any]) -> None:
    """row 40 to 58: documents that do not conform are refused, with all their problems at once and in their places."""
    error = {"MetadataError": MetadataError, "UnknownExtensionError": UnknownExtensionError}
    with pytest.raises(MetadataError) as caught:
        n5.decode("a/b", {f"a/b/{KEY}": document(case)})
    assert type(caught.value) is error[case["error"]]
    assert caught.value.key == f"a/b/{KEY}"
    assert [list(problem) for problem in caught.value.problems] == case["problems"]


@pytest.mark.parametrize("case", cases("none"))
def test_none(case: dict[str, Any]) -> None:
    """Groups, and what others have under that name, make no node."""
    assert n5.decode("", {KEY: document(case)}) is None


def test_the_corpus_is_large() -> None:
    for folder, least in (("good", 50), ("bad", 90), ("none", 9)):
        names = [case.id for case in cases(folder)]
        assert len(names) >= least
        assert len(set(names)) == len(names)
