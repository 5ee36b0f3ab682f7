"""P1: no document can crash us. Cases of the corpus with parts replaced, removed and mixed.

Bytes changed at random hardly get past the parser; these keep the structure and change what stands in it.
"""

from __future__ import annotations

import copy
import json
import pickle
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blizzarr.errors import BlizzarrError
from blizzarr.formats import v3
from blizzarr.model import ArrayMeta

HERE = Path(__file__).parent / "v3"
ROUNDS = 500

ODD = json.loads(
    """[null, true, false, 0, 1, -1, 2, 10, 2147483648, 9223372036854775808, 1e400, 1.0, -0.0, NaN, "", "/", "..", "C",
    "F", "bytes", "gzip", "transpose", "sharding_indexed", "endian", "big", "NaN", "0x7fc00000", "0b1", "AQI=", "NaT",
    "r8", "r99999999999", "int4", "bfloat16", "complex64", "numpy.datetime64", "\\ud800", "regular", "v2", "start", [],
    {}, [1], [0, 1], [[]], {"name": "bytes"}, {"must_understand": false},
    {"name": "raw_bytes", "configuration": {"length_bytes": 2}}]"""
)


def corpus() -> list[dict[str, Any]]:
    base = json.loads((HERE / "base.json").read_text())
    documents = []
    for file in sorted(HERE.glob("*/*.json")):
        for case in json.loads(file.read_text()):
            if "text" not in case and "hex" not in case:
                kept = dict(base[case.get("base", "array")])
                documents.append({**kept, **case.get("set", {})})
    return documents


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        yield (*path, name)
        yield from places(item, (*path, name))


def look(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def mutated(documents: list[dict[str, Any]], rng: random.Random) -> dict[str, Any]:
    document = copy.deepcopy(rng.choice(documents))
    for _ in range(rng.choice([1, 1, 2, 3])):
        found = list(places(document))
        if not found:
            break
        *way, name = rng.choice(found)
        holder = look(document, tuple(way))
        other = rng.choice(documents)
        new = copy.deepcopy(rng.choice([rng.choice(ODD), look(other, rng.choice(list(places(other))))]))
        change = rng.randrange(4)
        if change == 0:
            del holder[name]
        elif change == 1 and isinstance(holder, list):
            holder.insert(name, new)
        else:
            holder[name] = new
    return document


@pytest.mark.parametrize("seed", range(8))
def test_mutations(seed: int) -> None:
    """Each is read, and survives being written, or is one of our errors; nothing else comes out."""
    rng = random.Random(seed)
    documents = corpus()
    read = 0
    for _ in range(ROUNDS):
        raw = json.dumps(mutated(documents, rng)).encode()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                meta = v3.decode("", {"zarr.json": raw})
        except BlizzarrError as error:
            again = pickle.loads(pickle.dumps(error))
            assert str(again) == str(error) != ""  # noqa: PT017
            continue
        read += 1
        written = v3.encode(meta, "")
        assert v3.encode(v3.decode("", written), "") == written, raw
        if isinstance(meta, ArrayMeta):
            assert meta.codecs.steps(meta.dtype, meta.write_shape), raw
            assert len(meta.chunk_shape) == len(meta.shape), raw
    assert read
