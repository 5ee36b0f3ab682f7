"""Encodings with the length of each chunk or shard along an axis, which xarray reads and does not write."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from xarray import Variable

_OPTIONS = ("chunks", "shards")


def take_lengths(variable: Variable, *, must_fit: bool, parts_are_safe: bool, is_new: bool) -> dict[str, Any]:
    """Take such encodings out of a variable, and return them.

    xarray gets chunks in their place with which it checks the chunks of Dask rightly: of length 1, which any chunks of
    Dask follow, or the whole variable, which only a single one does.

    - `must_fit`: whether lengths that do not fit the variable are an error, which is that of `create_array`. If not,
      they are those of data that it was made from, and left out.
    - `parts_are_safe`: whether chunks of Dask may share a stored chunk.
    - `is_new`: whether the variable becomes a new array as a whole.

    >>> variable = Variable("x", range(6), encoding={"chunks": ((1, 2, 3),)})
    >>> take_lengths(variable, must_fit=True, parts_are_safe=True, is_new=True), variable.encoding
    ({'chunks': [[1, 2, 3]]}, {'chunks': (1,)})
    """
    taken: dict[str, Any] = {}
    for option in _OPTIONS:
        given = variable.encoding.get(option)
        if not isinstance(given, list | tuple) or not any(isinstance(axis, list | tuple) for axis in given):
            continue
        fits = len(given) == variable.ndim and all(
            isinstance(axis, int) or sum(axis) >= size for axis, size in zip(given, variable.shape, strict=True)
        )
        if not fits and not must_fit:
            del variable.encoding[option]
            continue
        # An axis without elements has a chunk without elements.
        taken[option] = [axis if isinstance(axis, int) else [1] if list(axis) == [0] else list(axis) for axis in given]
        is_safe = parts_are_safe or (is_new and _follow(variable, taken[option]))
        variable.encoding[option] = (1,) * variable.ndim if is_safe else variable.shape
    return taken


def _follow(variable: Variable, lengths: list[Any]) -> bool:
    """Return whether no chunk of these lengths is divided by the chunks of Dask."""
    for sizes, axis in zip(variable.chunks or (), lengths, strict=False):
        stops = set(accumulate(sizes[:-1]))
        if any(stop % axis for stop in stops) if isinstance(axis, int) else not stops <= set(accumulate(axis)):
            return False
    return True
