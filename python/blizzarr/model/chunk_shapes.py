"""Checking the chunk shapes of array documents, for all formats."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from blizzarr.dtypes import DataType
from blizzarr.problems import INT64_MAX, Problems, lengths


def chunk_shape(
    value: Any, path: str, rank: int | None, dtype: DataType | None, problems: Problems
) -> tuple[int, ...] | None:
    """Return the shape of the chunks of an array; `None` if a problem was added."""
    shape = lengths(value, path, problems, 1)
    if shape is None or not check_rank(value, path, rank, problems):
        return None
    check_size(shape, path, dtype, problems)
    return shape


def check_rank(value: Sequence[Any], path: str, rank: int | None, problems: Problems) -> bool:
    """Return whether there is one item for each dimension; add a problem if not."""
    if rank is not None and len(value) != rank:
        problems.add(path, f"{rank} lengths, one for each dimension", list(value))
        return False
    return True


def check_size(shape: Sequence[int], path: str, dtype: DataType | None, problems: Problems) -> None:
    """Add a problem for chunks of too many bytes."""
    if prod(shape) * (1 if dtype is None else dtype.itemsize) > INT64_MAX:
        problems.add(path, "chunks of fewer than 2^63 bytes", list(shape))


def without_zeros(value: Any, shape: Sequence[int] | None) -> Any:
    """Replace chunk lengths of 0 by 1 along axes without elements, where 0 is allowed, as there are no chunks.

    >>> without_zeros([0, 0, 5], (0, 4, 9))
    [1, 0, 5]
    """
    if type(value) is not list or shape is None or 0 not in shape or len(value) != len(shape):
        return value
    return [1 if type(item) is int and item == length == 0 else item for item, length in zip(value, shape, strict=True)]
