"""Schemas through views: what a view has of a schema, and what a view demands of what it is a view of."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
import tensorstore as ts

from blizzarr import views
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.schema import Schema, schema_of_base
from unit.spec.oracle import outcome

CASES = 1500


class Ours:
    """This library, under TensorStore's names."""

    Schema = Schema
    ChunkLayout = ChunkLayout
    IndexTransform = views.IndexTransform
    IndexDomain = views.IndexDomain
    d = views.d


def either(random: Random, name: str) -> str:
    """The name of a hard constraint, or of a soft one."""
    return random.choice([name, f"{name}_soft_constraint"])


def random_schema(random: Random, rank: int, with_domain: bool) -> dict[str, Any]:
    """Constraints of all kinds."""
    layout: dict[str, Any] = {}
    if random.random() < 0.4:
        layout[either(random, "inner_order")] = random.sample(range(rank), rank)
    if random.random() < 0.5:
        layout[either(random, "grid_origin")] = [random.choice([None, 0, 5, -3]) for _ in range(rank)]
    for usage in ("read_chunk", "write_chunk", "codec_chunk"):
        grid: dict[str, Any] = {}
        if random.random() < 0.4:
            grid[either(random, "shape")] = [random.choice([None, 1, 4, 6, 10]) for _ in range(rank)]
        if random.random() < 0.3:
            grid[either(random, "aspect_ratio")] = [random.choice([None, 1, 2.5]) for _ in range(rank)]
        if random.random() < 0.2:
            grid[either(random, "elements")] = 100
        layout[usage] = grid
    schema: dict[str, Any] = {"chunk_layout": layout, "rank": rank}
    if random.random() < 0.4:
        schema["dimension_units"] = [random.choice([None, [4.0, "nm"], "s"]) for _ in range(rank)]
    if random.random() < 0.2:
        schema["fill_value"] = 5
    if with_domain:
        lower = [random.choice([0, 0, 3, -2]) for _ in range(rank)]
        schema["domain"] = {"inclusive_min": lower, "exclusive_max": [low + 12 for low in lower]}
        if random.random() < 0.4:
            schema["domain"]["labels"] = [random.choice(["", f"x{dim}"]) for dim in range(rank)]
    return schema


def random_steps(random: Random, rank: int) -> list[tuple[str, Any]]:
    """Some operations that make views."""
    steps: list[tuple[str, Any]] = []
    for _ in range(random.randrange(1, 4)):
        kind = random.choice(
            ["slice", "stride", "index", "list", "transpose", "translate", "newaxis", "label", "diagonal"]
        )
        if kind == "transpose":
            steps.append((kind, random.sample(range(rank), rank)))
        elif kind in ("translate", "label"):
            steps.append((kind, random.randrange(-4, 5)))
        elif kind == "newaxis":
            steps.append((kind, None))
            rank += 1
        elif kind == "diagonal":
            if rank > 1:
                steps.append((kind, None))
                rank -= 1
        elif rank:
            steps.append((kind, random.randrange(rank)))
            rank -= kind == "index"
        if rank == 0:
            break
    return steps


def viewed(module: Any, view: Any, steps: list[tuple[str, Any]]) -> Any:
    """The view after all operations."""
    for kind, value in steps:
        if kind == "transpose":
            view = view.transpose(value)
        elif kind == "translate":
            view = view[module.d[:].translate_by[value]]
        elif kind == "newaxis":
            view = view[None]
        elif kind == "diagonal":
            view = view[module.d[0, 1].diagonal]
        elif kind == "label":
            view = view[module.d[0].label[f"y{value}"]]
        else:
            term = {"slice": slice(4, 8), "stride": slice(None, None, 2), "index": 5, "list": [4, 5]}[kind]
            view = view[module.d[value][term]]
    return view


def said(schema: Any) -> str:
    """All of a schema, as text."""
    return json.dumps(schema.to_json(), sort_keys=True)


@pytest.mark.parametrize("block", range(10))
def test_schemas_are_indexed(block: int) -> None:
    """Chains of operations give a schema the same layout, units, domain and fill value."""
    for seed in range(block * CASES // 10, (block + 1) * CASES // 10):
        random = Random(seed)
        rank = random.randrange(1, 4)
        schema = random_schema(random, rank, random.random() < 0.7)
        steps = random_steps(random, rank)
        if ("newaxis", None) in steps:
            # TensorStore confuses the bounds of new dimensions with those of the array.
            schema.pop("fill_value", None)

        def act(module: Any, schema: Any = schema, steps: Any = steps) -> Any:
            return viewed(module, module.Schema(schema), steps)

        assert outcome(lambda act=act: act(Ours), said) == outcome(lambda act=act: act(ts), said), (seed, schema, steps)


def theirs_under(schema: dict[str, Any], steps: list[tuple[str, Any]], rank: int) -> dict[str, Any]:
    """What TensorStore demands of the array under a view that has the schema."""
    transform = viewed(ts, ts.IndexTransform(input_rank=rank), steps)
    spec = ts.Spec({"driver": "zarr3", "kvstore": "memory://", "transform": transform.to_json()})
    spec.update(schema=ts.Schema(schema))
    return dict(spec.to_json().get("schema", {}))


def ours_under(schema: dict[str, Any], steps: list[tuple[str, Any]], rank: int) -> dict[str, Any]:
    """The same by this library."""
    transform = viewed(Ours, views.IndexTransform(input_rank=rank), steps)
    found = schema_of_base(Schema(schema), transform).to_json()
    # The rank of the array is said by the transform.
    found.pop("rank")
    return found


@pytest.mark.parametrize("block", range(10))
def test_views_demand(block: int) -> None:
    """The constraints on a view mean the same constraints on the array under it, or are refused."""
    for seed in range(block * CASES // 10, (block + 1) * CASES // 10):
        check_demands(Random(seed), seed)


def check_demands(random: Random, seed: int) -> None:
    """One random view."""
    rank = random.randrange(1, 4)
    steps = random_steps(random, rank)
    made = outcome(lambda: viewed(ts, ts.IndexTransform(input_rank=rank), steps), lambda view: view)
    if made[0] != "gives":
        return
    schema = random_schema(random, made[1].input_rank, False) if made[1].input_rank else {}
    found = outcome(lambda: ours_under(schema, steps, rank))
    assert found == outcome(lambda: theirs_under(schema, steps, rank)), (seed, schema, steps)
