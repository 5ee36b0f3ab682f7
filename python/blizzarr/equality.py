"""Comparing elements: which differ, and by how much."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Mask: TypeAlias = npt.NDArray[np.bool_]

_OF_OTHERS: Final = 256
"""NumPy type numbers from this one on are of other packages, whose types do not mix with NumPy's in arithmetic."""


class Tolerance(NamedTuple):
    """A tolerance: numbers are equal if they differ by at most ``atol + rtol * abs(b)``."""

    rtol: float = 0.0
    atol: float = 0.0


EXACT: Final = Tolerance()


def is_number(dtype: np.dtype[Any]) -> bool:
    """Return whether elements of this type are numbers that can be subtracted."""
    # The types of machine learning are void to NumPy.
    return dtype.kind in "iufc" or (dtype.kind == "V" and dtype.names is None and np.can_cast(dtype, np.float64))


def comparable(a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    """Return whether elements of these types can be compared."""
    if a.names or b.names:
        return a.names == b.names and all(
            comparable(a[name].base, b[name].base) and a[name].shape == b[name].shape for name in a.names or ()
        )
    numbers = [is_number(dtype) or dtype.kind == "b" for dtype in (a, b)]
    texts = [dtype.kind in "OTU" for dtype in (a, b)]
    if any(numbers) or any(texts) or a.kind != b.kind:
        return all(numbers) or all(texts)
    if a.kind in "mM":
        return _have_common_unit(a, b)
    return a.kind != "V" or a.itemsize == b.itemsize


def _have_common_unit(a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    """Return whether NumPy has a unit for both; it has none for durations of years and of days."""
    try:
        np.promote_types(a, b)
    except (TypeError, OverflowError):
        return False
    return True


def differing(a: npt.NDArray[Any], b: npt.NDArray[Any], tolerance: Tolerance = EXACT) -> Mask:
    """Return a mask of the elements that differ. NaN equals NaN.

    >>> differing(np.array([1.0, np.nan, 2.0]), np.array([1.0, np.nan, 2.5]))
    array([False, False,  True])
    """
    if a.dtype.names:
        differs = np.zeros(a.shape, np.bool_)
        for name in a.dtype.names:
            field = differing(a[name], b[name], tolerance)
            differs |= field.any(axis=tuple(range(a.ndim, field.ndim)))
        return differs
    if a.dtype.kind in "OTU" and not a.dtype.kind == b.dtype.kind == "U":
        pairs = zip(a.ravel(), b.ravel(), strict=True)
        return np.fromiter((not _same(x, y) for x, y in pairs), np.bool_, a.size).reshape(a.shape)
    if a.dtype.kind == "V" and not is_number(a.dtype):
        shape = (*a.shape, a.dtype.itemsize)
        bytes_of = (np.frombuffer(side.tobytes(), np.uint8).reshape(shape) for side in (a, b))
        return np.asarray(np.not_equal(*bytes_of).any(axis=-1), np.bool_)
    a, b = _known(a), _known(b)
    if any(tolerance) and a.dtype.kind not in "SUMm":
        if np.result_type(a, b).kind in "iu":
            return np.asarray(_distances(a, b) > tolerance.atol + tolerance.rtol * np.abs(b.astype(np.float64)))
        with np.errstate(over="ignore", invalid="ignore"):  # differences of float16; what is infinite is not close
            if _is_rounded(a) or _is_rounded(b):
                close = np.abs(_subtracted(a, b)) <= tolerance.atol + tolerance.rtol * np.abs(b.astype(_wide(b)))
                return np.asarray(~(close & np.isfinite(a) & np.isfinite(b)))
            return np.asarray(~np.isclose(a, b, rtol=tolerance.rtol, atol=tolerance.atol, equal_nan=True))
    differs = np.asarray(a != b)
    if a.dtype.kind in "iu" and b.dtype.kind in "fc":
        differs |= ~_exact(a, b)
    elif a.dtype.kind in "fc" and b.dtype.kind in "iu":
        differs |= ~_exact(b, a)
    if a.dtype.kind in "fc" and b.dtype.kind in "fc" and differs.any():
        differs &= ~(_alike(a.real, b.real) & _alike(a.imag, b.imag) if a.dtype.kind == "c" else _alike(a, b))
    elif a.dtype.kind in "mM" and differs.any():
        differs &= ~(np.isnat(a) & np.isnat(b))
    return differs


def largest(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float | int | None:
    """The largest absolute difference of numbers; None where there is none because all are not a number.

    >>> largest(np.array([-128, 0], np.int8), np.array([127, 1], np.int8))
    255
    >>> largest(np.array([2**53 + 1]), np.array([2.0**53]))
    1.0
    """
    a, b = _known(a), _known(b)
    if np.result_type(a, b).kind in "iu":
        return int(_distances(a, b).max(initial=0))
    with np.errstate(invalid="ignore", over="ignore"):
        differences = np.abs(_subtracted(a, b))
    differences = differences[~np.isnan(differences)]
    return float(differences.max()) if differences.size else None


def _distances(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the absolute differences of integers exactly, which floats would round from 2**53 on."""
    common = np.result_type(a, b)
    a, b = a.astype(common, copy=False), b.astype(common, copy=False)
    # Modulo its width a difference of integers has the right bits, read without a sign.
    return np.subtract(np.maximum(a, b), np.minimum(a, b)).view(f"u{common.itemsize}")


def _is_rounded(values: npt.NDArray[Any]) -> bool:
    """Return whether elements are integers of 64 bits, which floats round."""
    return values.dtype.kind in "iu" and values.dtype.itemsize == 8


def _wide(values: npt.NDArray[Any]) -> type[np.complex128 | np.float64]:
    return np.complex128 if values.dtype.kind == "c" else np.float64


def _subtracted(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the differences of numbers as floats; exact where integers of 64 bits are close to the other number."""
    (high, low), (other_high, other_low) = _halves(a), _halves(b)
    return np.asarray((high - other_high) + (low - other_low))


def _halves(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | float]:
    """Return two floats for each number, of which it is the exact sum."""
    if not _is_rounded(values):
        return values.astype(_wide(values)), 0.0
    low = values & 0xFFFFFFFF
    return (values - low).astype(np.float64), low.astype(np.float64)


def _known(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert numbers of `ml_dtypes` to float64, which holds all their values."""
    return values.astype(np.float64) if values.dtype.num >= _OF_OTHERS and is_number(values.dtype) else values


def _exact(integers: npt.NDArray[Any], others: npt.NDArray[Any]) -> Mask:
    """Return a mask of integers that equal floats; only for 64 bits, which NumPy rounds to floats, do values matter."""
    if integers.dtype.itemsize < 8:
        return np.ones(integers.shape, np.bool_)
    reals = others.real
    limits = np.iinfo(integers.dtype)
    # The upper limit itself is no float.
    inside = (reals >= float(limits.min)) & (reals < float(limits.max))
    equal = np.zeros(integers.shape, np.bool_)
    equal[inside] = reals[inside].astype(integers.dtype) == integers[inside]
    return equal


def _alike(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Mask:
    """Return a mask of equal real numbers, or real or imaginary parts; NaN equals NaN."""
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))


def _same(a: Any, b: Any) -> bool:
    """Return whether two Python objects are equal; NaN equals NaN."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            return False
        return a.shape == b.shape and comparable(a.dtype, b.dtype) and not differing(a, b).any()
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return a is b or bool(a == b) or bool(a != a and b != b)
