"""P1: no document can crash us. Cases of the corpus with parts replaced, removed and mixed."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from blizzarr.errors import BlizzarrError
from blizzarr.formats.v2 import V2
from blizzarr.model import ArrayMeta, GroupMeta
from support.corpus import Corpus, changed
from support.mutated import check_error, mutated

CORPUS = Corpus("v2")
ROUNDS = 400

ODD = json.loads(
    """[null, true, false, 0, 1, -1, 2, 10, 2147483648, 9223372036854775808, 1e400, 1.0, -0.0, NaN, "", "/", "..", "C",
    "F", "<f8", ">i2", "|O", "|V0", "<M8[ns]", "<U4", "|S5", "zlib", "blosc", "vlen-utf8", "NaN", "AQI=", "NaT",
    "\\ud800", [], {}, [1], [0, 1], [[]], [["a", "<f4"]], {"id": "zlib"}, {"id": "delta", "dtype": "<i4"},
    {"id": "vlen-utf8"}, {"id": "pickle"}, {"zarr_format": 2}, ["x", "y"]]"""
)


def corpus() -> list[dict[str, Any]]:
    """The parsed documents of each case, by the last part of their keys."""
    nodes = []
    for case in CORPUS.all():
        documents = dict(CORPUS.base[case.get("base", "array")])
        first = next(iter(documents))
        nodes.append({**documents, first: changed(documents[first], case), **case.get("documents", {})})
    return nodes


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 8))])
def test_mutations(seed: int) -> None:
    """Each is read, and survives being written, or is one of our errors; nothing else comes out."""
    rng = random.Random(seed)
    nodes = corpus()
    read = 0
    for _ in range(ROUNDS):
        node = mutated(rng.choice(nodes), nodes, ODD, rng, depth=2)
        raw = {key: json.dumps(document).encode() for key, document in node.items()}
        try:
            meta = V2.decode("", raw)
            if isinstance(meta, GroupMeta) and meta.consolidated is not None:
                assert all(meta.consolidated[path] is not None for path in meta.consolidated), raw
        except BlizzarrError as error:
            check_error(error)
            continue
        read += 1
        assert meta is not None
        # In consolidated metadata, a copy of the group's own documents that is not what they are is made right.
        kept = {key: value for key, value in V2.encode(meta, "").items() if key != ".zmetadata"}
        assert kept == {key: raw[key] for key in kept}, raw
        written = V2.encode(meta.with_attributes({**meta.attributes, "changed": 1}), "")
        assert V2.encode(V2.decode("", written), "") == written, raw
        if isinstance(meta, ArrayMeta):
            assert meta.codecs.steps(meta.dtype, meta.write_shape), raw
            assert len(meta.chunk_shape) == len(meta.shape), raw
    assert read
