"""Selections of dimensions: by number, also counted from the end, by label, or by slices of numbers."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from blizzarr.errors import BlizzarrError, SelectionError
from blizzarr.json_values import braces, quote

DimSpec: TypeAlias = int | str | tuple[int | None, int | None, int]
"""A number, a label, or what a slice says: start, stop and step."""

Error: TypeAlias = type[BlizzarrError]


def as_dim_specs(value: Any) -> tuple[DimSpec, ...] | None:
    """Parse a number, label, slice, selection, or nested sequences of these; return None for anything else."""
    if isinstance(value, str):
        return (value,)
    if hasattr(value, "__index__"):
        try:
            return (operator.index(value),)
        except TypeError:
            pass
    if isinstance(value, slice):
        return (_range(value),)
    own = getattr(value, "_dim_specs", None)
    if own is not None:
        return tuple(own)
    if not isinstance(value, Iterable) or isinstance(value, bytes) or hasattr(value, "_operations"):
        return None
    result: list[DimSpec] = []
    for item in value:
        specs = as_dim_specs(item)
        if specs is None:
            return None
        result.extend(specs)
    return tuple(result)


def _range(value: slice) -> DimSpec:
    bounds = value.start, value.stop, value.step
    start, stop, step = (None if bound is None else operator.index(bound) for bound in bounds)
    return start, stop, 1 if step is None else step


def normalize_dim(spec: Any, labels: Sequence[str], error: Error = SelectionError) -> int:
    """Return the number of a dimension.

    >>> normalize_dim(-1, ["x", "y"]), normalize_dim("x", ["x", "y"])
    (1, 0)
    """
    if isinstance(spec, str):
        if not spec:
            raise error("Dimension cannot be specified by empty label")
        if spec not in labels:
            raise error(f"Label {quote(spec)} does not match one of {{{', '.join(map(quote, labels))}}}")
        return list(labels).index(spec)
    return _index(operator.index(spec), len(labels), error)


def _index(index: int, rank: int, error: Error) -> int:
    if not -rank <= index < rank:
        raise error(f"Dimension index {index} is outside valid range [-{rank}, {rank})")
    return index + rank if index < 0 else index


def normalize_range(spec: tuple[int | None, int | None, int], rank: int, error: Error = SelectionError) -> list[int]:
    """Return the numbers of dimensions in a slice; slices beyond the rank are errors."""
    start, stop, step = spec
    if step == 0:
        raise error("step must not be 0")
    first = (0 if step > 0 else rank - 1) if start is None else _index(start, rank, error)
    if stop is None:
        end = rank if step > 0 else -1
    else:
        if not -rank - 1 <= stop <= rank:
            raise error(f"Dimension exclusive stop index {stop} is outside valid range [-{rank + 1}, {rank}]")
        end = stop + rank if stop < 0 else stop
        if (step > 0 and end < first) or (step < 0 and end > first):
            raise error(f"{shown_range(spec)} is not a valid range")
    return list(range(first, end, step))


def shown_range(spec: tuple[int | None, int | None, int]) -> str:
    """A slice as Python writes it."""
    start, stop, step = ("" if bound is None else str(bound) for bound in spec)
    return f"{start}:{stop}" + (f":{step}" if step != "1" else "")


def normalize_dims(
    specs: Iterable[DimSpec], labels: Sequence[str], error: Error = SelectionError, *, distinct: bool = True
) -> list[int]:
    """Return the numbers of several dimensions; duplicates are errors."""
    dims: list[int] = []
    for spec in specs:
        if isinstance(spec, tuple):
            dims.extend(normalize_range(spec, len(labels), error))
        else:
            dims.append(normalize_dim(spec, labels, error))
    if distinct:
        if len(dims) > len(labels):
            raise error(f"Number of dimensions ({len(dims)}) exceeds input rank ({len(labels)}).")
        twice = [dim for position, dim in enumerate(dims) for before in dims[:position] if before == dim]
        if twice:
            raise error(f"Input dimensions {braces(twice)} specified more than once")
    return dims


def normalize_new_dims(specs: Iterable[DimSpec], rank: int) -> list[int]:
    """Return the numbers of new dimensions of a view of this rank."""
    specs = tuple(specs)
    new_rank = rank + sum(_new_in_range(spec) if isinstance(spec, tuple) else 1 for spec in specs)
    if any(isinstance(spec, str) for spec in specs):
        raise SelectionError("New dimensions cannot be specified by label")
    return normalize_dims(specs, [""] * new_rank)


def _new_in_range(spec: tuple[int | None, int | None, int]) -> int:
    """Return the number of dimensions in a slice of new dimensions; an error if that depends on the rank."""
    start, stop, step = spec
    if step == 0:
        raise SelectionError("step must not be 0")
    known: int | None = None
    if start is not None and stop is not None:
        if (stop < 0) == (start < 0) and (stop - start) * step >= 0:
            known = stop - start
    elif start is not None and (start < 0) == (step > 0):
        known = -start if step > 0 else -(start + 1)
    elif stop is not None and (stop >= 0) == (step > 0):
        known = stop if step > 0 else stop + 1
    if known is None:
        raise SelectionError(f"`{shown_range(spec)}` is not a valid specification for new dimensions")
    return -(-known // step)
