"""Decoding array documents of the year before Zarr v3 was final, by converting them to the final specification.

https://github.com/zarr-developers/zarr-specs/commits/main/docs/v3 (February 2023 to January 2024)

===============  ================================================  =================================================
until            they had                                          which is read as
===============  ================================================  =================================================
February 2023    ``separator`` in `chunk_grid`                     `chunk_key_encoding`
March 2023       ``type`` for ``name``, an empty `extensions`      ``name``, nothing
May 2023         Blosc with numbers for `shuffle`, no `typesize`   their names, the size of an element
May 2023         fill values "0x..." of integers, "inf", "nan(1)"  numbers, all digits
June 2023        data types with a ``fallback``                    the fallback, if the type is not known
July 2023        no `codecs`, none that makes bytes of arrays      ``bytes``, little-endian, in its place
July 2023        shards without `index_codecs`                     ``bytes`` and ``crc32c``: as they were since May
===============  ================================================  =================================================

The codec name ``endian`` (until August 2023) and the orders "C" and "F" of ``transpose`` (until October 2023) are read
in all documents, as they are unambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from blizzarr.codecs import CATALOGUE, Stage
from blizzarr.codecs.blosc import SHUFFLES
from blizzarr.dtypes import DataType, Kind
from blizzarr.formats import v3_array
from blizzarr.formats.draft.fill_values import from_digits
from blizzarr.formats.fallback import use_fallback
from blizzarr.model import ArrayMeta
from blizzarr.problems import MISSING, Notice, Problems, describe

_BYTES: Final = {"name": "bytes", "configuration": {"endian": "little"}}
_NAMED: Final = ("data_type", "chunk_grid", "chunk_key_encoding")
_OLD_FLOAT: Final = re.compile(r"(-?)(inf|nan)(?:\(0x([0-9a-fA-F]{1,16})\))?")
_MANTISSA: Final = {2: 10, 4: 23, 8: 52}
"""The number of mantissa bits, by the size of the type in bytes."""


def decode(document: Mapping[str, Any], notices: list[Notice]) -> ArrayMeta | None:
    """Decode an array document of that time; `None` when it is none, otherwise with a notice about what is old."""
    made, notes = dict(document), []
    if made.get("extensions") == []:
        del made["extensions"]
        notes.append("no extensions")
    for member in _NAMED:
        if member in made:
            made[member] = _named(made[member], notes)
    _read_separator(made, notes)
    problems = Problems()
    dtype = _read_data_type(made, notes, problems)
    if dtype is None:
        # Also if a fallback is known but not allowed: then the errors of the unconverted document tell what is missing.
        return None
    undefined = _read_fill_value(made, dtype, notes)
    made["codecs"] = _codecs(made.get("codecs", MISSING), dtype, notes)
    meta = v3_array.decode(made, problems) if notes else None
    if meta is None or problems.items:
        return None
    what = "; ".join(dict.fromkeys(notes))
    text = f"a document of the year before Zarr v3 was final: {what}. When it is saved, it becomes one of Zarr v3"
    notices += [*problems.notices, Notice("old-document", text)]
    return replace(meta, fill_undefined=undefined)


def _named(value: Any, notes: list[str]) -> Any:
    """Return an extension object with its name under ``name``."""
    if type(value) is not dict or "type" not in value or "name" in value:
        return value
    notes.append('"type" for "name"')
    return {"name": value["type"], **{member: item for member, item in value.items() if member != "type"}}


def _read_separator(made: dict[str, Any], notes: list[str]) -> None:
    grid = made.get("chunk_grid")
    if type(grid) is not dict:
        return
    configuration = grid.get("configuration")
    if type(configuration) is not dict or "separator" not in configuration or "chunk_key_encoding" in made:
        return
    notes.append("the separator of chunk keys in chunk_grid")
    rest = {name: value for name, value in configuration.items() if name != "separator"}
    made["chunk_grid"] = {**grid, "configuration": rest}
    made["chunk_key_encoding"] = {"name": "default", "configuration": {"separator": configuration["separator"]}}


def _read_data_type(made: dict[str, Any], notes: list[str], problems: Problems) -> DataType | None:
    value = made.get("data_type", MISSING)
    if type(value) is not dict or "fallback" not in value:
        return DataType.from_json(value, "data_type", Problems())
    plain = {name: item for name, item in value.items() if name != "fallback"}
    dtype = DataType.from_json(plain, "data_type", Problems())
    if dtype is None and type(plain.get("name")) is str:
        description = describe(plain["name"])
        dtype = use_fallback(plain["name"], description, "data_type.name", value["fallback"], _data_type, problems)
    if dtype is not None:
        notes.append("a fallback data type")
        made["data_type"] = dtype.to_json()
    return dtype


def _data_type(value: Any, problems: Problems) -> DataType | None:
    return DataType.from_json(value, "data_type", problems)


def _read_fill_value(made: dict[str, Any], dtype: DataType, notes: list[str]) -> bool:
    """Convert the fill value, and return whether it is undefined because only the unknown data type could decode it."""
    value = made.get("fill_value", MISSING)
    if value is MISSING or dtype.fill_from_json(value, "fill_value", Problems()) is not None:
        return False
    if dtype.kind in (Kind.INTEGER, Kind.BOOL) and type(value) is str and value[:2] in ("0x", "0b"):
        scalar = from_digits(value, dtype, "fill_value", Problems())
        if scalar is not None:
            made["fill_value"] = dtype.fill_to_json(scalar)
            notes.append("a fill value in digits")
        return False
    if dtype.kind in (Kind.FLOAT, Kind.COMPLEX):
        parts = value if type(value) is list else [value]
        width = dtype.itemsize // (2 if dtype.kind is Kind.COMPLEX else 1)
        bits = [_bits_of(part, width) if type(part) is str else None for part in parts]
        if any(part is not None for part in bits):
            spelled = [part if digit is None else digit for part, digit in zip(parts, bits, strict=True)]
            made["fill_value"] = spelled if type(value) is list else spelled[0]
            notes.append(f"the fill value {describe(value)}")
            return False
    if "a fallback data type" not in notes:
        return False
    made["fill_value"] = dtype.fill_to_json(dtype.default_fill)
    return True


def _codecs(value: Any, dtype: DataType, notes: list[str]) -> Any:
    """Return the list of codecs with an array-to-bytes codec, which is added if it is missing."""
    if value is MISSING:
        value = []
        notes.append("no codecs")
    if type(value) is not list:
        return value
    codecs = [_codec(_named(item, notes), dtype, notes) for item in value]
    rows = [CATALOGUE.get(item if type(item) is str else item.get("name")) for item in codecs if _is_codec(item)]
    stages = [row.stage for row in rows if row is not None]
    if len(stages) < len(codecs) or Stage.SERIALIZER in stages:
        return codecs
    notes.append("no codec that makes bytes of arrays")
    position = stages.count(Stage.FILTER)
    return [*codecs[:position], _BYTES, *codecs[position:]]


def _is_codec(item: Any) -> bool:
    return type(item) is str or (type(item) is dict and type(item.get("name")) is str)


def _codec(item: Any, dtype: DataType, notes: list[str]) -> Any:
    configuration = item.get("configuration") if type(item) is dict else None
    if type(configuration) is not dict:
        return item
    options = dict(configuration)
    if item.get("name") == "sharding_indexed":
        options["codecs"] = _codecs(options.get("codecs", MISSING), dtype, notes)
        if "index_codecs" not in options:
            options["index_codecs"] = [_BYTES, {"name": "crc32c"}]
            notes.append("shards that do not say how their index is stored, taken for checked ones (since May 2023)")
    elif item.get("name") == "blosc":
        shuffle = options.get("shuffle")
        if type(shuffle) is int and -1 <= shuffle < len(SHUFFLES):
            usual = "bitshuffle" if dtype.itemsize == 1 else "shuffle"
            options["shuffle"] = usual if shuffle < 0 else SHUFFLES[shuffle]
            notes.append("a number for the shuffle of Blosc")
        if "typesize" not in options:
            options["typesize"] = dtype.itemsize
            notes.append("no typesize of Blosc")
    return {**item, "configuration": options}


def _bits_of(text: str, itemsize: int) -> str | None:
    """Return all bits of the number as hexadecimal digits; `None` for other texts.

    Floating-point numbers were spelled as "inf", "-nan" and "nan(0x1)" in May 2023. The payload of a NaN is the
    mantissa with its bits in reverse order.

    https://github.com/zarr-developers/zarr-specs/blob/29a5a20/docs/v3/core/v3.0.rst

    >>> _bits_of("-inf", 4), _bits_of("nan", 4), _bits_of("-nan(0x3)", 2), _bits_of("none", 8)
    ('0xff800000', '0x7fc00000', '0xff00', None)
    """
    match = _OLD_FLOAT.fullmatch(text)
    mantissa = _MANTISSA.get(itemsize)
    if match is None or mantissa is None or (match[2] == "inf" and match[3]):
        return None
    payload = 0 if match[2] == "inf" else int(match[3] or "1", 16)
    if payload >> mantissa or (match[2] == "nan" and not payload):
        return None
    width = itemsize * 8
    exponent = (1 << (width - 1 - mantissa)) - 1
    reverse = int(f"{payload:0{mantissa}b}"[::-1], 2)
    bits = (exponent << mantissa) | reverse | (bool(match[1]) << (width - 1))
    return f"0x{bits:0{width // 4}x}"
