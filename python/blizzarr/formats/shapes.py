"""Checking the shapes of array documents, for all formats."""

from __future__ import annotations

from math import prod
from typing import Any

from blizzarr.model import MAX_RANK, ArrayMeta
from blizzarr.problems import INT64_MAX, Problems, lengths


def common_shape(meta: ArrayMeta, problems: Problems) -> tuple[int, ...]:
    """Return the shape of all chunks; add a problem if they have several, as only v3 has such grids."""
    if meta.chunk_grid.is_even:
        return meta.chunk_grid.chunk_shape
    expected = "chunks of one shape, as this format has no others; chunks= chooses it"
    problems.add("chunk_grid", expected, meta.chunk_grid.text)
    return meta.largest


def array_shape(value: Any, path: str, problems: Problems) -> tuple[int, ...] | None:
    """Return the shape of an array; `None` if a problem was added."""
    shape = lengths(value, path, problems, 0)
    if shape is not None:
        if len(shape) > MAX_RANK:
            problems.add(path, f"at most {MAX_RANK} dimensions", len(shape))
        elif prod(shape) > INT64_MAX:
            problems.add(path, "fewer than 2^63 elements", list(shape))
    return shape
