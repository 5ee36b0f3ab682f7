"""Documents of N5 as data: what datasets mean, everything that is wrong with others, groups, and what is none.

Each file below ``n5/good``, ``n5/bad``, ``n5/group`` and ``n5/none`` is a list of cases. A case is the document of
``n5/base.json``: `drop` and `set` change its members, `text` stands in its place.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from blizzarr.codecs import N5Codec
from blizzarr.errors import MetadataError
from blizzarr.formats.n5 import N5
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.problems import Notice
from support.corpus import Corpus, as_json, check_refused

CORPUS = Corpus("n5")
KEY = "attributes.json"


def compressor(meta: ArrayMeta) -> Any:
    codec = meta.codecs.serializer
    assert isinstance(codec, N5Codec)
    return None if codec.compressor is None else codec.compressor.to_json()


LOOK = {
    "dtype": lambda meta: meta.dtype.name,
    "compressor": compressor,
    "key": lambda meta: meta.chunk_keys.key((1, 2, 3)[: len(meta.shape)]),
}


@pytest.mark.parametrize("case", CORPUS.cases("good"))
def test_good(case: dict[str, Any]) -> None:
    """Conforming documents are read as what they mean, and are stored again as they were, byte by byte."""
    raw = CORPUS.document(case)
    notices: list[Notice] = []
    meta = N5.decode("", {KEY: raw}, notices)
    assert not notices
    assert isinstance(meta, ArrayMeta)
    for name, expected in case["expect"].items():
        found = LOOK[name](meta) if name in LOOK else as_json(getattr(meta, name))
        assert found == expected, name
    assert N5.encode(meta, "") == {KEY: raw}
    ones = [1] * len(meta.shape)
    resized = json.loads(N5.encode(meta.with_shape(tuple(ones)), "")[KEY])
    assert resized == {**json.loads(raw), "dimensions": ones}
    assert list(resized) == list(json.loads(raw))
    # From the model alone, as if it had come from nowhere.
    assert N5.decode("", N5.encode(replace(meta, source=None), "")) == meta


@pytest.mark.parametrize("case", CORPUS.cases("bad"))
def test_bad(case: dict[str, Any]) -> None:
    """row 40 to 58: documents that do not conform are refused, with all their problems at once and in their places."""
    with pytest.raises(MetadataError) as caught:
        N5.decode("a/b", {f"a/b/{KEY}": CORPUS.document(case)})
    check_refused(caught.value, case, f"a/b/{KEY}")


@pytest.mark.parametrize("case", CORPUS.cases("none"))
def test_none(case: dict[str, Any]) -> None:
    """What others have under that name makes no node."""
    assert N5.decode("", {KEY: CORPUS.document(case)}) is None


@pytest.mark.parametrize("case", CORPUS.cases("group"))
def test_group(case: dict[str, Any]) -> None:
    """Any other object is the attributes of a group; all but the version of N5."""
    raw = CORPUS.document(case)
    meta = N5.decode("", {KEY: raw})
    assert isinstance(meta, GroupMeta)
    assert meta.attributes == {name: value for name, value in json.loads(raw).items() if name != "n5"}
    assert json.loads(N5.encode(meta, "")[KEY]) == json.loads(raw)
    assert N5.decode("", N5.encode(replace(meta, source=None), "")) == meta


def test_the_corpus_is_large() -> None:
    CORPUS.check_size(good=50, bad=90, none=5, group=5)
