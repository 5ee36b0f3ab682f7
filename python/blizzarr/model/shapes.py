"""Checking the shapes of arrays and of their chunks in documents, for all formats."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from blizzarr.dtypes import DataType
from blizzarr.problems import INT64_MAX, Problems, lengths
from blizzarr.size_text import count_text

MAX_RANK: Final = 64
"""The largest number of dimensions, which is that of NumPy 2."""


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
    value: Any, path: str, array: Sequence[int] | None, dtype: DataType | None, problems: Problems, zeros: bool = True
) -> tuple[int, ...] | None:
    """Return the shape of the chunks of an array; `None` if a problem was added.

    With `zeros`, a length of 0 is allowed along axes without elements, as there are no chunks, and read as 1.

    >>> chunk_shape([0, 7, 5], "chunks", (0, 4, 9), None, Problems())
    (1, 7, 5)
    """
    if zeros and array is not None and 0 in array and type(value) is list and len(value) == len(array):
        pairs = zip(value, array, strict=True)
        value = [1 if type(item) is int and item == length == 0 else item for item, length in pairs]
    shape = lengths(value, path, problems, 1)
    if shape is None or not check_rank(value, path, array, problems):
        return None
    check_size(shape, path, dtype, problems)
    return shape


def check_rank(value: Sequence[Any], path: str, array: Sequence[int] | None, problems: Problems) -> bool:
    """Return whether there is one item for each dimension of an array; add a problem if not."""
    if array is not None and len(value) != len(array):
        problems.add(path, f"{count_text(len(array), 'length')}, one for each dimension", list(value))
        return False
    return True


def check_size(shape: Sequence[int], path: str, dtype: DataType | None, problems: Problems) -> None:
    """Add a problem for chunks of too many bytes."""
    if prod(shape) * (1 if dtype is None else dtype.numpy.itemsize) > INT64_MAX:
        problems.add(path, "chunks of fewer than 2^63 bytes", list(shape))
