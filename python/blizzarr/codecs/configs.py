"""Codec chains as v1 and v2 spell them: a list of filters and a compressor, each an object with an ``id``.

In these formats the byte order belongs to the data type, and the order of axes to the array; in a chain they are the
codecs ``bytes`` and ``transpose``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

from blizzarr.codecs.blosc import SHUFFLES
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.chain import MAX_CODECS, CodecChain
from blizzarr.codecs.codec import Chunk, Codec, Stage
from blizzarr.codecs.numcodecs import ROWS, library
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter, endian_of, to_little
from blizzarr.codecs.numcodecs.compressors import ShuffleCodec
from blizzarr.codecs.numcodecs.row import IMAGES, PREFIX, NumcodecsCodec, UserCodec
from blizzarr.codecs.numcodecs.run import NumcodecsRun
from blizzarr.codecs.objects import OBJECT_CODECS, ObjectCodec
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.dtypes import DataType, Kind
from blizzarr.errors import UnknownExtensionError
from blizzarr.problems import MISSING, Problems
from blizzarr.suppliers import supplier

_BYTES: Final = Chunk(DataType.parse("uint8"), None)
"""The input of a codec that follows one from arrays to bytes."""
_UNKNOWN: Final = Chunk(None, None)


def chain_from_configs(
    filters: Any,
    compressor: Any,
    *,
    dtype: DataType | None,
    endian: str | None,
    order: str,
    chunk_shape: tuple[int, ...] | None,
    filters_path: str = "filters",
    compressor_path: str = "compressor",
    problems: Problems,
) -> CodecChain | None:
    """Return the chain for the codecs of a document; None if a problem was added.

    `filters` and `compressor` are the members of the document, unchecked; `dtype` and `chunk_shape` are None if the
    document is wrong about them.

    >>> problems = Problems()
    >>> chain = chain_from_configs([], {"id": "zlib", "level": 1}, dtype=DataType.parse("float64"), endian="big",
    ...                            order="F", chunk_shape=(3, 4), problems=problems)
    >>> chain.all
    (TransposeCodec(order=(1, 0)), BytesCodec(endian='big'), ZlibCodec(level=1))
    """
    before = len(problems.items)
    listed = _listed(filters, compressor, filters_path, compressor_path, problems)
    turned = _turned(order, chunk_shape)
    first = Chunk(dtype, chunk_shape)
    first = turned[0].after(first) if turned else first
    if dtype is not None and dtype.kind is Kind.OBJECT and not listed:
        problems.add(filters_path, f"a codec of objects first: one of {', '.join(OBJECT_CODECS)}", filters)
    chunk = first
    codecs: list[NumcodecsCodec] = []
    for config, path in listed:
        codec = codec_from_config(config, path, problems, chunk)
        if codec is None:
            chunk = _UNKNOWN
        elif not _does_nothing(codec.name, chunk):
            codecs.append(codec)
            chunk = codec.after(chunk) if codec.stage is Stage.FILTER else _BYTES
    if len(problems.items) > before or dtype is None:
        return None
    if codecs and isinstance(codecs[0], ObjectCodec):
        return _of_objects(turned, codecs[0], codecs[1:], filters_path, problems)
    return _arranged(turned, first, codecs, endian, order)


def _listed(
    filters: Any, compressor: Any, filters_path: str, compressor_path: str, problems: Problems
) -> list[tuple[Any, str]]:
    """Return all codecs in the order of encoding, each with its place in the document."""
    listed: list[tuple[Any, str]] = []
    if filters is not None and type(filters) is not list:
        problems.add(filters_path, "a list of codecs, or null", filters)
    elif filters is not None and len(filters) > MAX_CODECS:
        problems.limit(filters_path, f"at most {MAX_CODECS} codecs", len(filters))
    elif filters is not None:
        listed.extend((config, f"{filters_path}[{position}]") for position, config in enumerate(filters))
    if compressor is not None:
        listed.append((compressor, compressor_path))
    return listed


def codec_from_config(
    config: Any, path: str, problems: Problems, chunk: Chunk = _UNKNOWN, *, strict: bool = False
) -> NumcodecsCodec | None:
    """Return one codec, for such chunks; None if a problem was added.

    Unless `strict`, unknown options are ignored, and numbers may be strings.
    """
    if type(config) is not dict:
        problems.add(path, "a codec: an object with an id", config)
        return None
    name = config.get("id", MISSING)
    if type(name) is not str:
        problems.add(f"{path}.id", "the name of a codec", name)
        return None
    # There are two codecs called categorize, for objects and for text of fixed length; `dtype` tells which it is.
    of_objects = config.get("dtype") == "|O" if chunk.dtype is None else chunk.dtype.kind is Kind.OBJECT
    there = f"a codec for elements of {chunk.dtype}" if chunk.shape is not None else "a codec of bytes"
    if of_objects and name not in OBJECT_CODECS:
        problems.add(f"{path}.id", f"a codec of objects first: one of {', '.join(OBJECT_CODECS)}", name)
        return None
    if name in OBJECT_CODECS and PREFIX + name not in ROWS and chunk.dtype is not None and not of_objects:
        problems.add(f"{path}.id", f"{there}; this one is for objects", name)
        return None
    row = OBJECT_CODECS[name] if of_objects else ROWS.get(PREFIX + name) or OBJECT_CODECS.get(name)
    if row is None:
        return _of_user(name, config, path, problems)
    if not strict and _does_nothing(row.name, chunk):
        # Its check of the type is left out.
        chunk = chunk._replace(dtype=None)
    options = {option: value for option, value in config.items() if option != "id"}
    return _of_row(row, options if strict else _lenient(row, options, chunk), path, problems, chunk)


def _does_nothing(name: str, chunk: Chunk) -> bool:
    """Return whether a codec cannot encode such elements, while its decoding changes none."""
    return name == "numcodecs.bitround" and chunk.dtype is not None and chunk.dtype.kind is not Kind.FLOAT


def _of_user(name: str, config: dict[str, Any], path: str, problems: Problems) -> NumcodecsCodec | None:
    """Return a codec that others registered with numcodecs; None if a problem was added."""
    try:
        if library.is_registered(name):
            library.make(config)
            return UserCodec(name, {option: value for option, value in config.items() if option != "id"})
    except UnknownExtensionError as refused:
        problems.unknown(f"{path}.id", "codec", name, refused.reason)
        return None
    advice = "if it is one of yours, import what registers it with numcodecs before"
    is_theirs = name.startswith(IMAGES)
    reason = supplier("codec", name) if is_theirs else f"numcodecs has no codec of this name; {advice}"
    problems.unknown(f"{path}.id", "codec", name, reason)
    return None


def _lenient(row: type[NumcodecsCodec], options: dict[str, Any], chunk: Chunk) -> dict[str, Any]:
    """Return the known options of a codec; NCZarr writes numbers as strings, and GDAL names of ways to shuffle bytes.

    Unknown options had no effect for the program that wrote them; they are kept with the document.
    """
    known = [option.name for option in row.options]
    known_options = {option: _number(value) for option, value in options.items() if option in known}
    if row is ShuffleCodec and options.get("elementsize") == "0" and chunk.dtype is not None:
        # NetCDF-C writes this text and shuffles elements of their own size. In numcodecs, 0 shuffles nothing.
        known_options["elementsize"] = chunk.dtype.itemsize
    # For NumPy, and so for numcodecs, null is float64. Only as `astype` it means the other type.
    return {option: _NULL if option in _TYPES and value is None else value for option, value in known_options.items()}


_TYPES: Final = ("dtype", "decode_dtype", "encode_dtype")
_NULL: Final = "<f8"
_SHUFFLES: Final = {"NONE": 0, "BYTE": 1, "BIT": 2}


def _number(value: Any) -> Any:
    if type(value) is str and value in _SHUFFLES:
        return _SHUFFLES[value]
    if type(value) is str and value.removeprefix("-").isdecimal() and value.isascii() and len(value) < 20:
        return int(value)
    return value


def _of_row(
    row: type[NumcodecsCodec], options: dict[str, Any], path: str, problems: Problems, chunk: Chunk
) -> NumcodecsCodec | None:
    """Return the codec of a row; problems get the places that options have in these documents, beside the ``id``."""
    inner = Problems()
    codec = row.from_json(options, path, inner, chunk)
    inside = f"{path}.configuration"
    for problem in inner.items:
        there = problem.path.startswith(inside)
        problems.items.append(problem._replace(path=path + problem.path[len(inside) :]) if there else problem)
    problems.extensions.extend(inner.extensions)
    problems.limits.extend(inner.limits)
    return codec


def _turned(order: str, chunk_shape: Sequence[int] | None) -> tuple[TransposeCodec, ...]:
    if order != "F" or chunk_shape is None or len(chunk_shape) < 2:
        return ()
    return (TransposeCodec(tuple(reversed(range(len(chunk_shape))))),)


def _of_objects(
    turned: tuple[TransposeCodec, ...],
    codec: ObjectCodec,
    others: Sequence[NumcodecsCodec],
    path: str,
    problems: Problems,
) -> CodecChain | None:
    """Return the chain of an array of objects; None if a problem was added."""
    for position, other in enumerate(others, 1):
        if other.stage is not Stage.COMPRESSOR:
            problems.add(f"{path}[{position}]", "a codec of bytes behind the codec of objects", other.config()["id"])
            return None
    return CodecChain(turned if codec.lays_out else (), codec, _compressors(others, _BYTES))


def _arranged(
    turned: tuple[TransposeCodec, ...], first: Chunk, codecs: Sequence[NumcodecsCodec], endian: str | None, order: str
) -> CodecChain:
    """Return a chain with the same effect; as few codecs as possible go into a `NumcodecsRun`."""
    assert first.dtype is not None
    leading = takewhile(lambda codec: isinstance(codec, ArrayFilter), codecs)
    filters = [codec for codec in leading if isinstance(codec, ArrayFilter)]
    others = codecs[len(filters) :]
    serializers = [codec for codec in others[:1] if codec.stage is Stage.SERIALIZER]
    compressors = others[len(serializers) :]
    little = to_little(filters, first.dtype, endian)
    if little is not None and all(map(_is_compressor, compressors)):
        chunk = first
        for codec in filters:
            chunk = codec.after(chunk)
        made = endian_of(little[1]) if filters else endian
        if not serializers:
            serializer: Codec = BytesCodec(made).resolve(chunk)
            return CodecChain((*turned, *little[0]), serializer, _compressors(compressors, chunk))
        if made != "big":
            return CodecChain((*turned, *little[0]), serializers[0], _compressors(compressors, _BYTES))
    behind = tuple(takewhile(_is_compressor, reversed(codecs)))[::-1]
    run = NumcodecsRun(tuple(codecs[: len(codecs) - len(behind)]), "F" if order == "F" else "C", endian)
    return CodecChain(turned, run, _compressors(behind, _BYTES))


def _is_compressor(codec: Codec) -> bool:
    return codec.stage is Stage.COMPRESSOR


def _compressors(codecs: Iterable[NumcodecsCodec], chunk: Chunk) -> tuple[Codec, ...]:
    """Return codecs from bytes to bytes under their registered names; the first of them gets this chunk."""
    compressors = []
    for codec in codecs:
        compressors.append(codec.standard(chunk))
        chunk = _BYTES
    return tuple(compressors)


# The codecs of a document for a codec chain.


class Configs(NamedTuple):
    """The members of a v1 or v2 array document that describe its codecs."""

    filters: list[dict[str, Any]] | None
    compressor: dict[str, Any] | None
    order: str
    """``"C"`` or ``"F"``."""
    endian: str | None
    """The byte order for the data type: ``"little"``, ``"big"``, or None for elements of one byte."""


def chain_to_configs(
    chain: CodecChain, *, dtype: DataType, chunk_shape: tuple[int, ...], path: str = "codecs", problems: Problems
) -> Configs | None:
    """Return the members of a document for a chain; None if a problem was added, for each codec in the way.

    >>> problems = Problems()
    >>> chain = CodecChain.from_list(["bytes", "gzip", "zstd"], "uint16", (4,))
    >>> chain_to_configs(chain, dtype=DataType.parse("uint16"), chunk_shape=(4,), problems=problems)
    Configs(filters=[{'id': 'gzip', 'level': 6}], compressor={'id': 'zstd', 'level': 0}, order='C', endian='little')
    """
    before = len(problems.items)
    order = _order(chain.filters, len(chunk_shape), path, problems)
    serializer = chain.serializer
    filters = [codec for codec in chain.filters if isinstance(codec, ArrayFilter)]
    endian: str | None = None
    listed: list[dict[str, Any] | None] = []
    takes_elements = False
    if isinstance(serializer, NumcodecsRun):
        order, endian = serializer.order, serializer.endian
        listed = [codec.config() for codec in serializer.codecs]
    else:
        ordered = _ordered(filters, serializer, dtype, path, problems)
        endian = "little" if dtype.swap else None
        if ordered is not None:
            ordered_filters, endian = ordered
            listed = [codec.config() for codec in ordered_filters]
        if isinstance(serializer, ObjectCodec) and order != "C" and not serializer.lays_out:
            problems.add(path, f"the order C, in which {serializer.name} lays chunks out whatever is said", order)
        takes_elements = isinstance(serializer, NumcodecsCodec) and not isinstance(serializer, ObjectCodec)
        if isinstance(serializer, NumcodecsCodec):
            listed.append(serializer.config())
        elif not isinstance(serializer, BytesCodec):
            wanted = "the codec bytes, or one that numcodecs has"
            if chain.is_sharded:
                wanted = "no shards, as this format has none (shards=None leaves them out)"
            problems.add(f"{path}[{len(chain.filters)}]", wanted, serializer.name)
    for position, codec in enumerate(chain.compressors, len(chain.filters) + 1):
        config = _config(codec)
        if config is None:
            problems.add(f"{path}[{position}]", "a codec that numcodecs has", codec.name)
        listed.append(config)
    if len(problems.items) > before:
        return None
    configs = [config for config in listed if config is not None]
    # The last one is the compressor if it makes bytes; what it takes is bytes, or elements as pcodec takes them.
    compressor = configs.pop() if chain.compressors or takes_elements else None
    return Configs(configs or None, compressor, order, endian)


def _ordered(
    filters: Sequence[ArrayFilter], serializer: Codec, dtype: DataType, path: str, problems: Problems
) -> tuple[Sequence[ArrayFilter], str | None] | None:
    """Return the filters in the byte orders of the document, and the byte order of the array; None with a problem."""
    endian = serializer.endian if isinstance(serializer, BytesCodec) else None
    order = "big" if endian == "big" else "little"
    own = order if dtype.swap else None
    if not filters:
        return (), own
    little = to_little(filters, dtype, "little")
    if little is not None:
        there = tuple(codec.ordered(order) for codec in little[0])
        back = to_little(there, dtype, order)
        if back is not None and back[0] == little[0] and endian_of(back[1]) in (order, None):
            return there, own
    elif order == "little":
        return filters, own
    problems.add(path, "filters that take elements for what they are, or little-endian ones", [f.name for f in filters])
    return None


def _order(filters: Sequence[Codec], rank: int, path: str, problems: Problems) -> str:
    """Return the order of axes, C or F, that all transpositions of a chain make together."""
    axes = tuple(range(rank))
    turned = axes
    for position, codec in enumerate(filters):
        if isinstance(codec, TransposeCodec):
            # After a filter that flattens the chunk, transposes have no effect.
            turned = tuple(turned[axis] for axis in codec.order) if len(codec.order) == rank else turned
        elif not isinstance(codec, ArrayFilter):
            problems.add(f"{path}[{position}]", "a codec that numcodecs has", codec.name)
    if turned not in (axes, axes[::-1]):
        problems.add(path, "axes in their order or reversed, C or F", list(turned))
    return "F" if rank > 1 and turned == axes[::-1] else "C"


def _config(codec: Codec) -> dict[str, Any] | None:
    """Return one codec as an object with an ``id``; None if numcodecs has none with the same effect."""
    if isinstance(codec, NumcodecsCodec):
        return codec.config()
    if codec.stage is not Stage.COMPRESSOR or PREFIX + codec.name not in ROWS:
        return None
    options = codec.configuration()
    if codec.name == "blosc":
        options["shuffle"] = SHUFFLES.index(options["shuffle"])
        # Writers take it from the elements, and readers do not need it.
        options.pop("typesize", None)
    elif codec.name == "zstd" and not options["checksum"]:
        # Older readers do not know this option.
        del options["checksum"]
    elif codec.name == "crc32c":
        options["location"] = "end"
    return {"id": codec.name, **options}
