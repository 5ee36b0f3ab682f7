"""The module ``zarr.dtype``: data types as zarr-python shows them, a class for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np

from blizzarr.dtypes import DataType
from blizzarr.dtypes.table import NUMBERS
from blizzarr.zarr.abc.metadata import Metadata
from blizzarr.zarr.errors import translated

__all__ = [
    *("Bool", "Complex64", "Complex128", "DateTime64", "FixedLengthUTF32", "Float16", "Float32", "Float64"),
    *("Int8", "Int16", "Int32", "Int64", "NullTerminatedBytes", "RawBytes", "Struct", "Structured", "TimeDelta64"),
    *("UInt8", "UInt16", "UInt32", "UInt64", "VariableLengthBytes", "VariableLengthUTF8", "ZDType"),
    *("data_type_registry", "parse_data_type", "parse_dtype"),
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
    _shown: ClassVar[tuple[str, ...]] = ()
    _object_codec: ClassVar[str | None] = None
    _native: np.dtype[Any]

    def __init__(self, native: Any = None, *, endianness: Order = "little", **options: Any) -> None:
        dtype = np.dtype(self._native if native is None else native)
        self._native = dtype if endianness == "little" or dtype.byteorder == "|" else dtype.newbyteorder(">")
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
        return {"name": self._v2_name, "object_codec_id": self._object_codec}

    @property
    def _v2_name(self) -> Any:
        return self._native.str

    @classmethod
    def from_json(cls, data: Any, *, zarr_format: int = 3) -> ZDType:
        """Return the data type for what documents of a format have."""
        return parse_dtype(data, zarr_format=zarr_format)

    def default_scalar(self) -> Any:
        """Return the fill value that new arrays get."""
        return DataType.parse(self.engine).default_fill

    def to_json_scalar(self, data: Any, *, zarr_format: int = 3) -> Any:
        """Return a value as the JSON of a fill value."""
        kind = DataType.parse(self.engine)
        return kind.fill_to_json(kind.fill(data))

    def from_json_scalar(self, data: Any, *, zarr_format: int = 3) -> Any:
        """Return the scalar for the JSON of a fill value."""
        return DataType.parse(self.engine).fill_from_json(data)

    def cast_scalar(self, data: Any) -> Any:
        """Return a value as a scalar of this data type."""
        return np.array(data, self._native)[()]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._native == other._native

    def __hash__(self) -> int:
        return hash((type(self), str(self._native)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._shown)
        return f"{type(self).__name__}({shown})"


_CLASSES: Final[dict[str, Any]] = {
    name: type(
        name.title().replace("Ui", "UI"),
        (ZDType,),
        {
            "_zarr_v3_name": name,
            "_native": np.dtype(name),
            "_shown": ("endianness",) if np.dtype(name).itemsize > 1 else (),
            "__module__": __name__,
            "__doc__": f"The data type ``{name}``.",
        },
    )
    for name in NUMBERS
}
"""The classes of numbers by name."""

Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, *_inexact = _CLASSES.values()
Float16, Float32, Float64, Complex64, Complex128 = _inexact


class _Coded(ZDType):
    code: ClassVar[str]


class _Time(_Coded):
    _shown = ("endianness", "scale_factor", "unit")

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

    _zarr_v3_name, code = "numpy.datetime64", "M8"


class TimeDelta64(_Time):
    """The data type ``numpy.timedelta64``."""

    _zarr_v3_name, code = "numpy.timedelta64", "m8"


class _Fixed(_Coded):
    _shown: ClassVar[tuple[str, ...]] = ("length",)

    def __init__(self, native: Any = None, *, length: int = 1, **rest: Any) -> None:
        super().__init__(f"{self.code}{length}" if native is None else native, **rest)

    @property
    def length(self) -> int:
        """The number of characters, or of bytes."""
        return self._native.itemsize // (4 if self.code == "U" else 1)


class FixedLengthUTF32(_Fixed):
    """Texts of a fixed length."""

    _zarr_v3_name, code = "fixed_length_utf32", "U"
    _shown = ("length", "endianness")


class NullTerminatedBytes(_Fixed):
    """Byte strings of at most a length."""

    _zarr_v3_name, code = "null_terminated_bytes", "S"


class RawBytes(_Fixed):
    """Bytes of a fixed length."""

    _zarr_v3_name, code = "raw_bytes", "V"


class Structured(ZDType):
    """Records."""

    _zarr_v3_name, _shown = "structured", ("fields",)

    def __init__(self, native: Any = None, *, fields: Sequence[tuple[str, ZDType]] = (), **rest: Any) -> None:
        records = [(name, kind.to_native_dtype()) for name, kind in fields]
        super().__init__(records if native is None else native, **rest)

    def cast_scalar(self, data: Any) -> Any:
        """Return a sequence of values, or the bytes of them, as a record."""
        if isinstance(data, bytes):
            return np.frombuffer(data, self._native)[0]
        return np.array([tuple(data)], self._native)[0]

    @property
    def fields(self) -> tuple[tuple[str, ZDType], ...]:
        """The names of the fields, each with its data type."""
        return tuple((name, of_numpy(self._native[name])) for name in self._native.names or ())

    @property
    def _v2_name(self) -> Any:
        return [[name, kind.to_json(2)["name"]] for name, kind in self.fields]


Struct = Structured
"""Newer releases of zarr-python write records under this name."""


class _Variable(ZDType):
    engine: Any = None


class VariableLengthUTF8(_Variable):
    """Texts of any length."""

    _zarr_v3_name, _object_codec, _v2_name, engine = "string", "vlen-utf8", "|O", str
    _native: np.dtype[Any] = np.dtypes.StringDType()


class VariableLengthBytes(_Variable):
    """Byte strings of any length."""

    _zarr_v3_name, _object_codec, _v2_name, engine = "variable_length_bytes", "vlen-bytes", "|O", bytes
    _native = np.dtype(object)


class Other(_Variable):
    """A data type that zarr-python has no class for."""

    _zarr_v3_name, _shown = "other", ("engine",)

    def __init__(self, kind: DataType) -> None:
        super().__init__(kind.numpy)
        self.engine = kind


def of_engine(kind: DataType, endian: str | None = "little") -> ZDType:
    """Return the class of zarr-python for a data type of blizzarr, with the byte order that elements are stored in."""
    if kind.name == "string":
        return VariableLengthUTF8()
    if kind.name in ("bytes", "variable_length_bytes"):
        return VariableLengthBytes()
    is_narrow_complex = kind.fields and kind.part is not kind
    if kind.numpy.kind in "OT" or kind.numpy.type.__module__.startswith("ml_dtypes") or is_narrow_complex:
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
    special: list[type[_Coded]] = [*_Time.__subclasses__(), *_Fixed.__subclasses__()]
    codes: dict[str, Any] = {kind.code[0]: kind for kind in special}
    of_code = codes.get(native.kind) or _CLASSES.get(native.newbyteorder("=").name)
    if of_code is None:
        raise ValueError(f"there is no Zarr data type for {native!r}")
    return of_code(native)


def parse_dtype(dtype_spec: Any, *, zarr_format: int = 3) -> ZDType:
    """Return the data type for one of NumPy, a name, or what documents have.

    Raises
    ------
    ValueError, TypeError
        If there is none; the error is both.
    """
    if isinstance(dtype_spec, ZDType):
        return dtype_spec
    if isinstance(dtype_spec, Mapping) and "object_codec_id" in dtype_spec:
        return _of_v2(dtype_spec["name"], dtype_spec["object_codec_id"])
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
    with translated():
        return of_engine(DataType.parse(dtype_spec))


parse_data_type = parse_dtype


def _of_v2(name: Any, object_codec: str | None) -> ZDType:
    """Return the data type for what `ZDType.to_json` returns for v2."""
    for kind in (VariableLengthUTF8, VariableLengthBytes):
        if object_codec == kind._object_codec:
            return kind()
    return parse_dtype(_typed(name))


def _typed(name: Any) -> Any:
    """Return the fields of a document of v2, which are lists, as NumPy takes them."""
    if not isinstance(name, list):
        return name
    return np.dtype([(field, _typed(kind), *map(tuple, shape)) for field, kind, *shape in name])


class _Registry:
    """The classes by name."""

    contents: Final = {
        **_CLASSES,
        **{kind._zarr_v3_name: kind for kind in (FixedLengthUTF32, VariableLengthUTF8, RawBytes, NullTerminatedBytes)},
        VariableLengthBytes._zarr_v3_name: VariableLengthBytes,
        "struct": Struct,
        **{kind._zarr_v3_name: kind for kind in (DateTime64, TimeDelta64)},
    }
    """Each class once, in the order of newer releases of zarr-python."""

    def get(self, name: str) -> Any:
        """Return the class of a name."""
        return self.contents["struct" if name == Structured._zarr_v3_name else name]

    def match_dtype(self, dtype: Any) -> ZDType:
        """Return the data type for one of NumPy."""
        return of_numpy(np.dtype(dtype))

    def register(self, key: str, cls: type[Self]) -> None:
        """Refuse: the data types are those of the engine."""
        raise NotImplementedError(
            f"the data type {key!r} cannot be registered: the engine reads those of blizzarr.dtypes"
        )


data_type_registry = _Registry()
