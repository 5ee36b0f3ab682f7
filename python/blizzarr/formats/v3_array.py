"""Array documents of Zarr v3.

https://zarr-specs.readthedocs.io/en/latest/v3/core/#array-metadata
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from math import gcd
from typing import TYPE_CHECKING, Any, Final

from blizzarr.bounded_cache import BoundedCache
from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType, table
from blizzarr.formats.array_encoding import original_of, respelled
from blizzarr.formats.document import check_depth
from blizzarr.model import ArrayMeta, ChunkGrid, ChunkKeys
from blizzarr.model.chunk_grid import CHUNK_GRIDS
from blizzarr.model.shapes import array_shape
from blizzarr.problems import MISSING, Problems, extension, members, name_path

if TYPE_CHECKING:
    from blizzarr.transformers import StorageTransformer

_MEMBERS: Final = frozenset(
    (
        "zarr_format",
        "node_type",
        "shape",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "fill_value",
        "codecs",
        "attributes",
        "dimension_names",
        "storage_transformers",
    )
)
_KEYS: Final = {
    (keys.name, keys.separator): keys
    for keys in (ChunkKeys.default("/"), ChunkKeys.default("."), ChunkKeys.v2("."), ChunkKeys.v2("/"))
}
_SEPARATORS: Final = {"default": "/", "v2": "."}
_NESTS: Final = (dict, list)
_NOTHING: Final[Mapping[str, Any]] = {}

REMEMBERED: Final[BoundedCache[bytes, ArrayMeta]] = BoundedCache(2**9)
"""Arrays that are known to conform, by the members of their documents other than `attributes`."""
_SMALL: Final = 2**12
"""The size in bytes of the largest such members that are remembered."""


def decode(document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
    """Decode the array of a document; `None` if a problem was added.

    Of arrays that differ in their attributes only, which many a hierarchy consists of, the first one is decoded.
    """
    # The second version has no references, so that equal members have equal bytes.
    rest = marshal.dumps({name: value for name, value in document.items() if name != "attributes"}, 2)
    known = REMEMBERED.get(rest)
    if known is not None:
        before = len(problems.items)
        attributes = decode_attributes(document, problems)
        return None if len(problems.items) > before else known.with_attributes(attributes, document)
    before = len(problems.items) + len(problems.limits) + len(problems.notices)
    meta = _decode(document, problems)
    is_sound = len(problems.items) + len(problems.limits) + len(problems.notices) == before
    if meta is not None and is_sound and len(rest) <= _SMALL:
        REMEMBERED.keep(rest, meta.with_attributes({}, {}))
    return meta


def _decode(document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
    before = len(problems.items)
    get = document.get
    shape = array_shape(get("shape", MISSING), "shape", problems)
    rank = None if shape is None else len(shape)
    dtype = table.from_json(get("data_type", MISSING), "data_type", problems)
    fill_value: Any = None
    value = get("fill_value", MISSING)
    if dtype is not None:
        fill_value = dtype.fill_from_json(value, "fill_value", problems)
    elif value is MISSING:
        problems.add("fill_value", "a value of the data type", MISSING)
    grid = _chunk_grid(get("chunk_grid", MISSING), shape, dtype, problems)
    chunk_keys, encoding = _chunk_keys(get("chunk_key_encoding", MISSING), rank, problems)
    codecs = _codecs(get("codecs", MISSING), shape, grid, dtype, problems)
    if dtype is not None and dtype.fields and type(value) is str and fill_value is not None and codecs is not None:
        # Fill values given as the bytes of an element have the byte order of the elements.
        fill_value = dtype.fill_from_json(value, "fill_value", problems, codecs.endian)
    attributes = decode_attributes(document, problems)
    # zarr-python writes null for no names.
    names = get("dimension_names")
    dimension_names = None if names is None else _dimension_names(names, rank, problems)
    listed = get("storage_transformers", MISSING)
    transformers = () if listed is MISSING or listed == [] else _transformers(listed, rank, problems)
    if encoding is not None:
        if transformers:
            problems.add("storage_transformers", f"none beside the chunk key encoding {encoding.name}", listed)
        transformers = (encoding,)
    extra = unknown_members(document, _MEMBERS, problems)
    if len(problems.items) > before:
        return None
    # If one of them is missing, there is a problem, or a limit, which is raised if there are no problems.
    if shape is None or dtype is None or grid is None or chunk_keys is None or codecs is None:
        return None
    return ArrayMeta(
        shape,
        dtype,
        grid,
        chunk_keys,
        fill_value,
        codecs,
        attributes,
        dimension_names,
        transformers,
        extra,
        "v3",
        document,
    )


def _transformers(listed: Any, rank: int | None, problems: Problems) -> tuple[StorageTransformer, ...]:
    # Imported on demand, as few arrays have any.
    from blizzarr.transformers import decode

    return decode(listed, rank, problems)


def _chunk_grid(
    value: Any, shape: tuple[int, ...] | None, dtype: DataType | None, problems: Problems
) -> ChunkGrid | None:
    named = extension(value, "chunk_grid", problems, "chunk grid")
    if named is None:
        return None
    name, configuration = named
    row = CHUNK_GRIDS.find(name)
    if row is None:
        problems.unknown(name_path(value, "chunk_grid"), "chunk grid", name)
        return None
    return row.from_configuration(configuration, shape, dtype, problems)


def _codecs(
    value: Any, shape: tuple[int, ...] | None, grid: ChunkGrid | None, dtype: DataType | None, problems: Problems
) -> CodecChain | None:
    """Decode the codecs, and check that they fit all chunks of the grid."""
    before = len(problems.items)
    # What divides every chunk divides these lengths; limits are for the largest chunk.
    divisors = None if grid is None else grid.divisors()
    if grid is not None and shape is not None and grid.ends_with_array:
        divisors = tuple(map(gcd, grid.inside(shape), shape))
    chain = CodecChain.from_json(value, dtype=dtype, chunk_shape=divisors, problems=problems)
    if grid is None or shape is None or len(problems.items) > before or divisors == (largest := grid.inside(shape)):
        return chain
    return CodecChain.from_json(value, dtype=dtype, chunk_shape=largest, problems=problems)


def _chunk_keys(value: Any, rank: int | None, problems: Problems) -> tuple[ChunkKeys | None, StorageTransformer | None]:
    """Decode the chunk key encoding; one that is not of the specification renames the default keys."""
    named = extension(value, "chunk_key_encoding", problems, "chunk key encoding")
    if named is None:
        return None, None
    name, configuration = named
    usual = _SEPARATORS.get(name)
    if usual is None:
        from blizzarr.transformers import KEY_ENCODINGS

        row = KEY_ENCODINGS.get(name)
        if row is not None:
            return ChunkKeys.default(), row.from_configuration(configuration, "chunk_key_encoding", problems, rank)
        problems.unknown(name_path(value, "chunk_key_encoding"), "chunk key encoding", name)
        return None, None
    separator = configuration.get("separator", usual)
    if len(configuration) > 1 or (configuration and "separator" not in configuration):
        members(configuration, "chunk_key_encoding", problems, ("separator",))
    if type(separator) is str and (keys := _KEYS.get((name, separator))) is not None:
        return keys, None
    problems.add("chunk_key_encoding.configuration.separator", '"/" or "."', separator)
    return None, None


def _dimension_names(value: Any, rank: int | None, problems: Problems) -> tuple[str | None, ...] | None:
    """Decode the dimension names: a string or null for each dimension; duplicates are allowed."""
    if type(value) is not list:
        problems.add("dimension_names", "a list of names", value)
        return None
    if rank is not None and len(value) != rank:
        problems.add("dimension_names", f"{rank} names, one for each dimension", value)
    for index, name in enumerate(value):
        if name is not None and type(name) is not str:
            problems.add(f"dimension_names[{index}]", "a string or null", name)
    return tuple(value)


def decode_attributes(document: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Decode the attributes of an array or a group."""
    attributes = document.get("attributes", MISSING)
    if attributes is MISSING:
        return {}
    if type(attributes) is not dict:
        problems.add("attributes", "an object", attributes)
        return {}
    if any(type(value) in _NESTS for value in attributes.values()):
        check_depth(attributes, "attributes", problems)
    return attributes


