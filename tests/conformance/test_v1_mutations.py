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
from blizzarr.formats import v1
from blizzarr.model import ArrayMeta

HERE = Path(__file__).parent / "v1"
ROUNDS = 400

ODD = json.loads(
    """[null, true, false, 0, 1, -1, 2, 10, 2147483648, 9223372036854775808, 1e400, 1.0, -0.0, NaN, "", "/", "..", "C",
    "F", "<f8", ">i2", "|O", "|V0", "<M8[ns]", "<U4", "|S5", "zlib", "blosc", "none", "lzma", "NaN", "AQI=", "NaT",
    "2001-02-03", "\\ud800", [], {}, [1], [0, 1], [[]], [["a", "<f4"]], [["a", "|S2"], ["b", ">i4"]],
    {"cname": "lz4"}, {"preset": null}, {"filters": []}, {"id": "pickle"}, {"zarr_format": 1}]"""
)


def corpus() -> list[dict[str, Any]]:
    """The parsed documents of each case."""
    base = json.loads((HERE / "base.json").read_text())
    nodes = []
    for file in sorted(HERE.glob("*/*.json")):
        for case in json.loads(file.read_text()):
            node = copy.deepcopy(base)
            node["meta"].update(case.get("set", {}))
            node["attrs"] = case.get("attrs") or {}
            nodes.append(node)
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
        *way, name = rng.choice([place for place in places(node) if len(place) > 1])
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
                meta = v1.decode("", raw)
        except BlizzarrError as error:
            again = pickle.loads(pickle.dumps(error))
            assert str(again) == str(error) != ""  # noqa: PT017
            continue
        if meta is None:
            assert repr(json.loads(raw["meta"]).get("zarr_format")) != "1", raw
            continue
        read += 1
        assert v1.encode(meta, "") == raw, raw
        changed = meta.with_attributes({**meta.attributes, "changed": 1})
        written = v1.encode(changed, "")
        assert written["meta"] == raw["meta"], raw
        assert v1.encode(v1.decode("", written), "") == written, raw
        grown = meta.with_shape((*(length + 1 for length in meta.shape[:1]), *meta.shape[1:]))
        found = v1.decode("", v1.encode(grown, ""))
        assert isinstance(found, ArrayMeta), raw
        assert found == grown, raw
        assert meta.codecs.steps(meta.dtype, meta.write_shape), raw
        assert len(meta.chunk_shape) == len(meta.shape), raw
    assert read
