"""Downsampling methods: one element from each block, equal to TensorStore's result to the bit.

The engine reduces the numbers that NumPy has (`_NATIVE`). Narrower numbers are converted to such a type and back, and a
complex number is reduced as two. The most frequent of other elements is counted here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.errors import SpecError
from blizzarr.json_values import dump
from blizzarr.spec.dtype import DType
from blizzarr.transfer import empty_result

_NATIVE: Final = frozenset(
    ["bool", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
)
"""The data types that the engine downsamples."""

_NO_NUMBERS: Final = ("string", "ustring", "json", "char", "byte")


def check_method(method: str, dtype: DType) -> None:
    """Raise if the method does not apply to the data type.

    >>> check_method("median", DType("complex64"))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Downsample method "median" does not support data type "complex64"
    """
    if method in ("stride", "mode"):
        return
    if dtype.name in _NO_NUMBERS or (dtype.name.startswith("complex") and method != "mean"):
        raise SpecError(f'Downsample method "{method}" does not support data type "{dtype.name}"')


def reduce_blocks(
    elements: npt.NDArray[Any],
    edges: list[npt.NDArray[np.int64]],
    method: str,
    dtype: DType,
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Compute one element for each block.

    - `elements`: all elements.
    - `edges`: for each dimension where the blocks begin, and where the last one ends.
    - `method`: one of the methods but ``"stride"``, which computes nothing.
    - `dtype`: the data type.
    - `out`: the array for the results.

    >>> edges = [np.array([0, 1]), np.array([0, 1, 3])]
    >>> reduce_blocks(np.array([[1, 2, 5]]), edges, "mean", DType("int64"))
    array([[1, 4]])
    """
    result = empty_result(tuple([len(ends) - 1 for ends in edges]), elements.dtype) if out is None else out
    if not edges:
        result[...] = elements
    elif dtype.name in _NATIVE:
        by = "mean" if dtype.name == "bool" and method in ("median", "mode") else method
        # The engine writes results side by side only.
        reduced = result if result.flags.c_contiguous else np.empty(result.shape, result.dtype)
        _reduce(elements, edges, by, dtype.name, reduced)
        if reduced is not result:
            result[...] = reduced
    elif elements.dtype.kind == "c" and method == "mean":
        real = elements.real.dtype
        means = np.empty((*result.shape, 2), real)
        _reduce(np.ascontiguousarray(elements)[..., None].view(real), [*edges, np.arange(3)], "mean", real.name, means)
        result[...] = means.view(elements.dtype)[..., 0]
    elif elements.dtype.kind == "c" or dtype.name in _NO_NUMBERS:
        for position in np.ndindex(result.shape):
            block = elements[tuple([slice(*ends[at : at + 2]) for ends, at in zip(edges, position, strict=True)])]
            result[position] = _most_frequent(block)
    else:
        wide = np.dtype(np.int8 if dtype.name.startswith("int") else np.float32)
        reduced = np.empty(result.shape, wide)
        with np.errstate(all="ignore"):
            _reduce(elements.astype(wide), edges, method, wide.name, reduced)
            if method in ("min", "max"):
                # As in TensorStore, which begins with infinity: a type without it has NaN there, and nothing else.
                first = np.array(np.inf if method == "min" else -np.inf).astype(elements.dtype).astype(wide)
                if np.isnan(first):
                    reduced[...] = first
            result[...] = reduced.astype(elements.dtype)
    return result


def _reduce(
    elements: npt.NDArray[Any], edges: list[npt.NDArray[np.int64]], method: str, name: str, result: npt.NDArray[Any]
) -> None:
    """Let the engine reduce blocks of elements of this data type."""
    # Dimensions of one element change nothing; rows of one element would take long.
    kept = [dim for dim, length in enumerate(elements.shape) if length != 1] or [0]
    side_by_side = np.ascontiguousarray(elements).reshape([elements.shape[dim] for dim in kept])
    room = result.reshape([result.shape[dim] for dim in kept])
    _native.reduce(side_by_side, room, [edges[dim] for dim in kept], method, name)


def _most_frequent(block: npt.NDArray[Any]) -> Any:
    """Return the most frequent element; of several, the first in order."""
    if not block.dtype.itemsize:
        return block.flat[0]
    same: dict[Any, list[Any]] = {}
    for element in block.reshape(-1).tolist():
        same.setdefault(_order_of(element), []).append(element)
    most = max(map(len, same.values()))
    return same[min(key for key, elements in same.items() if len(elements) == most)][0]


def _order_of(value: Any) -> tuple[int, Any]:
    """Return the sorting key of an element.

    JSON values are ordered by their kind: null, booleans, numbers, objects, arrays, strings.
    """
    if isinstance(value, complex):
        return 2, (value.real, value.imag)
    if isinstance(value, str | bytes):
        return 5, value
    if isinstance(value, dict | list):
        return (3 if isinstance(value, dict) else 4), dump(value)
    return (0, 0) if value is None else (1 if isinstance(value, bool) else 2, value)
