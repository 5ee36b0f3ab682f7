"""Zarr v1 documents as data: what conforming ones mean, and everything that is wrong with the others.

Each file below ``v1/good``, ``v1/bad`` and ``v1/none`` is a list of cases. A case is the documents of ``v1/base.json``:
`drop` and `set` change members of ``meta``, `attrs` replaces the other (null leaves it out), `texts` and `hex` have raw
ones. `ids` are lines of the requirements or rows of the fault catalogue. `fill` is the fill value as zarr-python 1.1.0
had it in memory, little-endian.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from blizzarr.errors import BlizzarrError
from blizzarr.formats.v1 import V1
from blizzarr.model import ArrayMeta
from blizzarr.problems import Notice
from support.corpus import Corpus, as_json, changed, check_refused, fill_bytes, raw_documents

CORPUS = Corpus("v1")


def documents(case: dict[str, Any], prefix: str = "") -> dict[str, bytes]:
    base = CORPUS.base
    made = {**base, "meta": changed(base["meta"], case), "attrs": case.get("attrs", base["attrs"])}
    return raw_documents({name: document for name, document in made.items() if document is not None}, case, prefix)


LOOK = {
    "dtype": lambda meta: meta.dtype.name,
    "numpy": lambda meta: str(meta.dtype.numpy),
    "fill": fill_bytes,
    "codecs": lambda meta: [as_json(codec.to_json()) for codec in meta.codecs.all],
    "endian": lambda meta: meta.codecs.serializer.endian,
    "key": lambda meta: meta.chunk_keys.key((1, 2, 3)[: len(meta.shape)]),
    "resized": lambda meta: json.loads(V1.encode(meta.with_shape((3, *meta.shape[1:])), "")["meta"]),
}


@pytest.mark.parametrize("case", CORPUS.cases("good"))
def test_good(case: dict[str, Any]) -> None:
    """Conforming documents are read as what they mean, and are stored again as they were, byte by byte."""
    raw = documents(case)
    notices: list[Notice] = []
    meta = V1.decode("", raw, notices)
    assert not notices
    assert isinstance(meta, ArrayMeta)
    for name, expected in case["expect"].items():
        found = LOOK[name](meta) if name in LOOK else as_json(getattr(meta, name))
        assert found == expected, name
    assert V1.encode(meta, "") == {"attrs": b"{}", **raw}
    # From the model alone, as if it had come from nowhere.
    assert V1.decode("", V1.encode(replace(meta, source=None), "")) == meta


@pytest.mark.parametrize("case", CORPUS.cases("bad"))
def test_bad(case: dict[str, Any]) -> None:
    """Documents that do not conform are refused, with all their problems at once and in their places."""
    with pytest.raises(BlizzarrError) as caught:
        V1.decode("a/b", documents(case, "a/b/"))
    check_refused(caught.value, case, f"a/b/{case.get('key', 'meta')}")


@pytest.mark.parametrize("case", CORPUS.cases("none"))
def test_none(case: dict[str, Any]) -> None:
    """Documents of anybody else that have the same key make no node."""
    assert V1.decode("a/b", documents(case, "a/b/")) is None


def test_the_corpus_is_large() -> None:
    """At least 100 conforming and 150 other documents, each with a name of its own."""
    CORPUS.check_size(good=100, bad=150, none=15)
