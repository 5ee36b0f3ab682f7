"""The class `DataType`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from blizzarr.config import config
from blizzarr.dtypes import fill_json, fill_user
from blizzarr.dtypes.kinds import Kind
from blizzarr.errors import LimitError, MetadataError, Problem
from blizzarr.problems import Problems

Swap: TypeAlias = "int | tuple[tuple[int, Swap], ...]"
"""The way bytes are reversed when the byte order changes: the size of a unit in bytes (0: nothing is reversed), or for
a struct a sequence of runs, each with its length in bytes and the swap within it."""

_OBJECT_BYTES = 64
"""The assumed size in memory of a Python object, which is that of a short text."""


class Field(NamedTuple):
    """A field of a struct; with a shape, a sub-array."""

    name: str
    dtype: DataType
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DataType:
    """The type of the elements of an array.

    Made by `DataType.parse` from arguments of users, and by `DataType.from_json` from documents.

    Examples
    --------
    >>> DataType.parse("<f4")
    DataType('float32')
    >>> DataType.parse("float32").itemsize
    4
    >>> DataType.parse("r24").numpy
    dtype('V3')
    """

    name: str
    """The registered name, like ``float32``, ``r24`` or ``numpy.datetime64``."""
    numpy: np.dtype[Any]
    """The NumPy dtype in memory, in the machine's byte order; structs with fields of both orders keep them."""
    kind: Kind
    swap_unit: int = 0
    """The size in bytes of the unit that is reversed when the byte order changes; 0 for none."""
    limits: tuple[float, float] | None = None
    """The least and the greatest finite value of numbers."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()
    """The fields of a struct, in order."""

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.numpy.itemsize

    @property
    def usual_bytes(self) -> int:
        """The size of an element in bytes for estimates of memory; for Python objects, a guess."""
        return _OBJECT_BYTES if self.kind is Kind.OBJECT else self.itemsize

    @property
    def swap(self) -> Swap:
        """The way bytes are reversed when the byte order changes; 0 if nothing is reversed.

        Examples
        --------
        >>> DataType.parse("complex64").swap, DataType.parse([("a", "i4"), ("b", "u1")]).swap
        (4, ((4, 4), (1, 0)))
        >>> DataType.parse([("a", "u1"), ("b", [("c", "i2"), ("d", "u1")], (1000,))]).swap
        ((1, 0), (3000, ((2, 2), (1, 0))))
        """
        if not self.fields:
            return self.swap_unit
        if not self.is_native:
            # Structs with fields of both orders are in memory as they are stored.
            return 0
        runs = tuple(run for inner in self.fields for run in _runs(inner))
        return runs if any(unit for _, unit in runs) else 0

    @property
    def is_native(self) -> bool:
        """True if all fields are in the machine's byte order; False for structs with fields of both orders.

        NumPy's ``isnative`` ignores sub-arrays.
        """
        return all(inner.dtype.is_native for inner in self.fields) if self.fields else self.numpy.isnative

    @property
    def of_scalars(self) -> DataType:
        """The type in the machine's byte order, which is that of NumPy's scalars; structs keep that of their fields."""
        is_scalar = self.fields or self.numpy.isnative
        return self if is_scalar else replace(self, numpy=self.numpy.newbyteorder("="))

    @property
    def part(self) -> DataType:
        """The type of the numbers that an element consists of: of the parts of a complex one, else the type itself.

        Examples
        --------
        >>> DataType.parse("complex64").part, DataType.parse("complex_bfloat16").part, DataType.parse("int8").part
        (DataType('float32'), DataType('bfloat16'), DataType('int8'))
        """
        if not self.name.startswith("complex"):
            return self
        return self.fields[0].dtype if self.fields else DataType.parse(f"f{self.itemsize // 2}")

    @property
    def boolean(self) -> bool:
        """True for booleans, whose only bytes are 0 and 1."""
        return self.kind is Kind.BOOL

    @property
    def default_fill(self) -> np.generic:
        """The default fill value of new arrays: zero, false, NaT, or empty."""
        return fill_user.default(self)

    @classmethod
    def parse(cls, value: Any) -> DataType:
        """Return the data type for a name, a NumPy dtype, or anything that NumPy converts to one.

        The byte order of a NumPy dtype is not part of the data type; it is an option of the ``bytes`` codec. Raise
        `MetadataError` if there is no such data type, an `UnknownExtensionError` if it is known but not supported.
        """
        # The tables contain instances of this class, so they are imported when first needed.
        from blizzarr.dtypes import table

        if isinstance(value, cls):
            return value
        problems = Problems()
        parsed = table.from_user(value, problems)
        problems.raise_any()
        assert parsed is not None
        return parsed

    @classmethod
    def from_json(cls, value: Any, path: str = "data_type", problems: Problems | None = None) -> DataType | None:
        """Return the data type that a v3 document names; `None` if a problem was added to `problems`.

        Raise `MetadataError` if there is no such data type, and `problems` was not given.
        """
        from blizzarr.dtypes import table

        own = problems or Problems()
        parsed = table.from_json(value, path, own)
        if problems is None:
            own.raise_any()
        return parsed

    def to_json(self) -> Any:
        """Return the JSON value for v3 documents: the name, or an object with the name and the configuration."""
        if self.name in ("struct", "structured"):
            # Sub-arrays, and fields with another byte order than the rest, have no form in v3: the names given here are
            # invalid, so that no document with such a struct is written. The old name "structured" is not written.
            fields = [{"name": inner.name, "data_type": _field_json(inner)} for inner in self.fields]
            return {"name": "struct", "configuration": {"fields": fields}}
        if self.configuration:
            return {"name": self.name, "configuration": dict(self.configuration)}
        if self.kind is Kind.RAW and self.name == f"r{self.itemsize * 8}":
            # zarr-python does not know the r24 of the specification, and TensorStore reads both.
            return {"name": "raw_bytes", "configuration": {"length_bytes": self.itemsize}}
        return self.name

    def fill_from_json(
        self, value: Any, path: str = "fill_value", problems: Problems | None = None, endian: str | None = "little"
    ) -> Any:
        """Return the scalar for the fill value of a v3 document, exact to the bit; `None` if a problem was added.

        `endian` is the byte order of stored elements, for structs that are given as the bytes of an element.
        """
        own = problems or Problems()
        scalar = fill_json.decode(self, value, path, own, endian)
        if problems is None:
            own.raise_any()
        return scalar

    def fill_to_json(self, value: np.generic) -> Any:
        """Return the fill value as a v3 document has it."""
        return fill_json.encode(self, value)

    def fill_bytes(self, value: np.generic) -> bytes:
        """Return the bytes of a fill value as an element in memory has them, including trailing zeros of text.

        For elements of variable length, these are the eight zeros of its token. See `check_length` for errors.
        """
        if self.kind is Kind.OBJECT:
            return bytes(8)
        self.check_length()
        return np.asarray(value, self.numpy).tobytes()

    def check_length(self) -> None:
        """Raise `LimitError` if elements are longer than `config.element_bytes`."""
        if self.itemsize > config.element_bytes:
            raise LimitError(
                f"expected elements of at most {config.element_bytes:,} bytes, found {self.itemsize:,} ({self.name}); "
                "if they are meant to be so long, raise blizzarr.config.element_bytes"
            )

    def fill_identity(self, value: Any) -> bytes:
        """Return bytes that are equal for equal fill values only: the bits, and for objects their type and text.

        Examples
        --------
        >>> dtype = DataType.parse("object")
        >>> dtype.fill_identity(0) == dtype.fill_identity(False)
        False
        """
        if self.kind is Kind.OBJECT:
            return f"{type(value).__name__} {value!r}".encode("utf-8", "surrogatepass")
        return self.fill_bytes(value)

    def fill(self, value: Any) -> np.generic:
        """Convert a fill value given by a user; `None` means the default.

        Raise `MetadataError` if it has another type, is out of range, or would be rounded to another value.

        >>> DataType.parse("uint8").fill(300)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        blizzarr.errors.MetadataError: ...: fill_value: expected an integer in [0, 255], found 300
        """
        try:
            return fill_user.convert(self, value)
        except fill_user.RefusedError as refused:
            raise MetadataError(problems=[Problem("fill_value", refused.expected, refused.found)]) from refused

    def __hash__(self) -> int:
        # Names are nearly unique, and data types are looked up often.
        return hash(self.name)

    def __repr__(self) -> str:
        return f"DataType({self.to_json()!r})"

    def __str__(self) -> str:
        return str(self.numpy) if self.configuration or self.fields else self.name

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.name, self.numpy, self.kind, self.swap_unit, self.limits, dict(self.configuration), self.fields)
        return DataType, values


def _runs(inner: Field) -> Iterator[tuple[int, Swap]]:
    count, swap = prod(inner.shape), inner.dtype.swap
    if isinstance(swap, tuple) and count == 1:
        yield from swap
    else:
        yield inner.dtype.itemsize * count, swap


def _field_json(inner: Field) -> Any:
    if inner.shape:
        return {"name": "subarray", "configuration": {"data_type": inner.dtype.to_json(), "shape": list(inner.shape)}}
    if not inner.dtype.is_native:
        return {"name": "swapped", "configuration": {"data_type": inner.dtype.to_json()}}
    return inner.dtype.to_json()


# Elements of variable length, which are Python objects in memory.

STRING: Final = DataType("string", np.dtype(object), Kind.OBJECT)
"""Elements that are `str` (zarr-extensions)."""
BYTES: Final = DataType("bytes", np.dtype(object), Kind.OBJECT)
"""Elements that are `bytes` (zarr-extensions); zarr-python calls them ``variable_length_bytes``."""
OBJECT: Final = DataType("object", np.dtype(object), Kind.OBJECT)
"""Any elements, Zarr v2's ``|O``: only the codec knows their type."""
