"""Chunk layouts and their grids, each asked of TensorStore too."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tensorstore as ts

from blizzarr.spec.chunk_layout import ChunkLayout
from unit.spec.oracle import outcome

USAGES = ("chunk", "write_chunk", "read_chunk", "codec_chunk")
BIG = (0, 1, -1, -2, 2**62 - 2, 2**62 - 1, -(2**62) + 2, -(2**62) + 1, 2**63 - 1, -(2**63), 2**63)


def vector(rng: random.Random, rank: int, *values: Any) -> list[Any]:
    """A value for each dimension, now and then too many."""
    return [rng.choice(values) for _ in range(rank + (rng.random() < 0.03))]


def order(rng: random.Random, rank: int) -> list[int]:
    """A permutation, now and then none."""
    values = rng.sample(range(rank), rank)
    return values if rng.random() < 0.95 else [*values, rng.randrange(-1, 34)]


def value_of(rng: random.Random, name: str, rank: int) -> Any:
    """A value for a constraint of this name."""
    if rng.random() < 0.01:
        return rng.choice([None, 5, "a", {}, [None] * 33, [0.5] * rank])
    if "order" in name:
        return order(rng, rank)
    if "origin" in name:
        return vector(rng, rank, None, 0, 5, -7, 5, 0, None, rng.choice(BIG))
    if "shape" in name:
        return vector(rng, rank, None, 1, 2, 3, 2, 3, -1, 0, rng.choice((1, 1, 1, *BIG)))
    if "aspect" in name:
        return vector(rng, rank, None, 1, 2.5, 3, 0, 1e7, rng.choice((1, 1, 1, -1, float("inf"), float("nan"))))
    return rng.choice((1, 5, 1000, 5, 0, -3, 2**62 - 2, 2**62 - 1, -(2**63)))


NAMES = [
    *(f"{name}{end}" for name in ("inner_order", "grid_origin") for end in ("", "_soft_constraint")),
    *(
        f"{usage}_{name}{end}"
        for usage in USAGES
        for name in ("shape", "aspect_ratio", "elements")
        for end in ("", "_soft_constraint")
    ),
]
GRID_NAMES = [f"{name}{end}" for name in ("shape", "aspect_ratio", "elements") for end in ("", "_soft_constraint")]


def random_keywords(rng: random.Random, names: list[str], rank: int) -> dict[str, Any]:
    """Some constraints by keyword."""
    found = {name: value_of(rng, name, rank) for name in rng.sample(names, rng.randrange(5))}
    if rng.random() < 0.1:
        found["rank"] = rng.choice((rank, rank, rank + 1, 33, -1, -2, None))
    return found


def random_json(rng: random.Random, rank: int) -> dict[str, Any]:
    """Some constraints as JSON."""
    found = {name: value_of(rng, name, rank) for name in rng.sample(NAMES[:4], rng.randrange(3))}
    for usage in rng.sample(USAGES, rng.randrange(4)):
        names = rng.sample(GRID_NAMES, rng.randrange(3))
        found[usage] = {name: value_of(rng, name, rank) for name in names}
    if rng.random() < 0.1:
        found["rank"] = rng.choice((rank, rank, rank + 1, 33, -1, None, 2.0))
    if rng.random() < 0.02:
        found["foo"] = 5
    return found


def everything(layout: Any) -> Iterator[Any]:
    """All that can be seen of a layout."""
    yield layout.to_json()
    yield repr(layout)
    for name in ("rank", "ndim", "inner_order", "inner_order_soft_constraint"):
        yield getattr(layout, name)
    yield layout.grid_origin
    yield layout.grid_origin_soft_constraint
    for usage in USAGES[1:]:
        grid = getattr(layout, usage)
        yield grid.to_json()
        yield [getattr(grid, name) for name in ("rank", "ndim", *GRID_NAMES)]


def show(layout: Any) -> str:
    """What can be seen, in one text."""
    return repr(list(everything(layout)))


def compare(act: Callable[..., Any], *given: Any) -> None:
    """Do it with both libraries."""
    assert outcome(lambda: act(Ours, *given), show) == outcome(lambda: act(ts, *given), show), given


def made(module: Any, said: dict[str, Any], later: dict[str, Any]) -> Any:
    """A layout from JSON, then constrained further."""
    layout = module.ChunkLayout(said)
    layout.update(**later)
    return layout


def with_grid(
    module: Any, given: dict[str, Any], more: dict[str, Any], keyword: str, usage: str, later: dict[str, Any]
) -> Any:
    """A layout from a grid that another was merged into, then constrained further."""
    grid = module.ChunkLayout.Grid(**given)
    grid.update(**{keyword: module.ChunkLayout.Grid(**more)})
    layout = module.ChunkLayout(**{usage: grid})
    layout.update(**later)
    return layout


class Ours:
    """This library, under TensorStore's names."""

    ChunkLayout = ChunkLayout


