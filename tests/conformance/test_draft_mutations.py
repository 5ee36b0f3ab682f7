"""P1 for the draft: no document can crash us. Cases of the corpus with parts replaced, removed and mixed."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from blizzarr.errors import BlizzarrError
from blizzarr.formats.draft import DOCUMENT, ZARR_PYTHON, Draft, draft_named
from blizzarr.formats.draft.entry import read
from blizzarr.model import ArrayMeta
from support.corpus import Corpus, changed
from support.mutated import check_error, mutated

CORPUS = Corpus("draft")
ROUNDS = 1000

ODD = json.loads(
    """[null, true, false, 0, 1, -1, 2, 2147483648, 9223372036854775808, 1e400, 1.0, NaN, "", "/", "..", "C", "F", "|O",
    "r8", "r99999999999", "int64", "<f8", ">M8[ns]", "<U2", "|S0", "|V5", "bool", "+Infinity", "0x7fc00000", "0b1",
    "AQI=", "NaT", "\\ud800", "regular", ".", [], {}, [1], [0, 1], [[]], [["a", "<i4"]], [["a", [["a", "<f8", [2]]]]],
    {"extension": "https://example.org/x", "must_understand": false}, {"extension": "TODO: object array protocol URL"},
    "https://purl.org/zarr/spec/codecs/endian/1.0", {"type": "https://purl.org/zarr/spec/codecs/zlib/1.0"},
    {"extension": "https://purl.org/zarr/spec/extensions/data-types/struct/1.0", "type": [["a", "<i4"]]},
    {"extension": "https://example.org/x", "type": "x", "fallback": "r32"},
    {"codec": "https://purl.org/zarr/spec/codec/lzma/1.0", "configuration": {}}, {"filters": [{"id": "vlen-utf8"}]},
    {"filters": [{"id": "delta", "dtype": "<i4"}]}, {"chunks_per_shard": [2]}, "indexed"]"""
)


def corpus(spelled: str) -> list[tuple[str, dict[str, Any]]]:
    """The documents in one spelling, each with what kind of document it is."""
    made = []
    for file in sorted(CORPUS.folder.glob("*/*.json")):
        for case in [] if file.parent.name == "hierarchies" else json.loads(file.read_text()):
            name = case.get("base", "array")
            if name.startswith("zarr_python") == (spelled == ZARR_PYTHON.name) and not case.keys() & {"text", "hex"}:
                made.append((name.rpartition(" ")[2], changed(CORPUS.base[name], case)))
    return made


def decoded(form: Draft, kind: str, raw: bytes) -> Any:
    if kind == "entry":
        entry = read(raw)
        return None if entry is None else Draft(entry.spelling, entry.suffix).decode("", {"zarr.json": raw})
    key = form.node_keys("a")[kind == "group"]
    return form.decode("a", {key: raw, **form.entry_documents()})


@pytest.mark.parametrize("form", [DOCUMENT, ZARR_PYTHON], ids=lambda form: form.name)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 4))])
def test_mutations(form: Draft, seed: int) -> None:
    """Each is read, and survives being written, or is one of our errors; nothing else comes out."""
    rng = random.Random(seed)
    documents = corpus(form.name)
    survived = 0
    for _ in range(ROUNDS):
        kind, document = rng.choice(documents)
        raw = json.dumps(mutated(document, [other for _, other in documents], ODD, rng)).encode()
        try:
            meta = decoded(form, kind, raw)
        except BlizzarrError as error:
            check_error(error)
            continue
        if meta is None:
            assert kind == "entry"
            continue
        survived += 1
        written = draft_named(meta.format).encode(meta, "a")  # type: ignore[union-attr]
        if kind != "entry":
            assert form.encode(form.decode("a", written | form.entry_documents()), "a") == written, raw  # type: ignore[arg-type]
        if isinstance(meta, ArrayMeta):
            assert meta.codecs.steps(meta.dtype, meta.write_shape), raw
            assert len(meta.chunk_shape) == len(meta.shape), raw
    assert survived
