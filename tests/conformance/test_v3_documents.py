"""Zarr v3 documents as data: what conforming ones mean, and everything that is wrong with the others.

Each file below ``v3/good`` and ``v3/bad`` is a list of cases. A case is a document of ``v3/base.json`` with some
members dropped or set, or a raw text; `ids` are lines of the requirements or rows of the fault catalogue.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from blizzarr.dtypes.byte_order import in_order
from blizzarr.errors import BlizzarrError
from blizzarr.formats.v3 import V3
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.problems import Notice
from support.corpus import Corpus, as_json, check_refused

CORPUS = Corpus("v3")


LOOK = {
    "kind": lambda meta: type(meta).__name__,
    "dtype": lambda meta: meta.dtype.name,
    "fill": lambda meta: in_order(meta.dtype.fill_bytes(meta.fill_value), meta.dtype.swap, "little").hex(),
    "steps": lambda meta: as_json(meta.codecs.steps(meta.dtype, meta.write_shape)),
    "said_type": lambda meta: LOOK["written"](meta)["data_type"],
    "said_fill": lambda meta: meta.dtype.fill_to_json(meta.fill_value),
    "grid": lambda meta: LOOK["written"](meta)["chunk_grid"],
    "lengths": lambda meta: as_json(meta.chunk_grid.lengths),
    "cells": lambda meta: list(meta.chunk_grid.shape(meta.shape)),
    "key": lambda meta: meta.chunk_keys.key((1, 2) if meta.shape else ()),
    "members": lambda meta: None if meta.consolidated is None else list(meta.consolidated),
    "written": lambda meta: json.loads(V3.encode(meta, "")["zarr.json"]),
}


@pytest.mark.parametrize("case", CORPUS.cases("good"))
def test_good(case: dict[str, Any]) -> None:
    """A conforming document is read as what it means, and survives being written again."""
    notices: list[Notice] = []
    meta = V3.decode("", {"zarr.json": CORPUS.document(case)}, notices)
    assert not notices
    assert isinstance(meta, ArrayMeta | GroupMeta)
    for name, expected in case["expect"].items():
        found = LOOK[name](meta) if name in LOOK else as_json(getattr(meta, name))
        assert found == expected, name
    again = V3.decode("", V3.encode(meta, ""))
    if isinstance(meta, ArrayMeta):
        assert again == meta


@pytest.mark.parametrize("case", CORPUS.cases("bad"))
def test_bad(case: dict[str, Any]) -> None:
    """A document that does not conform is refused, with all its problems at once and in their places."""
    with pytest.raises(BlizzarrError) as caught:
        V3.decode("a/b", {"a/b/zarr.json": CORPUS.document(case)})
    check_refused(caught.value, case, "a/b/zarr.json")


def test_the_corpus_is_large() -> None:
    """At least 60 conforming and 150 other documents, each with a name of its own."""
    CORPUS.check_size(good=60, bad=150)
