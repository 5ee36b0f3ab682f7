"""Documents of the December 2022 draft of v3 as data: what conforming ones mean, and everything wrong with the others.

Each file below ``draft/good`` and ``draft/bad`` is a list of cases. A case is a document of ``draft/base.json``, which
says by its name what it is and in which spelling, with some members dropped or set, or a raw text. The other documents
of its hierarchy are those of the base. `ids` are lines of the requirements.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from blizzarr.errors import BlizzarrError, MetadataError
from blizzarr.formats.draft import DOCUMENT, ZARR_PYTHON, Draft
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.problems import Notice
from support.corpus import Corpus, as_json, check_refused, fill_bytes

CORPUS = Corpus("draft")


def form_of(case: dict[str, Any]) -> Draft:
    spelled = ZARR_PYTHON if case.get("base", "").startswith("zarr_python") else DOCUMENT
    return Draft(spelled.spelling, case.get("suffix", ".json"))


def documents(case: dict[str, Any]) -> tuple[str, str, dict[str, bytes]]:
    """The path of the node, the key of the document in question, and all documents that there are."""
    form = form_of(case)
    kind = case.get("base", "array").rpartition(" ")[2]
    if kind == "entry":
        return "", "zarr.json", {"zarr.json": CORPUS.document(case)}
    array_key, group_key = form.node_keys("a/b")
    key = array_key if kind == "array" else group_key
    return "a/b", key, {key: CORPUS.document(case), **form.entry_documents()}


LOOK = {
    "kind": lambda meta: type(meta).__name__,
    "dtype": lambda meta: meta.dtype.name,
    "numpy": lambda meta: str(meta.dtype.numpy),
    "fill": fill_bytes,
    "steps": lambda meta: as_json(meta.codecs.steps(meta.dtype, meta.write_shape)),
    "key": lambda meta: meta.chunk_keys.key((1, 2)[: len(meta.shape)]),
    "chunks": lambda meta: as_json(meta.chunk_shape),
    "shards": lambda meta: as_json(meta.shard_shape),
    "names": lambda meta: as_json(meta.dimension_names),
    "transformers": lambda meta: [transformer.to_draft() for transformer in meta.storage_transformers],
}


@pytest.mark.parametrize("case", CORPUS.cases("good"))
def test_good(case: dict[str, Any]) -> None:
    """A conforming document is read as what it means, and survives being written again."""
    form = form_of(case)
    path, key, stored = documents(case)
    notices: list[Notice] = []
    meta = form.decode(path, stored, notices)
    assert [notice.text.split(":")[0] for notice in notices] == case.get("warns", [])
    assert isinstance(meta, ArrayMeta | GroupMeta)
    assert meta.format == form.name
    for name, expected in case.get("expect", {}).items():
        found = LOOK[name](meta) if name in LOOK else as_json(getattr(meta, name))
        assert found == expected, name
    if key == "zarr.json":
        return
    encoded = form.encode(meta, path)
    again = form.decode(path, encoded | form.entry_documents())
    assert as_json(json.loads(encoded[key])) == case.get("written", json.loads(CORPUS.document(case)))
    assert again == meta


@pytest.mark.parametrize("case", [case for case in CORPUS.cases("good") if "key" in case.values[0].get("expect", {})])
def test_without_its_document(case: dict[str, Any]) -> None:
    """What is written of an array that came from elsewhere means the same in each spelling that can express it."""
    path, _, stored = documents(case)
    form = form_of(case)
    meta = form.decode(path, stored)
    assert isinstance(meta, ArrayMeta)
    bare = ArrayMeta(
        meta.shape,
        meta.dtype,
        meta.chunk_grid,
        meta.chunk_keys,
        meta.fill_value,
        meta.codecs,
        meta.attributes,
        meta.dimension_names,
        meta.storage_transformers,
        format=form.name,
        fill_undefined=meta.fill_undefined and form.has_null_fill,
    )
    if "unspeakable" in case:
        with pytest.raises(MetadataError) as caught:
            form.encode(bare, path)
        assert [list(problem) for problem in caught.value.problems] == case["unspeakable"]
        return
    assert form.decode(path, form.encode(bare, path) | form.entry_documents()) == bare


@pytest.mark.parametrize("case", CORPUS.cases("bad"))
def test_bad(case: dict[str, Any]) -> None:
    """A document that does not conform is refused, with all its problems at once and in their places."""
    path, key, stored = documents(case)
    with pytest.raises(BlizzarrError) as caught:
        form_of(case).decode(path, stored)
    check_refused(caught.value, case, key)


def test_the_corpus_is_large() -> None:
    """At least 80 conforming and 150 other documents, each with a name of its own."""
    CORPUS.check_size(good=80, bad=150)
