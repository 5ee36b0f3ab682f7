"""What a transaction has of an array as one box of elements, where it is one: to be written at once.

Chunks of a volume of Neuroglancer that share a shard are written together that way: the shard is laid down once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.indexing import Lowered
from blizzarr.tensorstore.cell import Cell, Where

__all__ = ["as_box"]


def as_box(parts: Sequence[tuple[Cell, Lowered, Where]]) -> tuple[Lowered, npt.NDArray[Any]] | None:
    """The selection of all parts and its elements; None where they leave something out between them.

    The parts have no element in common.
    """
    starts: list[list[int]] = []
    for _, (shape, axes, _), _ in parts:
        begin = [axis[1] for axis in axes if isinstance(axis, tuple) and len(axis) == 3 and axis[2] == 1]
        if len(begin) != len(shape) or len(axes) != len(shape):
            return None
        starts.append(begin)
    low = np.min(starts, axis=0)
    high = np.max([np.add(start, lowered[0]) for start, (_, lowered, _) in zip(starts, parts, strict=True)], axis=0)
    whole = tuple(int(length) for length in high - low)
    if sum(prod(lowered[0]) for _, lowered, _ in parts) != prod(whole):
        return None
    found: npt.NDArray[Any] | None = None
    for start, (cell, lowered, where) in zip(starts, parts, strict=True):
        elements = cell.take(where)
        if found is None:
            found = np.empty(whole, elements.dtype)
        begin = [first - int(lowest) for first, lowest in zip(start, low, strict=True)]
        found[tuple(slice(at, at + length) for at, length in zip(begin, lowered[0], strict=True))] = elements
    if found is None:
        return None
    return (whole, tuple((dim, int(first), 1) for dim, first in enumerate(low)), False), found
