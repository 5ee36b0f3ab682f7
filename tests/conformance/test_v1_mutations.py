"""P1: no document can crash us. Cases of the corpus with parts replaced, removed and mixed."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from blizzarr.errors import BlizzarrError
from blizzarr.formats.v1 import V1
from blizzarr.model import ArrayMeta
from support.corpus import Corpus, changed
from support.mutated import check_error, mutated

CORPUS = Corpus("v1")
ROUNDS = 400

ODD = json.loads(
    """[null, true, false, 0, 1, -1, 2, 10, 2147483648, 9223372036854775808, 1e400, 1.0, -0.0, NaN, "", "/", "..", "C",
    "F", "<f8", ">i2", "|O", "|V0", "<M8[ns]", "<U4", "|S5", "zlib", "blosc", "none", "lzma", "NaN", "AQI=", "NaT",
    "2001-02-03", "\\ud800", [], {}, [1], [0, 1], [[]], [["a", "<f4"]], [["a", "|S2"], ["b", ">i4"]],
    {"cname": "lz4"}, {"preset": null}, {"filters": []}, {"id": "pickle"}, {"zarr_format": 1}]"""
)


def corpus() -> list[dict[str, Any]]:
    """The parsed documents of each case."""
    meta = CORPUS.base["meta"]
    return [{"meta": changed(meta, case), "attrs": case.get("attrs") or {}} for case in CORPUS.all()]


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
            meta = V1.decode("", raw)
        except BlizzarrError as error:
            check_error(error)
            continue
        if meta is None:
            assert repr(json.loads(raw["meta"]).get("zarr_format")) != "1", raw
            continue
        read += 1
        assert V1.encode(meta, "") == raw, raw
        changed = meta.with_attributes({**meta.attributes, "changed": 1})
        written = V1.encode(changed, "")
        assert written["meta"] == raw["meta"], raw
        assert V1.encode(V1.decode("", written), "") == written, raw
        grown = meta.with_shape((*(length + 1 for length in meta.shape[:1]), *meta.shape[1:]))
        found = V1.decode("", V1.encode(grown, ""))
        assert isinstance(found, ArrayMeta), raw
        assert found == grown, raw
        assert meta.codecs.steps(meta.dtype, meta.write_shape), raw
        assert len(meta.chunk_shape) == len(meta.shape), raw
    assert read
