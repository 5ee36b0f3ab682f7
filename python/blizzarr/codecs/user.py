"""Codecs as users give them: ours, names, objects as in documents, and those of other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import Enum
from typing import Any

import numpy as np

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.catalogue import ALIASES, CATALOGUE
from blizzarr.codecs.codec import Chunk, Codec, Stage
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.codecs.numcodecs.row import PREFIX, NumcodecsCodec, UserCodec
from blizzarr.codecs.numcodecs.run import NumcodecsRun
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.codecs.zstd import ZstdCodec
from blizzarr.dtypes import DataType, Kind, optional
from blizzarr.errors import MetadataError, Problem
from blizzarr.keywords import nearest
from blizzarr.problems import Problems, extension
from blizzarr.suppliers import supplier


def arrange(filters: Any, serializer: Any, compressors: Any, endian: str, dtype: DataType | None = None) -> list[Codec]:
    """Return the codecs for the three arguments of `create_array`, in order.

    The last filters may be codecs from bytes to bytes, as in v2. A codec from objects or arrays to bytes may stand
    among the filters or the compressors, as in v2; then no other serializer is needed.
    """
    before = [] if _is(filters, "auto") else codecs_of(filters)
    behind = [ZstdCodec()] if _is(compressors, "auto") else codecs_of(compressors)
    between: list[Codec] = []
    if serializer is not None and not _is(serializer, "auto"):
        between = codecs_of(serializer)
    elif all(codec.stage is not Stage.SERIALIZER for codec in before + behind):
        between = [_serializer(endian, dtype)]
    last = len(before)
    while last and before[last - 1].stage is Stage.COMPRESSOR:
        last -= 1
    codecs = [*before[:last], *between, *before[last:], *behind]
    return _in_one(codecs, endian) if any(isinstance(codec, UserCodec) for codec in codecs) else codecs


def _serializer(endian: str, dtype: DataType | None) -> Codec:
    if dtype is not None and dtype.name == optional.NAME:
        return CATALOGUE[optional.NAME]()
    if dtype is None or dtype.kind is not Kind.OBJECT:
        return BytesCodec(endian)
    from blizzarr.codecs.objects import OBJECT_CODECS

    # Arrays of any objects are refused before, if no codec says what the objects are.
    rows = (row for row in OBJECT_CODECS.values() if row.name in CATALOGUE and not row.options)
    return next(row() for row in rows if row.element_type == dtype.name)


def _in_one(codecs: Sequence[Codec], endian: str) -> list[Codec]:
    """Combine all codecs up to the last one that a user registered with numcodecs into a single codec."""
    turned = [codec for codec in codecs if isinstance(codec, TransposeCodec)]
    others = [codec for codec in codecs if not isinstance(codec, TransposeCodec | BytesCodec)]
    last = max(position for position, codec in enumerate(others) if isinstance(codec, UserCodec))
    members = [codec for codec in others[: last + 1] if isinstance(codec, NumcodecsCodec)]
    reverse = [tuple(reversed(range(len(codec.order)))) for codec in turned]
    # Behind a codec of a user, nobody knows what the elements are.
    are_open = any(isinstance(codec, ArrayFilter) and codec.is_open for codec in members)
    if are_open or len(members) <= last or [codec.order for codec in turned] != reverse or len(turned) > 1:
        known = "codecs of numcodecs, and order C or F, with a codec that is registered there; filters name their types"
        raise MetadataError(problems=[Problem("codecs", known, ", ".join(codec.name for codec in codecs))])
    run = NumcodecsRun(tuple(members), "F" if turned else "C", endian)
    return [*turned, run, *others[last + 1 :]]


def _is(value: Any, word: str) -> bool:
    # Compared by type first: an array or a codec may have an equality of its own.
    return isinstance(value, str) and value == word


def codecs_of(value: Any) -> list[Codec]:
    """Return a list of codecs for one, several or none."""
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [codec_of(item) for item in value]
    return [codec_of(value)]


def codec_of(value: Any) -> Codec:
    """Return a user's codec as one of ours.

    Raise `MetadataError` if it has options that it should not have; `UnknownExtensionError` if there is no such codec.

    - `value`: a codec of ours, of numcodecs or of zarr-python, a name, or an object as in documents of any format.

    >>> codec_of("crc32c"), codec_of({"name": "gzip", "configuration": {"level": 3}})
    (Crc32cCodec(), GzipCodec(level=3))
    """
    if isinstance(value, Codec):
        return value
    if hasattr(value, "codec_id") and hasattr(value, "get_config"):
        return _from_numcodecs(value.get_config())
    if isinstance(value, Mapping) and "id" in value:
        return _from_numcodecs(value)
    if hasattr(value, "to_dict"):
        value = _from_zarr_python(value)
    problems = Problems()
    document = dict(value) if isinstance(value, Mapping) else value
    named = extension(document, "codec", problems, "codec", optional=True)
    problems.raise_any()
    assert named is not None
    name, configuration = named
    row = CATALOGUE.get(name) or CATALOGUE.get(ALIASES.get(name, PREFIX + name))
    if row is None:
        _refuse_options_behind_colon(name, problems)
        known = sorted({row_name.removeprefix(PREFIX) for row_name in CATALOGUE})
        close = nearest(name, known)
        of_others = supplier("codec", name)
        advice = (
            f"did you mean {close}? {name!r} is {of_others}" if close else f"{of_others}; there are {', '.join(known)}"
        )
        problems.unknown("codec", "codec", name, advice)
        problems.raise_any()
        raise AssertionError
    given = {option: _plain(setting) for option, setting in configuration.items() if setting is not None}
    codec = row.given(given, problems)
    problems.raise_any()
    assert codec is not None
    return codec


def _refuse_options_behind_colon(name: str, problems: Problems) -> None:
    """Raise an error with Python's spelling of what the command line writes ``gzip:3``, if `name` is such a text."""
    known, colon, setting = name.partition(":")
    row = CATALOGUE.get(known) if colon else None
    if row is None:
        return
    level = setting.removeprefix("level=")
    has_level = level.isdecimal() and any(field.name == "level" for field in fields(row))  # type: ignore[arg-type]
    call, document = (f"level={level}", f'{{"level": {level}}}') if has_level else ("...", "{...}")
    expected = f'{row.__name__}({call}) or {{"name": "{known}", "configuration": {document}}}'
    problems.add("codec", expected, name)
    problems.raise_any()


def _from_zarr_python(value: Any) -> dict[str, Any]:
    """Return a codec of zarr-python as an object, without the options that it would choose for the data type."""
    document = dict(value.to_dict())
    chosen = getattr(value, "_tunable_attrs", ())
    configuration = {name: option for name, option in document.get("configuration", {}).items() if name not in chosen}
    return {"name": document["name"], "configuration": configuration}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.dtype | DataType):
        return (value if isinstance(value, np.dtype) else value.numpy).str
    return tuple(value) if isinstance(value, list) and all(type(item) is int for item in value) else value


def _from_numcodecs(config: Mapping[str, Any]) -> Codec:
    from blizzarr.codecs.configs import codec_from_config

    problems = Problems()
    codec = codec_from_config(dict(config), "codec", problems, strict=True)
    problems.raise_any()
    assert codec is not None
    # The user names the type of the elements; their byte order in storage is up to the serializer.
    return codec.ordered("little") if isinstance(codec, ArrayFilter) else codec.standard(Chunk(None, None))
