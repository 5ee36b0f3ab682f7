"""Checking shapes in array documents, for all formats."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from blizzarr.dtypes import DataType
from blizzarr.model import MAX_RANK
from blizzarr.problems import INT64_MAX, Problems, lengths


def array_shape(value: Any, path: str, problems: Problems) -> tuple[int, ...] | None:
    """Return the shape of an array; `None` if a problem was added."""
    shape = lengths(value, path, problems, 0)
    if shape is not None:
        if len(shape) > MAX_RANK:
            problems.add(path, f"at most {MAX_RANK} dimensions", len(shape))
        elif prod(shape) > INT64_MAX:
            problems.add(path, "fewer than 2^63 elements", list(shape))
    return shape


def chunk_shape(
    value: Any, path: str, rank: int | None, dtype: DataType | None, problems: Problems
) -> tuple[int, ...] | None:
    """Return the shape of the chunks of an array; `None` if a problem was added."""
    shape = lengths(value, path, problems, 1)
    if shape is None:
        return None
    if rank is not None and len(shape) != rank:
        problems.add(path, f"{rank} lengths, one for each dimension", list(shape))
        return None
    if prod(shape) * (1 if dtype is None else dtype.itemsize) > INT64_MAX:
        problems.add(path, "chunks of fewer than 2^63 bytes", list(shape))
    return shape


def without_zeros(value: Any, shape: Sequence[int] | None) -> Any:
    """Replace chunk lengths of 0 by 1 along axes without elements, where 0 is allowed, as there are no chunks.

    >>> without_zeros([0, 0, 5], (0, 4, 9))
    [1, 0, 5]
    """
    if type(value) is not list or shape is None or 0 not in shape or len(value) != len(shape):
        return value
    return [1 if type(item) is int and item == length == 0 else item for item, length in zip(value, shape, strict=True)]
