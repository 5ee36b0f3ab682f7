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
from blizzarr.formats import v2
from blizzarr.model import ArrayMeta, GroupMeta

HERE = Path(__file__).parent / "v2"
ROUNDS = 400

ODD = json.loads(
    """[null, true, false, 0, 1, -1, 2, 10, 2147483648, 9223372036854775808, 1e400, 1.0, -0.0, NaN, "", "/", "..", "C",
    "F", "<f8", ">i2", "|O", "|V0", "<M8[ns]", "<U4", "|S5", "zlib", "blosc", "vlen-utf8", "NaN", "AQI=", "NaT",
    "\\ud800", [], {}, [1], [0, 1], [[]], [["a", "<f4"]], {"id": "zlib"}, {"id": "delta", "dtype": "<i4"},
    {"id": "vlen-utf8"}, {"id": "pickle"}, {"zarr_format": 2}, ["x", "y"]]"""
)


def corpus() -> list[dict[str, Any]]:
    """The parsed documents of each case, by the last part of their keys."""
    base = json.loads((HERE / "base.json").read_text())
    nodes = []
    for file in sorted(HERE.glob("*/*.json")):
        for case in json.loads(file.read_text()):
            documents = copy.deepcopy(base[case.get("base", "array")])
            next(iter(documents.values())).update(case.get("set", {}))
            nodes.append({**documents, **case.get("documents", {})})
    return nodes


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


def mutated(nodes: list[dict[str, Any]], rng: random.Random) -> dict[str, Any]:
    node = copy.deepcopy(rng.choice(nodes))
    for _ in range(rng.choice([1, 1, 2, 3])):
        found = [place for place in places(node) if len(place) > 1]
        if not found:
            break
        *way, name = rng.choice(found)
        holder = look(node, tuple(way))
        other = rng.choice(nodes)
        new = copy.deepcopy(rng.choice([rng.choice(ODD), look(other, rng.choice(list(places(other))))]))
        change = rng.randrange(4)
        if change == 0:
            del holder[name]
        elif change == 1 and isinstance(holder, list):
            holder.insert(name, new)
        else:
            holder[name] = new
    return node


@pytest.mark.parametrize("seed", range(8))
def test_mutations(seed: int) -> None:
    """Each is read, and survives being written, or is one of our errors; nothing else comes out."""
    rng = random.Random(seed)
    nodes = corpus()
    read = 0
    for _ in range(ROUNDS):
        raw = {key: json.dumps(document).encode() for key, document in mutated(nodes, rng).items()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                meta = v2.decode("", raw)
                if isinstance(meta, GroupMeta) and meta.consolidated is not None:
                    assert all(meta.consolidated[path] is not None for path in meta.consolidated), raw
        except BlizzarrError as error:
            again = pickle.loads(pickle.dumps(error))
            assert str(again) == str(error) != ""  # noqa: PT017
            continue
        read += 1
        assert meta is not None
        # In consolidated metadata, a copy of the group's own documents that is not what they are is made right.
        kept = {key: value for key, value in v2.encode(meta, "").items() if key != ".zmetadata"}
        assert kept == {key: raw[key] for key in kept}, raw
        written = v2.encode(meta.with_attributes({**meta.attributes, "changed": 1}), "")
        assert v2.encode(v2.decode("", written), "") == written, raw
        if isinstance(meta, ArrayMeta):
            assert meta.codecs.steps(meta.dtype, meta.write_shape), raw
            assert len(meta.chunk_shape) == len(meta.shape), raw
    assert read