def unknown_members(document: Mapping[str, Any], known: frozenset[str], problems: Problems) -> Mapping[str, Any]:
    """Return the unknown members with ``"must_understand": false``; add a problem for each other unknown member."""
    unknown = document.keys() - known
    if not unknown:
        return _NOTHING
    extra = {}
    for name in document:
        if name not in unknown:
            continue
        value = document[name]
        if type(value) is dict and value.get("must_understand") is False:
            extra[name] = value
            check_depth(value, name, problems)
        else:
            problems.add(name, 'no such member, or an object with "must_understand": false', value)
    return extra


def encode(meta: ArrayMeta, original: ArrayMeta | None = None) -> dict[str, Any]:
    """Encode the document of an array.

    If the array came from a document, each member whose meaning has not changed keeps its spelling, and unknown members
    are kept. `original` is the array as that document describes it, if that is known.
    """
    keys, transformers = meta.chunk_keys, meta.storage_transformers
    encoding = _encoding(transformers)
    document: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(meta.shape),
        "data_type": meta.dtype.to_json(),
        "chunk_grid": {"name": meta.chunk_grid.name, "configuration": meta.chunk_grid.to_configuration()},
        "chunk_key_encoding": {"name": keys.name, "configuration": {"separator": keys.separator}}
        if encoding is None
        else encoding.to_json(),
        "fill_value": meta.dtype.fill_to_json(meta.fill_value),
        "codecs": meta.codecs.to_json(),
        "attributes": meta.attributes,
    }
    if meta.dimension_names is not None:
        document["dimension_names"] = list(meta.dimension_names)
    document["storage_transformers"] = [item.to_json() for item in transformers if item is not encoding]
    document.update(meta.extra)
    # The spelling of attributes is never taken over, and large ones take long to check.
    original = original or original_of(meta, "v3", lambda source, own: decode(source | {"attributes": {}}, own))
    return document if original is None else _respelled(document, original, meta)


