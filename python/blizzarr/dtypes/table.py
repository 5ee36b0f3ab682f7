"""The table of data types, and looking up names and NumPy dtypes.

=====================================  ===========================================  ==========================
names                                  source                                       built by
=====================================  ===========================================  ==========================
bool, int8 ... complex128              Zarr v3 core, "Data types"                   `_ROWS`
complex_float32, complex_float64       zarr-extensions, other names for two rows    `_ALIASES`
r8, r16, r24, ...                      Zarr v3 core, raw bits                       `_raw`
raw_bytes                              zarr-python, another name of raw bits        `_raw`
bfloat16, int4, float8_e5m2, ...       zarr-extensions, need ``ml_dtypes``          `blizzarr.dtypes.ml`
complex_bfloat16, complex_float8_...   zarr-extensions                              `blizzarr.dtypes.ml`
numpy.datetime64, numpy.timedelta64    zarr-extensions                              `blizzarr.dtypes.time`
null_terminated_bytes                  zarr-python                                  `blizzarr.dtypes.fixed`
fixed_length_utf32                     zarr-extensions                              `blizzarr.dtypes.fixed`
struct, structured                     zarr-extensions                              `blizzarr.dtypes.struct`
zarrs.optional                         zarrs                                        `blizzarr.dtypes.optional`
string, bytes                          zarr-extensions                              `blizzarr.dtypes.data_type`
any other                              users and other packages                     `OWN`
variable_length_bytes                  zarr-python, another name of bytes           `_ALIASES`
binary                                 older writers, another name of bytes         `_ALIASES`
=====================================  ===========================================  ==========================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from blizzarr.dtypes import fixed, ml, optional, struct, time
from blizzarr.dtypes.data_type import BYTES, OBJECT, STRING, DataType
from blizzarr.dtypes.kinds import Kind
from blizzarr.errors import BlizzarrError, Problem
from blizzarr.keywords import nearest
from blizzarr.open_table import OpenTable
from blizzarr.problems import Problems, extension
from blizzarr.suppliers import SUPPLIERS

MAX_RAW_BYTES: Final = 2**31 - 1
"""The size in bytes of the widest element that NumPy can hold."""

_ROWS: Final = (
    # name, kind, bytes that swap (0: none)
    ("bool", Kind.BOOL, 0),
    ("int8", Kind.INTEGER, 0),
    ("int16", Kind.INTEGER, 2),
    ("int32", Kind.INTEGER, 4),
    ("int64", Kind.INTEGER, 8),
    ("uint8", Kind.INTEGER, 0),
    ("uint16", Kind.INTEGER, 2),
    ("uint32", Kind.INTEGER, 4),
    ("uint64", Kind.INTEGER, 8),
    ("float16", Kind.FLOAT, 2),
    ("float32", Kind.FLOAT, 4),
    ("float64", Kind.FLOAT, 8),
    ("complex64", Kind.COMPLEX, 4),
    ("complex128", Kind.COMPLEX, 8),
)
_OFTEN_MEANT: Final = (*(name for name, _, _ in _ROWS), "string", "bytes")
"""Names that are suggested where one is misspelled."""
NUMBERS: Final = tuple(row[0] for row in _ROWS)
"""The names of the numbers and booleans that NumPy has."""
_ALIASES: Final = {
    "binary": "bytes",
    "complex_float32": "complex64",
    "complex_float64": "complex128",
    "variable_length_bytes": "bytes",
}


def _row(name: str, kind: Kind, swap_unit: int) -> DataType:
    dtype = np.dtype(name)
    return DataType(name, dtype, kind, swap_unit, ml.limits(dtype, kind, np))


OWN: Final = OpenTable[Any](
    "blizzarr.data_types", {}, of_others=("zarr.data_type", "blizzarr.dtypes.zarr_python:adapted")
)
"""The data types of users and other packages by name; or functions that make one of the options."""
_CONFIGURED: Final = {*time.NAMES, *fixed.NAMES, *struct.NAMES, optional.NAME}
_TABLE: Final[dict[str, DataType]] = {row[0]: _row(*row) for row in _ROWS}
_TABLE.update({dtype.name: dtype for dtype in (STRING, BYTES)})
_TABLE.update({alias: _TABLE[name] for alias, name in _ALIASES.items()})


def from_json(value: Any, path: str, problems: Problems, depth: int = 0) -> DataType | None:
    """Return the data type that a v3 document names, within `depth` structs; `None` if a problem was added."""
    if type(value) is str and (row := _TABLE.get(value)) is not None:
        return row
    named = extension(value, path, problems, "data type")
    if named is None:
        return None
    name, configuration = named
    if name in time.NAMES:
        return time.from_json(name, configuration, path, problems)
    if name in fixed.NAMES:
        return fixed.from_json(name, configuration, path, problems)
    if name in struct.NAMES:
        return struct.from_json(name, configuration, path, problems, depth)
    if name == optional.NAME:
        return optional.from_json(configuration, path, problems, depth)
    if name == "raw_bytes" and len(configuration) == 1 and type(size := configuration.get("length_bytes")) is int:
        # Not registered, but zarr-python writes it.
        return _raw(size * 8, size, f"{path}.configuration.length_bytes", problems)
    if not _is_ours(name):
        return _own(name, configuration, path, problems)
    if configuration:
        problems.add(f"{path}.configuration", f"no options for {name}", dict(configuration))
        return None
    if (row := _TABLE.get(name)) is not None:
        return row
    if _is_raw(name):
        # Converting very many digits to an integer is slow.
        digits = name[1:]
        return _raw(int(digits) if len(digits) < 12 and digits[0] != "0" else 0, name, path, problems)
    if name in ml.ROWS:
        if (row := ml.data_type(name)) is None:
            problems.unknown(path, "data type", name, "it needs the package ml_dtypes: pip install 'blizzarr[ml]'")
        else:
            _TABLE[name] = row
        return row
    part = from_json(ml.COMPLEX[name], path, problems)
    if part is not None:
        _TABLE[name] = ml.complex_type(name, part)
    return _TABLE.get(name)


def _own(name: str, configuration: Mapping[str, Any], path: str, problems: Problems) -> DataType | None:
    """Return the data type of a user or of another package; `None` if a problem was added."""
    row = OWN.get(name)
    if row is None:
        problems.unknown(path, "data type", name)
        return None
    try:
        return own(name, row(**configuration) if callable(row) else row, configuration)
    except BlizzarrError:
        raise
    except Exception as error:
        # What a function raises for options that it does not take is up to it.
        problems.refused(path, name, error)
        return None


def own(name: str, made: Any, configuration: Mapping[str, Any] = MappingProxyType({})) -> DataType:
    """Return the data type of this name for a data type, or for what stands for one; it has the same elements."""
    dtype = DataType.parse(made)
    if dtype.name == name and dtype.configuration == configuration:
        return dtype
    return replace(dtype, name=name, configuration=dict(configuration))


def check_free(name: Any) -> None:
    """Raise `ValueError` if a name is one of a data type that is always there."""
    if isinstance(name, str) and (_is_ours(name) or name in ("raw_bytes", *SUPPLIERS["data type"])):
        raise ValueError(f"expected a name that no data type has, found {name!r}; choose another")


def _is_ours(name: str) -> bool:
    return name in _TABLE or name in _CONFIGURED or name in ml.ROWS or name in ml.COMPLEX or _is_raw(name)


def _is_raw(name: str) -> bool:
    return name[:1] == "r" and name[1:].isascii() and name[1:].isdigit()


def _raw(bits: int, found: Any, path: str, problems: Problems) -> DataType | None:
    if bits <= 0 or bits % 8 or bits // 8 > MAX_RAW_BYTES:
        problems.add(path, f"raw bits: a positive multiple of 8, at most {MAX_RAW_BYTES * 8}", found)
        return None
    return DataType(f"r{bits}", np.dtype((np.void, bits // 8)), Kind.RAW)


def from_user(value: Any, problems: Problems) -> DataType | None:
    """Return the data type for a name of ours, or for anything that NumPy converts to a dtype."""
    if isinstance(value, str | dict):
        name = value if isinstance(value, str) else value.get("name")
        if name == "object":
            return OBJECT
        # NumPy takes mappings, too, but with lists or tuples as members.
        if type(name) is str and (isinstance(value, dict) or _is_ours(name)):
            return from_json(value, "data_type", problems)
    try:
        if value is None:
            raise TypeError("NumPy would take it for float64")
        dtype = np.dtype(value)
    except (TypeError, ValueError, SyntaxError, RecursionError) as error:
        if isinstance(value, str) and value in OWN:
            return from_json(value, "data_type", problems)
        if isinstance(value, str) and value in SUPPLIERS["data type"]:
            problems.unknown("data_type", "data type", value)
        else:
            expected = "the name of a data type, or a NumPy dtype"
            # Those of PyTorch are called torch.float32.
            meant = nearest(str(value).rpartition(".")[2], _OFTEN_MEANT)
            hint = "" if meant is None else f"; did you mean {meant!r}?"
            problems.items.append(Problem("data_type", expected, f"{value!r} ({error}){hint}"))
        return None
    if dtype.kind in "SU" and not dtype.itemsize:
        # `str` and `bytes` have no length.
        return STRING if dtype.kind == "U" else BYTES
    return from_numpy(dtype, problems)


def from_numpy(dtype: np.dtype[Any], problems: Problems, path: str = "data_type", depth: int = 0) -> DataType | None:
    """Return the data type of a NumPy dtype, whatever its byte order; `None` if a problem was added."""
    kind = dtype.kind
    if kind in "Mm":
        return time.from_numpy(dtype)
    if kind in "SU":
        return fixed.from_numpy(dtype, path, problems)
    if kind in "OT":
        return OBJECT if kind == "O" else STRING
    if dtype.names:
        return struct.from_numpy(dtype, path, problems, depth)
    if dtype.name in _TABLE or dtype.name in ml.ROWS:
        return from_json(dtype.name, path, problems)
    if dtype.type.__module__ != "numpy":
        # Of those that are imported: a NumPy dtype comes from a package that is.
        for row in OWN.imported():
            if isinstance(row, DataType) and row.numpy == dtype:
                return row
    if kind == "V" and dtype.subdtype is None:
        return from_json(f"r{dtype.itemsize * 8}", path, problems)
    problems.unknown(path, "data type", str(dtype), "no Zarr data type holds it")
    return None
