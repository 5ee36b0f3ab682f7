"""The module ``zarr.dtype``: data types as zarr-python shows them, a class for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import numpy as np

from blizzarr.dtypes import DataType
from blizzarr.zarr.abc.metadata import Metadata

__all__ = [
    "Bool",
    "Complex64",
    "Complex128",
    "DateTime64",
    "FixedLengthUTF32",
    "Float16",
    "Float32",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "NullTerminatedBytes",
    "RawBytes",
    "Structured",
    "TimeDelta64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "VariableLengthBytes",
    "VariableLengthUTF8",
    "ZDType",
    "data_type_registry",
    "parse_data_type",
    "parse_dtype",
]

Order = Literal["little", "big"]


class ZDType(Metadata):
    """A data type: that of NumPy, with a name and a byte order.

    Examples
    --------
    >>> parse_dtype(">i4", zarr_format=3)
    Int32(endianness='big')
    >>> parse_dtype(">i4", zarr_format=3).to_native_dtype()
    dtype('>i4')
    """

    _zarr_v3_name: ClassVar[str]
    _native: np.dtype[Any]

    def __init__(self, native: Any = None, *, endianness: Order = "little", **options: Any) -> None:
        found = np.dtype(self._native if native is None else native)
        self._native = found if endianness == "little" or found.byteorder == "|" else found.newbyteorder(">")
        for name, value in options.items():
            setattr(self, name, value)

    def __class_getitem__(cls, item: object) -> type[ZDType]:
        return cls

    @property
    def dtype_cls(self) -> type[np.dtype[Any]]:
        """The class of the data type of NumPy."""
        return type(self._native)

    @property
    def endianness(self) -> Order:
        """The byte order."""
        return "big" if self._native.newbyteorder("=") != self._native else "little"

    @property
    def item_size(self) -> int:
        """The size of an element in bytes."""
        return self._native.itemsize

    @property
    def engine(self) -> Any:
        """What `blizzarr.create_array` takes for this data type."""
        return self._native

    @classmethod
    def from_native_dtype(cls, dtype: Any) -> ZDType:
        """Return the data type for one of NumPy."""
        return of_numpy(np.dtype(dtype))

    def to_native_dtype(self) -> np.dtype[Any]:
        """Return the data type of NumPy."""
        return self._native

    def to_json(self, zarr_format: int) -> Any:
        """Return the data type as in documents of a format."""
        if zarr_format > 2:
            return DataType.parse(self.engine).to_json()
        return {"name": self._native.str, "object_codec_id": None}

    @classmethod
    def from_json(cls, data: Any, *, zarr_format: int = 3) -> ZDType:
        """Return the data type for what documents of a format have."""
        return parse_dtype(data, zarr_format=zarr_format)

    def default_scalar(self) -> Any:
        """Return the fill value that new arrays get."""
        return DataType.parse(self.engine).default_fill

    def cast_scalar(self, data: Any) -> Any:
        """Return a value as a scalar of this data type."""
        return self._native.type(data)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._native == other._native

    def __hash__(self) -> int:
        return hash((type(self), str(self._native)))

    def __repr__(self) -> str:
        shown = "" if self._native.itemsize < 2 or self._native.kind in "VSOT" else f"endianness={self.endianness!r}"
        return f"{type(self).__name__}({shown})"


_CLASSES: Final[dict[str, type[ZDType]]] = {}


def _row(label: str, name: str, native: str) -> Any:
    rest = {
        "_zarr_v3_name": name,
        "_native": np.dtype(native),
        "__module__": __name__,
        "__doc__": f"The data type ``{name}``.",
    }
    _CLASSES[name] = type(label, (ZDType,), rest)
    return _CLASSES[name]


Bool = _row("Bool", "bool", "?")
Int8 = _row("Int8", "int8", "i1")
Int16 = _row("Int16", "int16", "i2")
Int32 = _row("Int32", "int32", "i4")
Int64 = _row("Int64", "int64", "i8")
UInt8 = _row("UInt8", "uint8", "u1")
UInt16 = _row("UInt16", "uint16", "u2")
UInt32 = _row("UInt32", "uint32", "u4")
UInt64 = _row("UInt64", "uint64", "u8")
Float16 = _row("Float16", "float16", "f2")
Float32 = _row("Float32", "float32", "f4")
Float64 = _row("Float64", "float64", "f8")
Complex64 = _row("Complex64", "complex64", "c8")
Complex128 = _row("Complex128", "complex128", "c16")


class _Time(ZDType):
    code: ClassVar[str]

    def __init__(self, native: Any = None, *, unit: str = "generic", scale_factor: int = 1, **rest: Any) -> None:
        text = self.code if unit == "generic" else f"{self.code}[{scale_factor}{unit}]"
        super().__init__(text if native is None else native, **rest)

    @property
    def unit(self) -> str:
        """The unit."""
        return np.datetime_data(self._native)[0]

    @property
    def scale_factor(self) -> int:
        """The number of units that one step stands for."""
        return np.datetime_data(self._native)[1]


class DateTime64(_Time):
    """The data type ``numpy.datetime64``."""

    _zarr_v3_name = "numpy.datetime64"
    code = "M8"


class TimeDelta64(_Time):
    """The data type ``numpy.timedelta64``."""

    _zarr_v3_name = "numpy.timedelta64"
    code = "m8"


class _Fixed(ZDType):
    code: ClassVar[str]

    def __init__(self, native: Any = None, *, length: int = 1, **rest: Any) -> None:
        super().__init__(f"{self.code}{length}" if native is None else native, **rest)

    @property
    def length(self) -> int:
        """The number of characters, or of bytes."""
        return self._native.itemsize // (4 if self._native.kind == "U" else 1)


class FixedLengthUTF32(_Fixed):
    """Texts of a fixed length."""

    _zarr_v3_name = "fixed_length_utf32"
    code = "U"


class NullTerminatedBytes(_Fixed):
    """Byte strings of at most a length."""

    _zarr_v3_name = "null_terminated_bytes"
    code = "S"


class RawBytes(_Fixed):
    """Bytes of a fixed length."""

    _zarr_v3_name = "raw_bytes"
    code = "V"


class Structured(ZDType):
    """Records."""

    _zarr_v3_name = "structured"


class VariableLengthUTF8(ZDType):
    """Texts of any length."""

    _zarr_v3_name = "string"
    _native: np.dtype[Any] = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else np.dtype(object)

    @property
    def engine(self) -> Any:
        """What `blizzarr.create_array` takes for this data type."""
        return str


class VariableLengthBytes(ZDType):
    """Byte strings of any length."""

    _zarr_v3_name = "variable_length_bytes"
    _native = np.dtype(object)

    @property
    def engine(self) -> Any:
        """What `blizzarr.create_array` takes for this data type."""
        return bytes


class Other(ZDType):
    """A data type that zarr-python has no class for."""

    _zarr_v3_name = "other"
    _native = np.dtype(object)

    def __init__(self, kind: DataType) -> None:
        super().__init__(kind.numpy)
        self.kind = kind

    @property
    def engine(self) -> Any:
        """What `blizzarr.create_array` takes for this data type."""
        return self.kind

    def __repr__(self) -> str:
        return f"Other({self.kind!r})"


def of_engine(kind: DataType, endian: str | None = "little") -> ZDType:
    """Return the class of zarr-python for a data type of blizzarr, with the byte order that elements are stored in."""
    if kind.name == "string":
        return VariableLengthUTF8()
    if kind.name in ("bytes", "variable_length_bytes"):
        return VariableLengthBytes()
    if kind.numpy.kind in "OT" or kind.numpy.type.__module__.startswith("ml_dtypes"):
        return Other(kind)
    native = kind.numpy
    if endian == "big" and not kind.fields:
        native = native.newbyteorder(">")
    return of_numpy(native)


def of_numpy(native: np.dtype[Any]) -> ZDType:
    """Return the class of zarr-python for a data type of NumPy."""
    if native.kind == "T":
        return VariableLengthUTF8()
    if native.fields is not None:
        return Structured(native)
    special: dict[str, type[ZDType]] = {
        "M": DateTime64,
        "m": TimeDelta64,
        "U": FixedLengthUTF32,
        "S": NullTerminatedBytes,
        "V": RawBytes,
    }
    if native.kind in special:
        return special[native.kind](native)
    found = _CLASSES.get(native.newbyteorder("=").name)
    if found is None:
        raise ValueError(f"there is no Zarr data type for {native!r}")
    return found(native)


def parse_dtype(dtype_spec: Any, *, zarr_format: int = 3) -> ZDType:
    """Return the data type for one of NumPy, a name, or what documents have.

    Raises
    ------
    ValueError
        If there is none.
    """
    if isinstance(dtype_spec, ZDType):
        return dtype_spec
    if dtype_spec is str or dtype_spec in ("string", "str"):
        return VariableLengthUTF8()
    if dtype_spec is bytes:
        return VariableLengthBytes()
    if isinstance(dtype_spec, np.dtype) and dtype_spec.kind != "O":
        return of_numpy(dtype_spec)
    if isinstance(dtype_spec, str):
        try:
            return of_numpy(np.dtype(dtype_spec))
        except (TypeError, ValueError):
            pass
    return of_engine(DataType.parse(dtype_spec))


parse_data_type = parse_dtype


class _Registry:
    """The classes by name."""

    contents: Final = _CLASSES

    def get(self, name: str) -> type[ZDType]:
        """Return the class of a name."""
        return self.contents[name]

    def match_dtype(self, dtype: Any) -> ZDType:
        """Return the data type for one of NumPy."""
        return of_numpy(np.dtype(dtype))

    def register(self, key: str, cls: type[Self]) -> None:
        """Refuse: the data types are those of the engine."""
        raise NotImplementedError(
            f"the data type {key!r} cannot be registered: the engine reads those of blizzarr.dtypes"
        )


data_type_registry = _Registry()

if not TYPE_CHECKING:
    from blizzarr.zarr.advice import missing

    __getattr__ = missing(__name__)
