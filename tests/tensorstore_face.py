"""Both faces, ours and TensorStore's, asked the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours

theirs: Any = pytest.importorskip("tensorstore")

__all__ = ["NUMBERS", "TYPES", "ours", "outcome", "same", "theirs", "values_of", "without_hint"]

NUMBERS = (
    *("bool", "int2", "int4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16"),
    *("bfloat16", "float32", "float64", "float4_e2m1fn", "float8_e3m4", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "complex64", "complex128"),
)
TYPES = (*NUMBERS, "string", "ustring", "json")

_KINDS = (ValueError, IndexError, TypeError, NotImplementedError, KeyError, OverflowError)


def without_hint(text: str) -> str:
    """The text of an error without what ours adds: what may have been meant."""
    return re.sub(r"; (did you mean|there are|for a path, use) .*$", "", text, flags=re.DOTALL)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, to be compared: elements with their type and bits, or the kind and gist of an error."""
    try:
        found = call()
    except _KINDS as error:
        kind = next(each.__name__ for each in _KINDS if isinstance(error, each))
        return "error", kind, str(error).split(" [")[0].split("'")[0][:60]
    return _comparable(found)


def _comparable(found: Any) -> Any:
    if isinstance(found, np.ndarray):
        if found.dtype.hasobject:
            return found.shape, [(type(element).__name__, repr(element)) for element in found.flat]
        bits = np.ascontiguousarray(found)
        if found.dtype.name in ("int2", "int4"):
            # The bits that such an integer does not use are whatever they are.
            return found.shape, str(found.dtype), found.astype(np.int8).tolist()
        if found.dtype.kind in "fc":
            bits = np.where(np.isnan(bits), np.nan, bits).astype(found.dtype)
        return found.shape, str(found.dtype), bits.tobytes()
    return repr(found)


def same(call: Callable[[Any], Any]) -> Any:
    """What both give for the same call, which has to be the same."""
    found, expected = outcome(lambda: call(ours)), outcome(lambda: call(theirs))
    assert found == expected, f"\n{found}\n{expected}"
    return found


def values_of(name: str, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Elements of a data type, with those that are at its edges."""
    dtype = theirs.dtype(name).numpy_dtype
    count = int(np.prod(shape))
    if name in ("string", "ustring", "json"):
        pool: dict[str, list[Any]] = {
            "string": [b"a", b"", b"b", b"xyz"],
            "ustring": ["a", "", "b", "\u00fc"],
            "json": [1, "a", None, 2.5, True, {"a": [1]}],
        }
        made = np.empty(count, object)
        for place, which in enumerate(rng.integers(0, len(pool[name]), count)):
            made[place] = pool[name][which]
        return made.reshape(shape)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if name in ("int2", "int4"):
        bits = int(name[3:])
        return rng.integers(-(1 << (bits - 1)), 1 << (bits - 1), shape).astype(np.int8).astype(dtype)
    if dtype.kind in "iu":
        small = rng.integers(0, 10, shape)
        edges = rng.choice(np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype), shape)
        return np.where(rng.random(shape) < 0.5, small.astype(dtype), edges)
    numbers = rng.choice([0.0, 1.5, -2.25, 3.0, 100.0, 0.1, 7.0], shape) + rng.integers(0, 3, shape)
    if name.startswith(("float4", "float8")):
        # What is too large for them becomes an integer of no particular value.
        numbers = np.clip(numbers, -4, 7)
    if name.startswith("complex"):
        return (numbers + 1j * rng.integers(-2, 3, shape)).astype(dtype)
    return (
        np.abs(numbers).astype(np.float32).astype(dtype) if "e8m0" in name else numbers.astype(np.float32).astype(dtype)
    )
