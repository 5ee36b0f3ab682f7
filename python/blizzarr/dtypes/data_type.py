"""The one class of data types: a row of a table, as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from blizzarr.config import config
from blizzarr.dtypes import fill_json, fill_user
from blizzarr.dtypes.kinds import Kind
from blizzarr.errors import LimitError, MetadataError, Problem
from blizzarr.problems import Problems

__all__ = ["DataType", "Field", "Swap"]

Swap: TypeAlias = "int | tuple[tuple[int, Swap], ...]"
"""What is reversed when the byte order changes: units of so many bytes (0: nothing), or for the elements of a struct
runs of a length in bytes and what is reversed in it."""

_OBJECT_BYTES = 64
"""A short text in memory."""


class Field(NamedTuple):
    """A field of a struct; with a shape, several elements of its type."""

    name: str
    dtype: DataType
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DataType:
    """The type of the elements of an array.

    Obtained by `DataType.parse` (from what users say) or `DataType.from_json` (from documents).

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
    """The type in memory, in the machine's byte order; only fields of a struct that has both keep theirs."""
    kind: Kind
    swap_unit: int = 0
    """The bytes that are reversed when the byte order changes: half a complex number; 0 when none applies."""
    limits: tuple[float, float] | None = None
    """The least and the greatest finite value, for numbers."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()
    """The fields of a struct, in order."""

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.numpy.itemsize

    @property
    def usual_bytes(self) -> int:
        """Bytes per element to reckon with; those of objects, of which memory holds the address only, are a guess."""
        return _OBJECT_BYTES if self.kind is Kind.OBJECT else self.itemsize

    @property
    def swap(self) -> Swap:
        """What is reversed when the byte order changes; 0 where there is nothing to reverse.

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
            # Fields of both orders are in memory as they are stored.
            return 0
        runs = tuple(run for inner in self.fields for run in _runs(inner))
        return runs if any(unit for _, unit in runs) else 0

    @property
    def is_native(self) -> bool:
        """Whether everything is in the machine's byte order: not so in structs whose fields have both.

        What NumPy says of a struct leaves out fields of several elements.
        """
        return all(inner.dtype.is_native for inner in self.fields) if self.fields else self.numpy.isnative

    @property
    def boolean(self) -> bool:
        """Whether the only bytes are 0 and 1."""
        return self.kind is Kind.BOOL

    @property
    def default_fill(self) -> np.generic:
        """What new arrays are filled with unless told otherwise: zero, false, or not-a-time."""
        return fill_user.default(self)

    @classmethod
    def parse(cls, value: Any) -> DataType:
        """The data type that a user means: a name, a NumPy dtype or anything NumPy takes for one.

        The byte order of a NumPy dtype is not part of the data type; it is an option of the ``bytes`` codec.
        """
        # The tables make values of this class, so they are imported when first needed.
        from blizzarr.dtypes import table

        if isinstance(value, cls):
            return value
        problems = Problems()
        found = table.from_user(value, problems)
        problems.raise_any()
        assert found is not None
        return found

    @classmethod
    def from_json(cls, value: Any, path: str = "data_type", problems: Problems | None = None) -> DataType | None:
        """The data type that a v3 document names; `None` when a problem was added."""
        from blizzarr.dtypes import table

        if problems is not None:
            return table.from_json(value, path, problems)
        problems = Problems()
        found = table.from_json(value, path, problems)
        problems.raise_any()
        return found

    def to_json(self) -> Any:
        """What a v3 document says: the name, or an object with the name and the configuration."""
        if self.fields:
            # Fields of several elements, and of another byte order than the rest, have no form in v3: names that no
            # document may have keep such a struct from becoming one. Nor are there new ones by the old name.
            fields = [{"name": inner.name, "data_type": _field_json(inner)} for inner in self.fields]
            return {"name": "struct", "configuration": {"fields": fields}}
        if self.configuration:
            return {"name": self.name, "configuration": dict(self.configuration)}
        return self.name

    def fill_from_json(
        self,
        value: Any,
        path: str = "fill_value",
        problems: Problems | None = None,
        endian: str | None = "little",
    ) -> Any:
        """The scalar that a v3 document's fill value means, exact to the bit; `None` when a problem was added.

        `endian` is the byte order of stored elements, where a struct is given as the bytes of one.
        """
        if problems is not None:
            return fill_json.decode(self, value, path, problems, endian)
        problems = Problems()
        found = fill_json.decode(self, value, path, problems, endian)
        problems.raise_any()
        return found

    def fill_to_json(self, value: np.generic) -> Any:
        """The fill value as a document says it."""
        return fill_json.encode(self, value)

    def fill_bytes(self, value: np.generic) -> bytes:
        """The bytes of a fill value as one element has them in memory; scalars of text leave out trailing zeros.

        For elements of variable length those of the token that stands for it: zeros.

        Raises
        ------
        LimitError
            When they are more than `config.element_bytes`.
        """
        if self.kind is Kind.OBJECT:
            return bytes(8)
        self.check_length()
        return np.asarray(value, self.numpy).tobytes()

    def check_length(self) -> None:
        """Refuse to make elements of more than `config.element_bytes`.

        Raises
        ------
        LimitError
            Then.
        """
        if self.itemsize > config.element_bytes:
            raise LimitError(
                f"expected elements of at most {config.element_bytes:,} bytes, found {self.itemsize:,} ({self.name}); "
                "if they are meant to be so long, raise blizzarr.config.element_bytes"
            )

    def fill_identity(self, value: Any) -> bytes:
        """What tells fill values apart: the bits, and of objects the type and the text.

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
        """The scalar that a user means by a fill value; `None` means the default.

        Raises
        ------
        MetadataError
            When the value is of another type, or out of range.

        Examples
        --------
        >>> DataType.parse("uint8").fill(300)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        blizzarr.errors.MetadataError: ...: fill_value: expected an integer in [0, 255], found 300
        """
        try:
            return fill_user.convert(self, value)
        except fill_user.RefusedError as refused:
            raise MetadataError(problems=[Problem("fill_value", refused.expected, refused.found)]) from refused

    def __hash__(self) -> int:
        # Names are as good as unique, and dtypes are looked up often.
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