def _encoding(transformers: tuple[StorageTransformer, ...]) -> StorageTransformer | None:
    if not transformers:
        return None
    from blizzarr.transformers import encoding_of

    return encoding_of(transformers)


def _respelled(document: dict[str, Any], original: ArrayMeta, meta: ArrayMeta) -> dict[str, Any]:
    """Return the same document in the order and spelling of the one from which the array came."""
    assert meta.source is not None
    same = {
        "data_type": original.dtype == meta.dtype,
        # A chunk length of 0 stands for the length of the array.
        "chunk_grid": original.chunk_grid == meta.chunk_grid
        and (original.shape == meta.shape or 0 not in _configuration(meta.source["chunk_grid"]).get("chunk_shape", ())),
        "chunk_key_encoding": original.chunk_keys == meta.chunk_keys
        and _encoding(original.storage_transformers) == _encoding(meta.storage_transformers),
        "fill_value": original.dtype == meta.dtype
        and meta.dtype.fill_identity(original.fill_value) == meta.dtype.fill_identity(meta.fill_value),
        "codecs": original.codecs == meta.codecs and not _has_letter_order(meta.source["codecs"]),
    }
    same["storage_transformers"] = original.storage_transformers == meta.storage_transformers
    return respelled(
        document, meta.source, same, lambda name, value: name in ("attributes", "storage_transformers") and not value
    )


def _configuration(value: Any) -> Mapping[str, Any]:
    """Return the configuration of an extension; an empty one if there is only a name."""
    return _NOTHING if type(value) is str else value.get("configuration", _NOTHING)


def _has_letter_order(codecs: Any) -> bool:
    """Return whether a transpose has the order "C" or "F", which is read but no longer written."""
    for codec in codecs:
        configuration = codec.get("configuration") if type(codec) is dict else None
        if configuration and (
            configuration.get("order") in ("C", "F")
            or _has_letter_order(configuration.get("codecs", ()))
            or _has_letter_order(configuration.get("index_codecs", ()))
        ):
            return True
    return False
