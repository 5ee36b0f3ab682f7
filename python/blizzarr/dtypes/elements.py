"""A user's values as elements: texts of Arrow, nulls and masked elements, complex numbers of two narrow parts.

Of elements that may be missing, of Arrow, pandas or masked, NumPy would make NaN, other numbers, or texts like "nan".
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.dtypes import ml, optional
from blizzarr.dtypes.kinds import Kind
from blizzarr.lazy_imports import is_instance


def as_elements(value: npt.ArrayLike, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return a value as an array of this data type, as NumPy does but for values that NumPy would change.

    Nulls, None, masked elements and, among texts, NaN are missing in ``zarrs.optional``, and nothing else is; as times,
    nulls and masked elements are NaT. In complex numbers of two narrow parts a number is its real and its imaginary
    part. NumPy would set both fields of such records to the same.

    Raise `ValueError` for nulls and masked elements if elements cannot be missing, and for objects among texts that
    stand for missing ones. Raise `TypeError` for groups, mappings and what else is no array for NumPy, `OverflowError`
    for integers of Python out of range.

    >>> as_elements([1 + 2j, 3], np.dtype([("real", "f2"), ("imag", "f2")])).tolist()
    [(1.0, 2.0), (3.0, 0.0)]
    """
    value = in_memory(value)
    check_array(value)
    if count := null_count(value):
        if dtype.names == optional.FIELDS:
            value = masked_of(value)
        elif dtype.kind in "mM":
            value = with_nat(value, count)
        else:
            raise refuse_nulls(count)
    if dtype.kind in "SU" and (missing := _missing(value, is_missing)).any():
        raise refuse_nulls(int(missing.sum()))
    if dtype.names == optional.FIELDS and isinstance(value, np.ma.MaskedArray):
        return optional.of_masked(value, dtype)
    if dtype.names not in (("real", "imag"), optional.FIELDS):
        if isinstance(value, np.generic):
            # In assignments, NumPy refuses a NaN or a time among signed integers, of which `asarray` makes some number.
            element = np.empty((), dtype)
            element[()] = value
            return element
        if dtype.kind == "V" and not hasattr(value, "dtype"):
            _check_range(value, dtype)
        return np.asarray(value, dtype)
    numbers = np.asarray(value)
    kind, may_be_missing = numbers.dtype.kind, dtype.names == optional.FIELDS
    if numbers.dtype.names is not None or (kind in "OSTU" and not may_be_missing):
        return np.asarray(value, dtype)
    is_complex = kind == "c"
    # Pairs in a list are records, of which NumPy makes one axis less.
    may_be_pairs = numbers is not value and kind != "O" and (may_be_missing or not is_complex)
    if may_be_pairs and (records := np.asarray(value, dtype)).shape != numbers.shape:
        return records
    if may_be_missing:
        mask = _missing(numbers, is_missing if dtype["value"].kind in "SU" else _is_null)
        return optional.of_masked(np.ma.array(numbers, mask=mask), dtype)
    made = np.zeros(numbers.shape, dtype)
    made["real"] = numbers.real if is_complex else numbers
    if is_complex:
        made["imag"] = numbers.imag
    return made


def _check_range(value: npt.ArrayLike, dtype: np.dtype[Any]) -> None:
    """Raise `OverflowError` for Python's integers that one of 2 or 4 bits would wrap around; NumPy does for its own."""
    if ml.ROWS.get(dtype.name, (None,))[0] is not Kind.INTEGER:
        return
    limits, given = ml.limits(dtype, Kind.INTEGER, import_module("ml_dtypes")), np.asarray(value)
    if limits is None or given.dtype.kind not in "iu" or not given.size:
        return
    low, high = limits
    for found in (given.min(), given.max()):
        if not low <= found <= high:
            raise OverflowError(f"Python integer {found} out of bounds for {dtype.name}")


