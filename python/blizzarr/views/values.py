"""Conversion of numbers, sequences, labels and flags that users pass, with the errors of Python's own functions."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from blizzarr.errors import BlizzarrError, SpecError
from blizzarr.indexing.interval import INT64_MAX, INT64_MIN
from blizzarr.json_values import quote

MAX_RANK = 32


def to_index(value: Any) -> int:
    """Convert to an integer of 64 bits."""
    result = operator.index(value)
    if not INT64_MIN <= result <= INT64_MAX:
        raise TypeError(f"expected an integer of 64 bits, found {value!r}")
    return result


def opt_index(value: Any) -> int | None:
    return None if value is None else to_index(value)


def to_indices(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(map(to_index, values))


def index_vector(value: Any) -> int | tuple[int | None, ...] | None:
    """Parse one integer for all dimensions, or one for each; None leaves a dimension unchanged."""
    if value is None or hasattr(value, "__index__"):
        try:
            return opt_index(value)
        except TypeError:
            if not isinstance(value, Iterable):
                raise
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"expected an integer, None, or a sequence of these, found {value!r}")
    return tuple(map(opt_index, value))


def flags(values: Iterable[Any]) -> tuple[bool, ...]:
    return tuple(map(bool, values))


def labels_of(values: Iterable[Any]) -> tuple[str, ...]:
    """Parse labels; None stands for an empty label."""
    if isinstance(values, str | bytes):
        raise TypeError(f"expected a sequence of labels, found {values!r}")
    result = tuple("" if value is None else value for value in values)
    for label in result:
        if not isinstance(label, str):
            raise TypeError(f"expected labels as strings, found {label!r}")
    return result


def check_unique(labels: Sequence[str], error: type[BlizzarrError] = SpecError) -> None:
    """Raise unless each label stands once; empty ones are no labels."""
    named = sorted(filter(None, labels))
    twice = [label for label, before in zip(named[1:], named, strict=False) if label == before]
    if twice:
        raise error(f"Dimension label(s) {', '.join(map(quote, twice))} not unique")
