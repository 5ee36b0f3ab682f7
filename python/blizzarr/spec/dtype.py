"""The data types of TensorStore, by its names, and the NumPy dtypes that hold their elements."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from blizzarr.dtypes.ml import ROWS
from blizzarr.errors import SpecError
from blizzarr.json_members import as_text
from blizzarr.json_values import plain, quote

DTypeLike: TypeAlias = Any
"""A `DType`, a name of one, a NumPy dtype, or a Python type that NumPy has a dtype for."""

_NUMPY: Final[dict[str, str]] = {
    "bool": "?",
    "char": "S",
    "byte": "V",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")},
    **{name: name for name in ("float16", "float32", "float64", "complex64", "complex128")},
    "string": "O",
    "ustring": "O",
    "json": "O",
}
_LACKING: Final = ("uint2", "uint4", "float6_e2m3fn", "float6_e3m2fn", "float8_e4m3")
ML_NAMES: Final = tuple(name for name in ROWS if name not in _LACKING)
"""The data types that NumPy lacks, and TensorStore has. The
package ``ml_dtypes``, which has them, is imported when one of them is used."""

_TYPES: Final[dict[str, type]] = {"string": bytes, "ustring": str}


class DType:
    """A data type, like ``ts.int32`` or ``ts.dtype("bfloat16")``.

    Equal to whatever means the same data type; anything that means none cannot be compared with it.

    Examples
    --------
    >>> DType("int32"), DType(np.dtype(">f8")), DType(bool), DType(str)
    (dtype("int32"), dtype("float64"), dtype("bool"), dtype("ustring"))
    >>> DType("uint8") == np.uint8, DType("uint8")(5)
    (True, np.uint8(5))
    """

    __slots__ = ("_name",)

    def __init__(self, dtype: DTypeLike) -> None:
        self._name = _name_of(dtype)

    @property
    def name(self) -> str:
        """The name, which is also its JSON."""
        return self._name

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy data type that holds the elements; that of objects for elements of variable length.

        Examples
        --------
        >>> DType("int4").numpy_dtype, DType("json").numpy_dtype
        (dtype(int4), dtype('O'))
        """
        if self._name in _NUMPY:
            return np.dtype(_NUMPY[self._name])
        try:
            dtype: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), self._name))
        except (ImportError, AttributeError) as error:
            reason = f"{self._name} needs the package ml_dtypes: pip install 'blizzarr[ml]'"
            raise SpecError(reason) from error
        return dtype

    @property
    def type(self) -> type:
        """The Python type of an element.

        Examples
        --------
        >>> DType("float32").type, DType("string").type
        (<class 'numpy.float32'>, <class 'bytes'>)
        """
        return _TYPES.get(self._name) or self.numpy_dtype.type

    def __call__(self, arg: Any) -> Any:
        """Make an element of this type."""
        if self._name == "json":
            return plain(arg)
        return self.type(arg)

    def to_json(self) -> str:
        """Return the name."""
        return self._name

    def __eq__(self, other: object) -> bool:
        return self._name == (other._name if isinstance(other, DType) else _name_of(other))

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f'dtype("{self._name}")'

    def __reduce__(self) -> tuple[Any, ...]:
        return DType, (self._name,)


def _name_of(value: DTypeLike) -> str:
    if isinstance(value, DType):
        return value.name
    if isinstance(value, str):
        if value in _NUMPY or value in ML_NAMES:
            return value
        raise SpecError(f"No TensorStore data type with name: {quote(value)}")
    if value is str:
        return "ustring"
    if value is bytes:
        return "string"
    if not isinstance(value, np.dtype | type):
        raise TypeError(f"expected a data type, its name, a NumPy dtype or a type of Python, found {value!r}")
    return _name_of_numpy(np.dtype(value))


@lru_cache(256)
def _name_of_numpy(dtype: np.dtype[Any]) -> str:
    if (dtype.name in _NUMPY and dtype.kind != "O") or dtype.name in ML_NAMES:
        return dtype.name
    # Whatever their length, also where they have fields.
    if dtype.type is np.bytes_:
        return "char"
    if dtype.type is np.void:
        return "byte"
    raise SpecError(f"No TensorStore data type corresponding to NumPy dtype: {dtype!r}")


DTYPES: Final = {name: DType(name) for name in (*_NUMPY, *ML_NAMES)}


def as_dtype(value: DTypeLike) -> DType:
    return value if isinstance(value, DType) else DTYPES[_name_of(value)]


def element_dtype(dtype: DType) -> np.dtype[Any]:
    """Return the NumPy data type of one element: `numpy_dtype`, but with length 1 for texts and bytes of length 0.

    >>> element_dtype(DType("char")), element_dtype(DType("byte")), element_dtype(DType("int8"))
    (dtype('S1'), dtype('V1'), dtype('int8'))
    """
    numpy_dtype = dtype.numpy_dtype
    return numpy_dtype if numpy_dtype.itemsize else np.dtype(f"{numpy_dtype.char}1")


def dtype_json(value: Any) -> DType:
    name = as_text(value)
    if name not in DTYPES:
        raise SpecError(f"Unsupported data type: {quote(name)}")
    return DTYPES[name]
