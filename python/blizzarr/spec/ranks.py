"""The number of dimensions of an array's grid of chunks, and of each of its elements."""

from __future__ import annotations

from typing import NamedTuple

from blizzarr.errors import SpecError
from blizzarr.spec.constraint import MAX_RANK


class Ranks(NamedTuple):
    """Numbers of dimensions as far as they are known: all, those of the grid, and those of each element."""

    full: int | None
    grid: int | None
    inner: int | None


def ranks(grid_rank: int, full: int | None, inner: int | None) -> Ranks:
    """Return the ranks that follow from the metadata (-1 for unknown), the schema, and the selected part of elements.

    Examples
    --------
    >>> ranks(2, 3, None)
    Ranks(full=3, grid=2, inner=1)
    >>> ranks(-1, 3, 0)
    Ranks(full=3, grid=3, inner=0)
    """
    grid = None if grid_rank == -1 else grid_rank
    if full is None and grid is not None and inner is not None:
        full = grid + inner
        if full > MAX_RANK:
            raise SpecError(f"{full} is not a valid rank")
    known = [rank for rank in (grid, inner) if rank is not None]
    if full is not None and (any(rank > full for rank in known) or (len(known) == 2 and sum(known) != full)):
        raise SpecError(f"Rank specified by schema ({full}) is not compatible with rank of metadata ({sum(known)})")
    if full is not None:
        grid = full - inner if grid is None and inner is not None else grid
        inner = full - grid if inner is None and grid is not None else inner
    return Ranks(full, grid, inner)