def check_array(value: object) -> None:
    """Check that NumPy takes a value for an array, not its names, its repr or one object after another.

    Of a mapping NumPy would take the names, an iterator would be a single object, and of an `AnnData` it would make a
    table of each element.

    >>> check_array({"a": 1})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    TypeError: expected an array or nested lists, found dict, of which NumPy would take the names; ...
    >>> check_array(iter([1]))
    Traceback (most recent call last):
    ...
    TypeError: expected an array or nested lists, found list_iterator; pass list(...) of it
    """
    if hasattr(value, "__fspath__"):
        raise TypeError("expected an array, found a path; blizzarr.copy(path, ...) copies what is stored there")
    if is_instance(value, "xarray:Dataset"):
        raise TypeError("expected an array, found a dataset of xarray, which blizzarr.xarray.to_zarr stores")
    if getattr(value, "shape", ()) is None:
        raise TypeError(
            f"expected an array, found {type(value).__name__} without elements: its shape is None; leave it out"
        )
    if hasattr(value, "__array__") or isinstance(value, _PLAIN):
        return
    found = f"expected an array or nested lists, found {type(value).__name__}"
    if callable(getattr(value, "keys", None)):
        several = "; pass one of its arrays, or all of them to blizzarr.save(path, **arrays)"
        raise TypeError(f"{found}, of which NumPy would take the names{several}")
    if hasattr(value, "__next__") or isinstance(value, set | frozenset):
        raise TypeError(f"{found}; pass list(...) of it")
    is_array = _is_exported(value)
    method = next((name for name in _METHODS if callable(getattr(value, name, None))), None)
    # One element after the other is what NumPy reads of arrays that are sequences, like those of z5py.
    is_array |= method is None and all(hasattr(value, name) for name in _OF_SEQUENCES)
    if not is_array and (method or hasattr(value, "shape")):
        advice = "pass one of its arrays" if method is None else f"pass what its method {method}() returns"
        raise TypeError(f"{found}, which is no array for NumPy; {advice}")


_PLAIN = (int, float, complex, str, bytes, list, tuple, type(None))
_NA = "NAType"
_OF_SEQUENCES = ("dtype", "shape", "__len__", "__getitem__")
"""What sequences have that are arrays; tables have no `dtype`."""
_METHODS = ("toarray", "asarray")
"""Methods of other libraries that make an array, like those of SciPy's sparse arrays and of tifffile."""


def _is_exported(value: Any) -> bool:
    """Return whether NumPy finds the memory of a value's elements without ``__array__``."""
    if hasattr(value, "__array_interface__") or hasattr(value, "__array_struct__"):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def in_memory(value: Any) -> Any:
    """Return an array of which NumPy would not find the elements, or not the mask, as one of NumPy's.

    These are masked arrays of Dask, which are computed, and arrays that only DLPack exchanges. Any other value is
    returned as it is.

    Raise `TypeError` for an array of DLPack that NumPy cannot have: in the memory of another device, for example.
    """
    if isinstance(value, (*_PLAIN, np.ndarray)):
        return value
    is_masked = is_instance(getattr(value, "_meta", None), "numpy.ma:MaskedArray")
    if is_masked and is_instance(value, "dask.array:Array"):
        return value.compute()
    if hasattr(value, "__array__") or not hasattr(value, "__dlpack__") or _is_exported(value):
        return value
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError) as error:
        expected = "an array in the memory of the CPU, of a data type that NumPy has"
        raise TypeError(f"expected {expected}, found {type(value).__name__} ({error}); copy or convert it") from error


def null_count(value: Any) -> int:
    """Return how many elements of an array of Arrow or pandas are null, or of a masked one masked; 0 for anything else.

    >>> null_count([1, None]), null_count(np.ma.masked_equal([1, 2, 1], 1))
    (0, 2)
    """
    # The first write of a process need not import the module: what is masked has done so.
    if is_instance(value, "numpy.ma:MaskedArray"):
        # Fields are masked each by itself.
        return int(np.count_nonzero(np.ma.getmaskarray(value).reshape(-1).view(bool)))
    if isinstance(value, np.ndarray):
        return 0
    if _has_na(value):
        return int(value.isna().sum())
    count = getattr(value, "null_count", 0)
    number = count() if callable(count) else count
    return number if isinstance(number, int) else 0


