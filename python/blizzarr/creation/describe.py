"""The metadata of an array from the arguments of `create_array`; nothing is stored here."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, Unpack, cast

import numpy as np

from blizzarr.codecs import CodecChain, ShardingCodec, TransposeCodec
from blizzarr.creation.chunking import (
    ChunksLike,
    ShardsLike,
    index_location_of,
    resolve_chunks,
    resolve_shards,
    resolve_uneven,
)
from blizzarr.creation.elements import check_fill, decide_type
from blizzarr.creation.json_values import check_attributes, is_unicode
from blizzarr.dtypes import DataType
from blizzarr.dtypes.typestr import with_field_orders
from blizzarr.errors import MetadataError, Problem
from blizzarr.formats import Format, arranged, format_named
from blizzarr.keywords import name_keywords, unknown_keywords
from blizzarr.model import ArrayMeta, ChunkGrid, ChunkKeys, GroupMeta, RegularGrid
from blizzarr.model.shapes import MAX_RANK
from blizzarr.problems import Problems
from blizzarr.size_text import count_text

if TYPE_CHECKING:
    from blizzarr.transformers import StorageTransformer

ShapeLike: TypeAlias = int | Sequence[int]
ChunkKeysLike: TypeAlias = ChunkKeys | str | Sequence[str] | Mapping[str, Any] | None
"""``"default"``, ``"v2"``, ``("v2", ".")``, or an object as in documents."""

ZarrFormat: TypeAlias = int | str | None
"""The number or name of a format; None stands for that of the groups above, or for the newest."""

_MAX_LENGTH = 2**63
_OPTIONS_OF_MAKING: Final = ("data", "overwrite")
"""Options of `create_array` that do not describe the array."""


class ArrayOptions(TypedDict, total=False):
    """The options of `blizzarr.create_array` that describe an array; its documentation explains them."""

    chunks: ChunksLike
    shards: ShardsLike
    filters: Any
    compressors: Any
    serializer: Any
    codecs: Any
    fill_value: Any
    order: Literal["C", "F"] | None
    chunk_key_encoding: ChunkKeysLike
    dimension_names: Iterable[str | None] | None
    storage_transformers: Any
    attributes: Mapping[str, Any] | None
    zarr_format: ZarrFormat


class CreateOptions(ArrayOptions, total=False):
    """The options of `blizzarr.create_array` that describe an array, and what to do if something is in its place."""

    overwrite: bool


DEFAULTS: Final[ArrayOptions] = {
    "chunks": "auto",
    "shards": None,
    "filters": "auto",
    "compressors": "auto",
    "serializer": "auto",
    "codecs": None,
    "fill_value": ...,
    "order": None,
    "chunk_key_encoding": None,
    "dimension_names": None,
    "storage_transformers": None,
    "attributes": None,
    "zarr_format": None,
}


def describe_array(*, shape: ShapeLike, dtype: Any, **options: Unpack[ArrayOptions]) -> ArrayMeta:
    """Return the metadata of an array; see `create_array` for the parameters.

    Raise `MetadataError` if the arguments do not make a valid array. Raise `TypeError` if there is no such option.
    Raise `ValueError` if `codecs` is given along with what it replaces.

    >>> meta = describe_array(shape=(1000, 1000), dtype="uint16", chunks=(100, -1), shards=(500, -1), order="F")
    >>> meta.chunk_shape, meta.shard_shape, meta.order
    ((100, 1000), (500, 1000), 'F')
    """
    check_option_names(options)
    given: ArrayOptions = {**DEFAULTS, **options}
    filters, serializer, compressors = given["filters"], given["serializer"], given["compressors"]
    codecs, shards, order, fill_value = given["codecs"], given["shards"], given["order"], given["fill_value"]
    form = format_named(given["zarr_format"])
    if codecs is not None:
        _check_alone(shards=shards, filters=filters, serializer=serializer, compressors=compressors, order=order)
    lengths = _shape(shape)
    kind = decide_type(_element_type(dtype, form), filters, serializer, compressors, codecs)
    shards, index_location = index_location_of(shards)
    chunk_shape, shard_shape, grid = _chunks(given["chunks"], shards, lengths, kind)
    if codecs is None:
        chain = CodecChain.from_user(
            _with_order(filters, order, len(lengths)),
            serializer,
            form.default_compressor if isinstance(compressors, str) and compressors == "auto" else compressors,
            dtype=kind,
            chunk_shape=chunk_shape,
            endian=_endian(dtype),
        )
        if shard_shape is not None:
            chain = CodecChain.from_list(
                [ShardingCodec(chunk_shape, chain, form.index_codecs, index_location)], kind, shard_shape
            )
    else:
        chain = CodecChain.from_list(codecs, kind, chunk_shape)
    chain = arranged(chain, kind, len(lengths), form)
    # In arrays of arbitrary objects, None is a value.
    undefined = fill_value is None and form.has_null_fill and kind.name != "object"
    fill = kind.default_fill if undefined else kind.fill(None if fill_value is ... else fill_value)
    transformers = _transformers(given["storage_transformers"], len(lengths))
    encoding = _key_encoding(given["chunk_key_encoding"], len(lengths))
    # An encoding of a package renames the default keys, which only v3 has.
    if encoding is not None and form.chunk_keys(ChunkKeys.default()).name != ChunkKeys.default().name:
        expected = f"an encoding that {form.name} has"
        raise MetadataError(problems=[Problem("chunk_key_encoding", expected, encoding.name)])
    return ArrayMeta(
        shape=lengths,
        dtype=kind,
        chunk_grid=grid,
        chunk_keys=form.chunk_keys(_chunk_keys(given["chunk_key_encoding"]) if encoding is None else None),
        fill_value=check_fill(fill, chain, kind),
        codecs=chain,
        attributes=check_attributes(given["attributes"]),
        dimension_names=_names(given["dimension_names"], len(lengths)),
        storage_transformers=transformers if encoding is None else (encoding, *transformers),
        format=form.name,
        fill_undefined=undefined,
    )


def _chunks(
    chunks: ChunksLike, shards: ShardsLike, shape: tuple[int, ...], kind: DataType
) -> tuple[tuple[int, ...], tuple[int, ...] | None, ChunkGrid]:
    """Return chunk shape and shard shape for the codecs, which divide those of uneven grids, and the grid."""
    uneven = resolve_uneven(chunks, shape, "chunks")
    if uneven is not None:
        if shards is not None:
            expected = "one length for each axis, as all chunks in shards have one shape; shards= may have lists"
            raise MetadataError(problems=[Problem("chunks", expected, uneven.text)])
        return uneven.divisors(), None, uneven
    uneven = resolve_uneven(shards, shape, "shards")
    inside = shards if uneven is None else uneven.divisors()
    chunk_shape = resolve_chunks(chunks, shape, kind.usual_bytes, inside)
    shard_shape = resolve_shards(inside, chunk_shape, shape, kind.usual_bytes)
    return chunk_shape, shard_shape, uneven or RegularGrid(shard_shape or chunk_shape)


name_keywords(describe_array, DEFAULTS)
_ALL_OPTIONS: Final = {"shape", "dtype", *DEFAULTS, *_OPTIONS_OF_MAKING}


def _transformers(given: Any, rank: int) -> tuple[StorageTransformer, ...]:
    if given is None:
        return ()
    from blizzarr.transformers import transformers_of

    return transformers_of(given, rank)


def _key_encoding(given: Any, rank: int) -> StorageTransformer | None:
    """Return a chunk key encoding that is not of the specification; None for those that are."""
    name = given.get("name") if isinstance(given, Mapping) else given
    if isinstance(name, str) and name in ("default", "v2"):
        return None
    from blizzarr.transformers import KEY_ENCODINGS, ChunkKeyEncoding

    if isinstance(given, ChunkKeyEncoding):
        given.check(rank, "chunk_key_encoding", problems := Problems())
        problems.raise_any()
        return given
    row = KEY_ENCODINGS.get(name) if isinstance(name, str) else None
    if row is None:
        return None
    options = given.get("configuration", {}) if isinstance(given, Mapping) else {}
    problems = Problems()
    encoding = row.from_configuration({**row.defaults(), **options}, "chunk_key_encoding", problems, rank)
    problems.raise_any()
    return encoding


def check_option_names(
    names: Collection[str], name: str = "create_array", more: tuple[str, ...] = _OPTIONS_OF_MAKING
) -> None:
    """Check that `create_array` has these options; others are often typos, or options of zarr-python 2.

    The error is about the function called `name`, which has `more` parameters.

    Raise `TypeError`: the text says which option was probably meant.

    >>> check_option_names(["chunk"])
    Traceback (most recent call last):
    ...
    TypeError: create_array(): unexpected keyword arguments: chunk; did you mean 'chunks'?
    """
    if not names:
        return
    unknown = set(names) - _ALL_OPTIONS
    if unknown:
        raise unknown_keywords(describe_array, unknown, name=name, more=more)


def describe_group(attributes: Mapping[str, Any] | None = None, zarr_format: ZarrFormat = None) -> GroupMeta:
    """Return the metadata of a group with these attributes."""
    return GroupMeta(attributes=check_attributes(attributes), format=format_named(zarr_format).name)


def lengths_of(shape: ShapeLike) -> tuple[int, ...]:
    """Return the shape as a tuple, unchecked; a single number is the length of one axis."""
    return tuple(shape) if isinstance(shape, Iterable) else (shape,)


def _shape(shape: ShapeLike) -> tuple[int, ...]:
    given = lengths_of(shape)
    if isinstance(shape, str | bytes):
        raise MetadataError(problems=[Problem("shape", "an integer, or a list of integers", repr(shape))])
    if len(given) > MAX_RANK:
        raise MetadataError(problems=[Problem("shape", f"at most {MAX_RANK} dimensions", str(len(given)))])
    lengths, problems = [], []
    for axis, value in enumerate(given):
        try:
            length = -1 if isinstance(value, bool) else operator.index(value)
        except TypeError:
            length = -1
        if not 0 <= length < _MAX_LENGTH:
            problems.append(Problem(f"shape[{axis}]", "an integer in [0, 2^63)", repr(value)))
        lengths.append(length)
    if problems:
        raise MetadataError(problems=problems)
    return tuple(lengths)


def _element_type(dtype: Any, form: Format) -> DataType:
    """Return the data type; where the format can, the fields of a struct keep their byte orders."""
    kind = DataType.parse(dtype)
    if not (kind.fields and form.has_field_orders) or isinstance(dtype, DataType):
        return kind
    try:
        return with_field_orders(kind, np.dtype(dtype))
    except (TypeError, ValueError):
        return kind  # given as JSON, in which fields have no byte order


def _endian(dtype: Any) -> str:
    """Return the byte order of a NumPy type; our data types have none, nor have their names and JSON."""
    if isinstance(dtype, DataType):
        return "little"
    try:
        return "big" if np.dtype(dtype).newbyteorder("=") != np.dtype(dtype) else "little"
    except (TypeError, ValueError):
        return "little"


def _with_order(filters: Any, order: str | None, rank: int) -> Any:
    """Return the filters, after a transposition that makes the first axis vary fastest if `order` is ``"F"``."""
    if order not in (None, "C", "F"):
        raise MetadataError(problems=[Problem("order", "'C' or 'F'", repr(order))])
    if order != "F" or rank < 2:
        return filters
    turned = TransposeCodec(tuple(reversed(range(rank))))
    if filters is None or (isinstance(filters, str) and filters == "auto"):
        return [turned]
    return [turned, *(filters if isinstance(filters, list | tuple) else [filters])]


def _check_alone(**arguments: Any) -> None:
    """Raise `ValueError` if an argument is given that `codecs`, the whole chain, replaces."""
    for name, value in arguments.items():
        if value is not None and not (isinstance(value, str) and value in ("auto", "C")):
            raise ValueError(
                f"expected either codecs= (the whole chain) or {name}=, found both; with codecs= sharding and order "
                "are codecs too, and chunks= is the shape of what is stored as one object"
            )


def _chunk_keys(given: ChunkKeysLike) -> ChunkKeys | None:
    if given is None or isinstance(given, ChunkKeys):
        return given
    if hasattr(given, "to_dict"):  # zarr-python's
        given = cast("Mapping[str, Any]", given.to_dict())
    name: Any = given
    separator: Any = None
    if isinstance(given, Mapping):
        options = given.get("configuration", given)
        name, separator = given.get("name"), options.get("separator") if isinstance(options, Mapping) else options
    elif not isinstance(given, str) and isinstance(given, Sequence) and len(given) == 2:
        name, separator = given
    if name not in ("default", "v2"):
        raise MetadataError(problems=[Problem("chunk_key_encoding.name", "'default' or 'v2'", repr(name))])
    if separator not in (None, "/", "."):
        raise MetadataError(problems=[Problem("chunk_key_encoding.separator", "'/' or '.'", repr(separator))])
    make = ChunkKeys.default if name == "default" else ChunkKeys.v2
    return make() if separator is None else make(separator)


def _names(given: Iterable[str | None] | None, rank: int) -> tuple[str | None, ...] | None:
    if given is None:
        return None
    names = None if isinstance(given, str) else tuple(given)
    expected = f"{count_text(rank, 'name')}, one for each dimension; None for one without a name"
    if isinstance(given, str):
        expected += f", in a list, like {list(given) if len(given) == rank else [given]}"
    if names is None or len(names) != rank:
        raise MetadataError(problems=[Problem("dimension_names", expected, repr(given))])
    problems = [
        Problem(
            f"dimension_names[{axis}]", "valid Unicode" if isinstance(name, str) else "a string or None", ascii(name)
        )
        for axis, name in enumerate(names)
        if not (name is None or (isinstance(name, str) and is_unicode(name)))
    ]
    if problems:
        raise MetadataError(problems=problems)
    return names
