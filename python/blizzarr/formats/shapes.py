"""Checking the shapes of array documents, for all formats."""

from __future__ import annotations

from math import prod
from typing import Any

from blizzarr.model import MAX_RANK, ArrayMeta, RegularGrid
from blizzarr.problems import INT64_MAX, Problems, lengths


def common_shape(meta: ArrayMeta, problems: Problems) -> tuple[int, ...]:
    """Return the shape of all chunks; add a problem if the grid is not regular, as only v3 has other grids."""
    grid = meta.chunk_grid
    if grid.name != RegularGrid.name:
        expected = "a regular grid of chunks of one shape, as this format has no others; chunks= chooses it"
        problems.add("chunk_grid", expected, grid.name if grid.is_even else grid.text)
    return grid.chunk_shape if grid.is_even else meta.largest


def array_shape(value: Any, path: str, problems: Problems) -> tuple[int, ...] | None:
    """Return the shape of an array; `None` if a problem was added."""
    shape = lengths(value, path, problems, 0)
    if shape is not None:
        if len(shape) > MAX_RANK:
            problems.add(path, f"at most {MAX_RANK} dimensions", len(shape))
        elif prod(shape) > INT64_MAX:
            problems.add(path, "fewer than 2^63 elements", list(shape))
    return shape
