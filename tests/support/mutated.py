"""Documents with parts replaced, removed and mixed.

Bytes changed at random hardly get past the parser; these keep the structure and change what stands in it.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterator, Sequence
from typing import Any

from blizzarr.errors import BlizzarrError, InternalError

__all__ = ["check_error", "look", "mutated", "places"]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        yield (*path, name)
        yield from places(item, (*path, name))


def look(value: Any, path: tuple[Any, ...]) -> Any:
    """What a way leads to."""
    for name in path:
        value = value[name]
    return value


def mutated(document: Any, others: Sequence[Any], odd: Sequence[Any], rng: random.Random, depth: int = 1) -> Any:
    """A copy of a document with some of what is at this depth or below changed, to odd values or parts of others."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 2, 3])):
        found = [place for place in places(document) if len(place) >= depth]
        if not found:
            break
        *way, name = rng.choice(found)
        holder = look(document, tuple(way))
        other = rng.choice(others)
        new = copy.deepcopy(rng.choice([rng.choice(odd), look(other, rng.choice([*places(other)] or [()]))]))
        change = rng.randrange(4)
        if change == 0:
            del holder[name]
        elif change == 1 and isinstance(holder, list):
            holder.insert(name, new)
        else:
            holder[name] = new
    return document


def check_error(error: BlizzarrError) -> None:
    """It is no bug of ours, says something, and says the same after it was pickled."""
    assert not isinstance(error, InternalError)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) != ""