@pytest.mark.parametrize("seed", range(40))
def test_constraints_add_up(seed: int) -> None:
    """Hard and soft constraints by JSON and keyword give the same layout, or the same error."""
    rng = random.Random(seed)
    for _ in range(50):
        rank = rng.randrange(1, 4)
        compare(made, random_json(rng, rank), random_keywords(rng, NAMES, rank))


@pytest.mark.parametrize("seed", range(10))
def test_equality_and_pickling(seed: int) -> None:
    """Layouts are equal when TensorStore says so, and come out of a pickle as they went in."""
    rng = random.Random(seed)
    good = []
    while len(good) < 20:
        said = random_json(rng, rng.randrange(1, 3))
        if outcome(lambda said=said: ts.ChunkLayout(said))[0] == "gives":
            good.append(said)
    for a in good:
        ours, theirs = ChunkLayout(a), ts.ChunkLayout(a)
        assert pickle.loads(pickle.dumps(ours)) == ours
        for b in good:
            assert (ours == ChunkLayout(b)) == (theirs == ts.ChunkLayout(b)), (a, b)


@pytest.mark.parametrize("usage", USAGES)
def test_rank_of_grids_without_dimensions(usage: str) -> None:
    """Such a grid says nothing of the rank, but its JSON does."""
    for module in (Ours, ts):
        grid = module.ChunkLayout.Grid(rank=0)
        assert module.ChunkLayout(**{usage: grid}).rank == -1
        assert module.ChunkLayout(**{usage: grid}, rank=2).rank == 2
        assert module.ChunkLayout({usage: {"shape": []}}).rank == 0


@pytest.mark.parametrize("seed", range(10))
def test_grids(seed: int) -> None:
    """A grid by itself has the same constraints, and gives them to the chunks it is for."""
    rng = random.Random(seed)
    for _ in range(50):
        rank = rng.randrange(1, 3)
        grids = random_keywords(rng, GRID_NAMES, rank), random_keywords(rng, GRID_NAMES, rank)
        keyword = rng.choice(("grid", "grid_soft_constraint"))
        compare(with_grid, *grids, keyword, rng.choice(USAGES), random_keywords(rng, NAMES, rank))


@pytest.mark.parametrize("seed", range(10))
def test_finalized_layouts(seed: int) -> None:
    """Wishes are dropped, chunks are read as they are written unless they divide those."""
    rng = random.Random(seed)
    for _ in range(50):
        rank = rng.randrange(1, 3)
        given = random_keywords(rng, NAMES, rank)
        given |= {"finalize": True, "grid_origin": vector(rng, rank, 0, 5, 0, 2**62 - 3 if rng.random() < 0.1 else 1)}
        compare(made, {}, given)


@pytest.mark.parametrize(
    "given",
    [{"foo": 1}, {"json": {"rank": 3}}, {"json": None}, {"json": {"rank": 3}, "rank": 3}, {"chunk": {}}],
    ids=str,
)
def test_arguments(given: dict[str, Any]) -> None:
    """What is taken at all."""
    assert outcome(lambda: ChunkLayout(**given)) == outcome(lambda: ts.ChunkLayout(**given))
