"""Arrays that are there held against constraints: random pairs are accepted by both libraries, or refused as one."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
import tensorstore as ts

from blizzarr import formats
from blizzarr.model import ArrayMeta
from blizzarr.spec.drivers import DRIVERS
from blizzarr.spec.schema import Schema
from property.test_tensorstore_creation import gist, random_constraints, random_v2_constraints
from unit.spec.oracle import outcome

CASES = 1000
KEYS = {"zarr3": ("zarr.json", "v3"), "zarr": (".zarray", "v2")}
MAKE = {"zarr3": random_constraints, "zarr": random_v2_constraints}


def stored(driver: str, metadata: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The document that TensorStore stores."""
    spec = {"driver": driver, "kvstore": {"driver": "memory"}, "metadata": metadata, "schema": schema}
    return json.loads(ts.open(spec, create=True, context=ts.Context()).result().kvstore[KEYS[driver][0]])


def theirs(driver: str, document: dict[str, Any], metadata: dict[str, Any], schema: dict[str, Any]) -> Any:
    """Open it with constraints."""
    context = ts.Context()
    store = ts.KvStore.open("memory://", context=context).result()
    store[KEYS[driver][0]] = json.dumps(document)
    spec = {"driver": driver, "kvstore": "memory://", "metadata": metadata, "schema": schema}
    return ts.open(spec, context=context).result() and None


def ours(driver: str, document: dict[str, Any], metadata: dict[str, Any], schema: dict[str, Any]) -> None:
    """Hold it against constraints."""
    key, name = KEYS[driver]
    meta = formats.format_named(name).decode("", {key: json.dumps(document).encode()})
    assert isinstance(meta, ArrayMeta)
    wanted = Schema(schema)
    stored: Any = DRIVERS[driver]
    constraints = stored.constraints.from_json(metadata)
    constraints.check_dtype(wanted)
    constraints.constrain(wanted, {})
    # As a spec does, which says its domain before anything is opened.
    constraints.domain(wanted, {})
    constraints.check(meta, wanted, {})


def part_of(random: Random, whole: dict[str, Any], often: float) -> dict[str, Any]:
    """Some members."""
    return {name: value for name, value in whole.items() if random.random() < often}


def case(driver: str, random: Random) -> tuple[Any, ...] | None:
    """A document, and constraints that are mostly a part of what it was made from; None if nothing can be made."""
    metadata, schema = MAKE[driver](random)
    kind, document = outcome(lambda: stored(driver, metadata, schema), dict)
    if kind != "gives":
        return None
    other_metadata, other_schema = MAKE[driver](random)
    often = random.choice([0, 0, 0.2])
    wanted = {**part_of(random, {**document, **metadata}, 0.5), **part_of(random, other_metadata, often)}
    wanted_schema = {**part_of(random, schema, 0.7), **part_of(random, other_schema, often)}
    type_name = "dtype" if driver == "zarr" else "data_type"
    if "fill_value" in wanted:
        wanted[type_name] = document[type_name]
    if "domain" in wanted_schema and len(wanted_schema["domain"]["shape"]) != len(document["shape"]):
        # TensorStore stops the whole process where domain and metadata are of different rank.
        del wanted_schema["domain"]
    return driver, document, wanted, wanted_schema


@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
@pytest.mark.parametrize("block", range(10))
def test_random_pairs(driver: str, block: int) -> None:
    """What is demanded and what is stored agree, or the same contradiction is named."""
    refused = 0
    for seed in range(block * CASES // 10, (block + 1) * CASES // 10):
        made = case(driver, Random(seed))
        if made is None:
            continue
        found = outcome(lambda made=made: ours(*made), str)
        assert gist(found) == gist(outcome(lambda made=made: theirs(*made), str)), (seed, made)
        refused += found[0] != "gives"
    assert refused
