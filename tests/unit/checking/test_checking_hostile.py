"""Whatever is in a store, a check gives a report and changes nothing, and what a repair has done is not found again."""

from __future__ import annotations

import json
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import NodeNotFoundError

FORMATS = ("v3", "v2", "v3_draft", "v3_draft_zarr_python")
VALUES = [None, True, -1, 0, 1, 2**63, 2**70, 1.5, "", "x", [], {}, [[]], {"a": 1}, "NaN", ["c", 0]]
MEMBERS = ["zarr_format", "consolidated_metadata", "storage_transformers", "metadata", "nonsense"]
PLACES = ["a/", "g/b/", "", "s/", "g/", "c/"]
NAMES = """
    c 0 c/0 0.0 c/00 9/9 zarr.json .zarray .zattrs meta attrs data/root/a/c0/0 x/y/z c/0/0/0 blizzarr-upgrade.json
    99999999999999999999999
""".split()  # noqa: SIM905 (it is read more easily)


@lru_cache
def hierarchy(form: str) -> dict[str, bytes]:
    memory: dict[str, Any] = {}
    root = blizzarr.create_group(memory, zarr_format=form)
    root.create_array("a", data=np.arange(1, 10).reshape(3, 3), chunks=(2, 2))
    root.create_array("g/b", data=np.arange(1, 10), chunks=3, attributes={"x": 1})
    if form == "v3":
        root.create_array("s", data=np.arange(1, 17).reshape(4, 4), chunks=(1, 1), shards=(2, 2))
        root.create_array("t", data=np.array(["a", "b"], object), chunks=1)
    if form != "v3_draft":
        blizzarr.consolidate_metadata(memory)
    return memory


def other(value: Any, random: Random) -> Any:
    """The same JSON with something else somewhere in it."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        name = random.choice(list(value))
        if random.random() < 0.15:
            return {key: kept for key, kept in value.items() if key != name}
        if random.random() < 0.1:
            return {**value, random.choice(MEMBERS): random.choice(VALUES)}
        return {**value, name: other(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.7:
        place = random.randrange(len(value))
        return [*value[:place], other(value[place], random), *value[place + 1 :]]
    return random.choice(VALUES)


def harm(memory: dict[str, bytes], random: Random) -> None:
    key = random.choice(list(memory))
    what = random.randrange(6)
    if what < 3 and (key.endswith("json") or "/.z" in key):
        try:
            memory[key] = json.dumps(other(json.loads(memory[key]), random)).encode()
        except ValueError:
            memory[key] = b"{"
    elif what == 3 and len(memory) > 1:
        del memory[key]
    elif what == 4:
        memory[random.choice(PLACES) + random.choice(NAMES)] = random.choice([b"{}", b"", random.randbytes(40)])
    elif memory[key]:
        value = bytearray(memory[key])
        value[random.randrange(len(value))] ^= 1 << random.randrange(8)
        memory[key] = bytes(value)


@pytest.mark.parametrize("seed", range(10))
def test_any_store_can_be_checked_and_repaired(seed: int) -> None:
    random = Random(seed)
    for _ in range(40):
        memory = dict(hierarchy(random.choice(FORMATS)))
        for _ in range(random.randint(1, 4)):
            harm(memory, random)
        before = dict(memory)
        try:
            report = blizzarr.check(memory, fast=random.random() < 0.3)
        except NodeNotFoundError:
            continue
        assert memory == before
        assert json.dumps(report.to_dict())
        repaired = blizzarr.check(memory, repair=True, quarantine={}, quarantine_damaged=random.random() < 0.5)
        done = {(repair.path, repair.key) for repair in repaired.repairs if repair.done}
        left = [one for one in blizzarr.check(memory).findings if one.kind != "shared"]
        assert not [str(one) for one in left if (one.path, one.key) in done]
