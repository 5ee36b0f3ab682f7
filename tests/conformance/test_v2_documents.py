"""Zarr v2 documents as data: what conforming ones mean, and everything that is wrong with the others.

Each file below ``v2/good`` and ``v2/bad`` is a list of cases. A case is the documents of a node of ``v2/base.json``, of
which the first has some members dropped or set, with others added: `documents` has parsed ones, `texts` and `hex` raw
ones. `ids` are lines of the requirements or rows of the fault catalogue.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from blizzarr.errors import BlizzarrError
from blizzarr.formats.v2 import V2
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.problems import Notice
from support.corpus import Corpus, as_json, changed, check_refused, raw_documents

CORPUS = Corpus("v2")


def documents(case: dict[str, Any], prefix: str = "") -> dict[str, bytes]:
    made = dict(CORPUS.base[case.get("base", "array")])
    first = next(iter(made))
    made[first] = changed(made[first], case)
    return raw_documents({**made, **case.get("documents", {})}, case, prefix)


LOOK = {
    "kind": lambda meta: type(meta).__name__,
    "dtype": lambda meta: meta.dtype.name,
    "numpy": lambda meta: str(meta.dtype.numpy),
    "fill": lambda meta: meta.dtype.fill_bytes(meta.fill_value).hex(),
    "codecs": lambda meta: [codec.name for codec in meta.codecs.all],
    "endian": lambda meta: getattr(meta.codecs.serializer, "endian", None),
    "key": lambda meta: meta.chunk_keys.key((1, 2) if meta.shape else ()),
    "members": lambda meta: None if meta.consolidated is None else list(meta.consolidated),
    "written": lambda meta: {key: json.loads(raw) for key, raw in V2.encode(meta, "").items()},
    "resized": lambda meta: json.loads(V2.encode(meta.with_shape((3, *meta.shape[1:])), "")[".zarray"]),
}


@pytest.mark.parametrize("case", CORPUS.cases("good"))
def test_good(case: dict[str, Any]) -> None:
    """Conforming documents are read as what they mean, and are stored again as they were, byte by byte."""
    raw = documents(case)
    notices: list[Notice] = []
    meta = V2.decode("", raw, notices)
    assert not notices
    assert isinstance(meta, ArrayMeta | GroupMeta)
    for name, expected in case["expect"].items():
        found = LOOK[name](meta) if name in LOOK else as_json(getattr(meta, name))
        assert found == expected, name
    assert V2.encode(meta, "") == raw
    # From the model alone, as if it had come from nowhere.
    anew = replace(meta, source=None)
    if isinstance(anew, GroupMeta) and anew.consolidated is not None:
        anew = anew.with_consolidated(dict(anew.consolidated))
    assert V2.decode("", V2.encode(anew, "")) == meta


@pytest.mark.parametrize("case", CORPUS.cases("bad"))
def test_bad(case: dict[str, Any]) -> None:
    """Documents that do not conform are refused, with all their problems at once and in their places."""
    with pytest.raises(BlizzarrError) as caught:
        look_everywhere(V2.decode("a/b", documents(case, "a/b/")))
    check_refused(caught.value, case, f"a/b/{case.get('key', '.zarray')}")


def look_everywhere(meta: ArrayMeta | GroupMeta | None) -> None:
    """Asks for each node in consolidated metadata, which are not looked at before."""
    if isinstance(meta, GroupMeta) and meta.consolidated is not None:
        for path in meta.consolidated:
            assert meta.consolidated[path] is not None


def test_the_corpus_is_large() -> None:
    """At least 100 conforming and 150 other documents, each with a name of its own."""
    CORPUS.check_size(good=100, bad=150)