def refuse_nulls(count: int) -> ValueError:
    """Return the error about nulls, or masked elements, where there is no place for them.

    >>> str(refuse_nulls(2)).partition("; ")[0]
    'expected elements, found 2 that are null or masked'
    """
    are = "is" if count == 1 else "are"
    found = f"expected elements, found {count:,} that {are} null or masked"
    return ValueError(f"{found}; fill them, or {optional.ADVICE}")


def with_nat(value: Any, count: int) -> npt.NDArray[Any]:
    """Return times of which `count` are null or masked as an array with NaT in their places.

    Raise `ValueError` if the elements are no times.

    >>> with_nat(np.ma.masked_equal(np.array([1, 2], "M8[Y]"), np.datetime64("1971")), 1)
    array([ 'NaT', '1972'], dtype='datetime64[Y]')
    """
    times = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
    if times.dtype.kind not in "mM":
        raise refuse_nulls(count)
    if not isinstance(times, np.ma.MaskedArray):
        return times
    # NumPy deprecates a NaT without the unit of the times.
    nat: Any = np.array("NaT", times.dtype)[()]
    return times.filled(nat)


def _missing(value: Any, rule: Callable[[Any], bool]) -> npt.NDArray[np.bool_]:
    """Return which objects are missing by a rule.

    >>> _missing(["a", None, float("nan"), 1], is_missing), _missing(np.array([1, float("nan")]), is_missing)
    (array([False,  True,  True, False]), array(False))
    """
    objects = np.asarray(value, None if hasattr(value, "dtype") else object)
    if objects.dtype.kind not in "OT":
        return np.array(False)
    objects = objects.astype(object, copy=False)
    return np.fromiter(map(rule, objects.flat), bool, objects.size).reshape(objects.shape)


def _is_null(element: Any) -> bool:
    """Return whether an object is None, or the ``NA`` of pandas: nothing else is missing among numbers and times."""
    return element is None or type(element).__name__ == _NA


def is_missing(element: Any) -> bool:
    """Return whether an object stands for a missing text: None, NaN, or another that does not equal itself."""
    try:
        return element is None or bool(element != element)
    except TypeError:
        return True  # that of pandas, which does not say whether it equals itself
    except ValueError:
        return False  # an array, of which each element does


def masked_of(value: Any) -> np.ma.MaskedArray[Any, Any]:
    """Return the masked array for an array of Arrow or pandas with nulls, or for a masked one."""
    if isinstance(value, np.ma.MaskedArray):
        return value
    if _has_na(value):
        mask = np.asarray(value.isna())
        there = np.asarray(value[~mask])
        made = np.zeros(mask.shape, there.dtype)
        made[~mask] = there
        return np.ma.array(made, mask=mask)
    return np.ma.array(np.asarray(value.fill_null(0)), mask=np.asarray(value.is_null()))


def _has_na(value: Any) -> bool:
    """Return whether a value is of pandas, with a data type that has its ``NA``."""
    return type(getattr(getattr(value, "dtype", None), "na_value", None)).__name__ == _NA


def texts_of(value: Any) -> npt.NDArray[Any] | None:
    """Return the texts of an array of Arrow as an array of NumPy's `StringDType`.

    Return None for what has no texts or has nulls among them, and for polars without pyarrow.

    >>> texts_of(["a", "b"])
    """
    if type(value).__module__.partition(".")[0] not in ("pyarrow", "polars"):
        return None
    try:
        arrow: Any = import_module("pyarrow")
    except ImportError:
        return None
    if null_count(value) or not (hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")):
        return None
    texts = arrow.chunked_array(value if hasattr(value, "__arrow_c_stream__") else [value])
    if texts.type not in (arrow.string(), arrow.large_string(), arrow.string_view()):
        return None
    made = np.empty(len(texts), np.dtypes.StringDType())
    start = 0
    for piece in texts.cast(arrow.large_string()).chunks:
        _, offsets, joined = piece.buffers()
        if len(piece):
            places = np.frombuffer(offsets, np.int64)[piece.offset : piece.offset + len(piece) + 1]
            _native.texts_put(places, joined or b"", made[start : start + len(piece)])
        start += len(piece)
    return made
