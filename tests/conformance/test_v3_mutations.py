"""P1: no document can crash us. Cases of the corpus with parts replaced, removed and mixed."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from blizzarr.errors import BlizzarrError
from blizzarr.formats.v3 import V3
from blizzarr.model import ArrayMeta
from support.corpus import Corpus
from support.mutated import check_error, mutated

CORPUS = Corpus("v3")
ROUNDS = 500

ODD = json.loads(
    """[null, true, false, 0, 1, -1, 2, 10, 2147483648, 9223372036854775808, 1e400, 1.0, -0.0, NaN, "", "/", "..", "C",
    "F", "bytes", "gzip", "transpose", "sharding_indexed", "endian", "big", "NaN", "0x7fc00000", "0b1", "AQI=", "NaT",
    "r8", "r99999999999", "int4", "bfloat16", "complex64", "numpy.datetime64", "\\ud800", "regular", "v2", "start", [],
    {}, [1], [0, 1], [[]], {"name": "bytes"}, {"must_understand": false},
    {"name": "raw_bytes", "configuration": {"length_bytes": 2}}]"""
)


def corpus() -> list[dict[str, Any]]:
    return [json.loads(CORPUS.document(case)) for case in CORPUS.all() if not case.keys() & {"text", "hex"}]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 8))])
def test_mutations(seed: int) -> None:
    """Each is read, and survives being written, or is one of our errors; nothing else comes out."""
    rng = random.Random(seed)
    documents = corpus()
    read = 0
    for _ in range(ROUNDS):
        raw = json.dumps(mutated(rng.choice(documents), documents, ODD, rng)).encode()
        try:
            meta = V3.decode("", {"zarr.json": raw})
        except BlizzarrError as error:
            check_error(error)
            continue
        read += 1
        written = V3.encode(meta, "")
        assert V3.encode(V3.decode("", written), "") == written, raw
        if isinstance(meta, ArrayMeta):
            assert meta.codecs.steps(meta.dtype, meta.chunk_grid.inside(meta.shape)), raw
            assert len(meta.chunk_grid.shape(meta.shape)) == len(meta.shape), raw
    assert read
