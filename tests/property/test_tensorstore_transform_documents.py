"""TensorStore as the judge: random vectors and documents make the same domains and transforms, or the same errors."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from blizzarr import views

tensorstore = pytest.importorskip("tensorstore")

INF = 2**62 - 1
CASES = 3000


def outcome(make: Callable[[], Any]) -> Any:
    """What is made, with its JSON; or the class and text of the error."""
    try:
        made = make()
    except (TypeError, ValueError) as error:
        # What Python says of arguments that do not fit is each library's own.
        return ("TypeError", "") if isinstance(error, TypeError) else ("ValueError", str(error))
    return repr(made), made.to_json()


def is_like(mine: Any, theirs: Any) -> bool:
    """True if both are the same; an error of ours has further problems after TensorStore's, which has the first."""
    return bool(mine == theirs or (mine[0] == theirs[0] == "ValueError" and mine[1].startswith(theirs[1] + "; ")))


def test_domains_of_vectors() -> None:
    """Bounds, sizes, flags and labels in all combinations, some of them contradictions."""
    random = Random(9)
    for _ in range(CASES):
        rank = random.randint(0, 3)

        def vector(make: Callable[[], Any]) -> list[Any]:
            return [make() for _ in range(rank + (random.random() < 0.03))]  # noqa: B023

        def bound() -> int:
            return random.choice([*range(-3, 7), INF, -INF, INF + 1])

        given: dict[str, Any] = {}
        if random.random() < 0.15:
            given["rank"] = rank + (random.random() < 0.3)
        if random.random() < 0.5:
            given["inclusive_min"] = vector(bound)
        for _ in range(random.choice([0, 1, 1, 2])):
            given[random.choice(["shape", "exclusive_max", "inclusive_max"])] = vector(lambda: abs(bound()))
        for name in ("implicit_lower_bounds", "implicit_upper_bounds"):
            if random.random() < 0.3:
                given[name] = vector(lambda: random.random() < 0.5)
        if random.random() < 0.3:
            given["labels"] = vector(lambda: random.choice(["a", "b", "c", "", None]))
        mine, theirs = (outcome(lambda: library.IndexDomain(**given)) for library in (views, tensorstore))  # noqa: B023
        assert mine == theirs, given


def test_domains_of_documents() -> None:
    """The same as JSON, with infinite and implicit bounds and what is no bound."""
    random = Random(10)
    for _ in range(CASES):
        rank = random.randint(0, 3)

        def bound(infinite: str) -> Any:
            value = random.choice([*range(-3, 7), infinite, infinite, "x", 1.5, None, INF + 1, 2.0])
            return [value] if random.random() < 0.25 else value

        document: dict[str, Any] = {}
        if random.random() < 0.15:
            document["rank"] = random.choice([rank, rank, rank + 1, "x", 33])
        if random.random() < 0.5:
            document["inclusive_min"] = [bound("-inf") for _ in range(rank)]
        if random.random() < 0.6:
            document[random.choice(["shape", "exclusive_max", "inclusive_max"])] = [bound("+inf") for _ in range(rank)]
        if random.random() < 0.3:
            document["labels"] = [random.choice(["a", "b", "c", "", ""]) for _ in range(rank)]
        if random.random() < 0.02:
            document["more"] = 1
        mine, theirs = (outcome(lambda: library.IndexDomain(json=document)) for library in (views, tensorstore))  # noqa: B023
        assert is_like(mine, theirs), (document, mine, theirs)


def test_transforms_of_documents() -> None:
    """Output maps of all kinds, and some that do not fit the domain."""
    random = Random(4)
    for _ in range(CASES):
        rank = random.randint(0, 3)
        sizes = [random.randint(0, 3) for _ in range(rank)]
        document: dict[str, Any] = {"input_shape": [size if random.random() < 0.9 else [size] for size in sizes]}
        if random.random() < 0.3:
            document["input_inclusive_min"] = [random.randint(-2, 2) for _ in range(rank)]
        if random.random() < 0.9:
            document["output"] = [output_map(random, sizes) for _ in range(random.randint(0, 3))]
        mine, theirs = (outcome(lambda: library.IndexTransform(json=document)) for library in (views, tensorstore))  # noqa: B023
        assert is_like(mine, theirs), (document, mine, theirs)


def output_map(random: Random, sizes: list[int]) -> dict[str, Any]:
    """One output map of a document."""
    found: dict[str, Any] = {}
    if random.random() < 0.5:
        found["offset"] = random.choice([0, 1, -3, "x", 2.0, 2**62])
    if random.random() < 0.5:
        found["stride"] = random.choice([0, 1, 1, -2, None])
    kind = random.random()
    if kind < 0.4:
        found["input_dimension"] = random.randint(-1, max(len(sizes), 1))
    elif kind < 0.8:
        shape = [size if random.random() < 0.6 else 1 for size in sizes] + [1] * (random.random() < 0.05)
        indices = [random.randint(-3, 5) for _ in range(int(np.prod(shape)))]
        found["index_array"] = np.array(indices, int).reshape(shape).tolist()
    if random.random() < 0.2:
        found["index_array_bounds"] = [random.choice([0, -3, "-inf", 3]), random.choice([0, 3, "+inf", -4])]
    if random.random() < 0.01:
        found["more"] = 1
    return found
