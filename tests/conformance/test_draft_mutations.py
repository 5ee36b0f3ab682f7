"""P1 for the draft: no document can crash us. Cases of the corpus with parts replaced, removed and mixed."""

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
from blizzarr.formats.draft import DOCUMENT, ZARR_PYTHON, Draft, draft_named
from blizzarr.formats.draft.entry import read
from blizzarr.model import ArrayMeta

HERE = Path(__file__).parent / "draft"
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
    base = json.loads((HERE / "base.json").read_text())
    made = []
    for file in sorted(HERE.glob("*/*.json")):
        for case in [] if file.parent.name == "hierarchies" else json.loads(file.read_text()):
            name = case.get("base", "array")
            if name.startswith("zarr_python") == (spelled == ZARR_PYTHON.name) and not case.keys() & {"text", "hex"}:
                made.append((name.rpartition(" ")[2], {**base[name], **case.get("set", {})}))
    return made


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        yield (*path, name)
        yield from places(item, (*path, name))


def look(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def mutated(document: dict[str, Any], other: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 2, 3])):
        found = list(places(document))
        if not found:
            break
        *way, name = rng.choice(found)
        holder = look(document, tuple(way))
        new = copy.deepcopy(rng.choice([rng.choice(ODD), look(other, rng.choice(list(places(other))))]))
        change = rng.randrange(4)
        if change == 0:
            del holder[name]
        elif change == 1 and isinstance(holder, list):
            holder.insert(name, new)
        else:
            holder[name] = new
    return document


def decoded(form: Draft, kind: str, raw: bytes) -> Any:
    if kind == "entry":
        entry = read(raw)
        return None if entry is None else Draft(entry.spelling, entry.suffix).decode("", {"zarr.json": raw})
    key = form.node_keys("a")[kind == "group"]
    return form.decode("a", {key: raw, **form.entry_documents()})


@pytest.mark.parametrize("form", [DOCUMENT, ZARR_PYTHON], ids=lambda form: form.name)
@pytest.mark.parametrize("seed", range(4))
def test_mutations(form: Draft, seed: int) -> None:
    """Each is read, and survives being written, or is one of our errors; nothing else comes out."""
    rng = random.Random(seed)
    documents = corpus(form.name)
    survived = 0
    for _ in range(ROUNDS):
        kind, document = rng.choice(documents)
        raw = json.dumps(mutated(document, rng.choice(documents)[1], rng)).encode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                meta = decoded(form, kind, raw)
            except BlizzarrError as error:
                again = pickle.loads(pickle.dumps(error))
                assert str(again) == str(error) != ""  # noqa: PT017
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
