"""Array documents of Zarr v1, ``meta``.

https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html#metadata

**The order of chunks.** By the document, a chunk of an array with ``"order": "F"`` has its first axis fastest.
zarr-python 1 did so with Blosc only: with other compressors it wrote and read chunks in C order. Nearly all data of
this format were written by zarr-python 1, so they are read and written like that here;
``config.v1_order_as_documented`` follows the document.

**Compressors**, and the codec configurations that they mean.

============  =========================================  ==================================
compression   compression_opts                           codec configuration
============  =========================================  ==================================
``blosc``     an object with cname, clevel, shuffle      ``blosc``
``zlib``      the level                                  ``zlib``
``gzip``      the level                                  ``zlib``: zarr-python 1 had it so
``bz2``       the level                                  ``bz2``
``lzma``      an object with format, check, preset,      ``lzma``
              filters
``none``      null                                       null
============  =========================================  ==================================

Options that are missing or null have the defaults of zarr-python 1; options that it did not have are ignored.

The Blosc of zarr-python 1 has zstd 0.7. Its data are read; with ``cname`` "zstd", zstd 1 is written, which newer
libraries read and zarr-python 1 does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.codecs import BloscCodec, GzipCodec
from blizzarr.codecs.blosc import SHUFFLE_NUMBER
from blizzarr.codecs.codec import Option
from blizzarr.codecs.configs import Configs, chain_from_configs, chain_to_configs
from blizzarr.codecs.numcodecs.compressors import PRESET, BZ2Codec
from blizzarr.codecs.numcodecs.registered import NumcodecsBlosc
from blizzarr.config import config
from blizzarr.dtypes import DataType, Kind, fill_user
from blizzarr.dtypes.typestr import from_typestr, to_typestr
from blizzarr.formats import v1_fill
from blizzarr.formats.array_encoding import common_shape, is_finite, original_of, respelled, unchanged
from blizzarr.formats.document import check_number, other_members
from blizzarr.model import ArrayMeta, ChunkKeys, RegularGrid
from blizzarr.model.shapes import array_shape, chunk_shape
from blizzarr.problems import MISSING, Problems, decoder

_MEMBERS: Final = frozenset(
    ("zarr_format", "shape", "chunks", "dtype", "compression", "compression_opts", "fill_value", "order")
)
KEYS: Final = ChunkKeys.v2(".")


@decoder
def decode(document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
    """Decode the array of a document, without attributes; `None` if a problem was added."""
    before = len(problems.items)
    get = document.get
    check_number(document, "zarr_format", 1, problems)
    shape = array_shape(get("shape", MISSING), "shape", problems)
    dtype, endian = _decode_dtype(get("dtype", MISSING), problems)
    chunks = chunk_shape(get("chunks", MISSING), "chunks", shape, dtype, problems)
    order = get("order", MISSING)
    if order not in ("C", "F"):
        problems.add("order", '"C" or "F"', order)
        order = "C"
    compressor = _decode_compressor(document, problems)
    codecs = chain_from_configs(
        None,
        compressor,
        dtype=dtype,
        endian=endian,
        order=order if _is_followed(compressor) else "C",
        chunk_shape=chunks,
        compressor_path="compression_opts",
        problems=problems,
    )
    fill_value = get("fill_value", MISSING)
    fill_undefined = fill_value is None
    if fill_value is MISSING:
        problems.add("fill_value", "a value, or null", MISSING)
    elif dtype is not None:
        # The document leaves elements that were never written undefined; here they are zeros.
        fill_value = (
            fill_user.default(dtype)
            if fill_undefined
            else v1_fill.decode(dtype, fill_value, "fill_value", problems, endian)
        )
    extra = other_members(document, _MEMBERS, problems)
    if len(problems.items) > before:
        return None
    # If one of them is missing, there is a problem, or a limit, which is raised if there are no problems.
    if shape is None or dtype is None or chunks is None or codecs is None:
        return None
    return ArrayMeta(
        shape,
        dtype,
        RegularGrid(chunks),
        KEYS,
        fill_value,
        codecs,
        extra=extra,
        format="v1",
        source=document,
        fill_undefined=fill_undefined,
    )


def _decode_dtype(value: Any, problems: Problems) -> tuple[DataType | None, str | None]:
    typed = from_typestr(value, "dtype", problems)
    if typed is None:
        return None, None
    if typed.dtype.kind is Kind.OBJECT:
        problems.add("dtype", "elements of a fixed size", value)
        return None, None
    if not _is_of_pairs(value):
        problems.add("dtype", "fields with a name and a data type, and no shape", value)
        return None, None
    return typed.dtype, typed.endian


def _is_of_pairs(spelled: Any) -> bool:
    """Return whether all fields of a struct, also of nested ones, are two-element lists."""
    return type(spelled) is not list or all(len(field) == 2 and _is_of_pairs(field[1]) for field in spelled)


def _decode_compressor(document: Mapping[str, Any], problems: Problems) -> dict[str, Any] | None:
    """Return the configuration of the compressor; `None` for none, or if a problem was added."""
    if "compression" not in document:
        problems.add("compression", "the name of a compressor", MISSING)
    if "compression_opts" not in document:
        problems.add("compression_opts", "the options of the compressor, or null", MISSING)
    if "compression" not in document or "compression_opts" not in document:
        return None
    return from_v1(document["compression"], document["compression_opts"], problems)


def _is_followed(compressor: Mapping[str, Any] | None) -> bool:
    """Return whether chunks are in the order that the document has."""
    return config.v1_order_as_documented or (compressor is not None and compressor["id"] == "blosc")


def encode(meta: ArrayMeta, problems: Problems) -> Mapping[str, Any]:
    """Encode the document of an array; add a problem for each member that v1 cannot express.

    If the array came from a document, its members keep their spelling and order, and unknown members are kept.
    """
    dtype, chunks = meta.dtype, common_shape(meta, problems)
    configs = chain_to_configs(meta.codecs, dtype=dtype, chunk_shape=chunks, problems=problems)
    endian = None if configs is None else configs.endian
    spelled = None if dtype.kind is Kind.OBJECT else to_typestr(dtype, endian)
    if spelled is None:
        problems.add("data_type", "a data type of a fixed size that NumPy has", dtype.to_json())
    elif not _is_of_pairs(spelled):
        problems.add("data_type", "fields with a name and a data type: v1 has none with a shape", spelled)
    if meta.storage_transformers:
        problems.add("storage_transformers", "none: v1 has no storage transformers", len(meta.storage_transformers))
    if meta.chunk_keys != KEYS:
        problems.add("chunk_key_encoding", 'the encoding v2 with the separator "."', meta.chunk_keys.name)
    compression, options = _compression(configs, problems)
    is_null = meta.fill_undefined or spelled is None
    document = {
        **meta.extra,
        "zarr_format": 1,
        "shape": list(meta.shape),
        "chunks": list(chunks),
        "dtype": spelled,
        "compression": compression,
        "compression_opts": options,
        "fill_value": None if is_null else v1_fill.encode(dtype, meta.fill_value, endian, problems),
        "order": None if configs is None else configs.order,
    }
    original = None if problems.items else original_of(meta, "v1", decode)
    return document if original is None else _respelled(document, original, meta)


def _compression(configs: Configs | None, problems: Problems) -> tuple[str | None, Any]:
    if configs is None:
        return None, None
    if configs.filters:
        problems.add("filters", "none: v1 has no filters", [codec["id"] for codec in configs.filters])
    if configs.order == "F" and not _is_followed(configs.compressor):
        expected = "C order, or the compressor blosc: zarr-python 1 reads chunks of other compressors in C order"
        problems.add("order", f"{expected} (config.v1_order_as_documented writes them)", "F")
    return to_v1(configs.compressor, problems)


def _respelled(document: Mapping[str, Any], original: ArrayMeta, meta: ArrayMeta) -> Mapping[str, Any]:
    """Return the same document in the spelling of the one from which the array came; that one if nothing changed."""
    source = meta.source
    assert source is not None
    same = unchanged(original, meta, source, lambda array: array.dtype.fill_bytes(array.fill_value))
    if all(same.values()) and original.extra == meta.extra:
        return source
    same = {name: same.get(name, False) and is_finite(value) for name, value in source.items()}
    return respelled(document, source, same)


_DEFLATE: Final = ("zlib", GzipCodec.option("level"))
_LEVELS: Final = {"zlib": _DEFLATE, "gzip": _DEFLATE, "bz2": ("bz2", BZ2Codec.option("level"))}
"""The codec and its levels."""
_OBJECTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "blosc": {name: NumcodecsBlosc().configuration()[name] for name in ("cname", "clevel", "shuffle")},
    # The numbers of Python's lzma module: the container XZ, no check.
    "lzma": {"format": 1, "check": 0, "preset": 1, "filters": None},
}
_NARROWER: Final = {"clevel": BloscCodec.option("clevel"), "shuffle": SHUFFLE_NUMBER, "preset": PRESET}
"""Options that have fewer values than in numcodecs; the codecs check the others."""
_NUMCODECS: Final = {"format": 1, "check": -1, "preset": None, "filters": None}
"""The defaults of numcodecs for ``lzma``."""
_DEFAULT_LEVEL: Final = 1
_NAMES: Final = '"blosc", "zlib", "bz2", "lzma" or "none"'


def from_v1(compression: Any, options: Any, problems: Problems) -> dict[str, Any] | None:
    """Return the configuration of a codec; `None` for no compression, or if a problem was added."""
    if compression is None or compression == "none":
        if options is not None:
            problems.add("compression_opts", "null: there is no compression", options)
        return None
    if type(compression) is not str:
        problems.add("compression", _NAMES, compression)
    elif compression in _LEVELS:
        codec, allowed = _LEVELS[compression]
        level = _DEFAULT_LEVEL if options is None else options
        if _accepts(allowed, level, "compression_opts", problems):
            return {"id": codec, "level": level}
    elif compression in _OBJECTS:
        return _with_options(compression, options, problems)
    else:
        problems.unknown("compression", "compressor of v1", compression, f"there are {_NAMES}")
    return None


def _with_options(compression: str, options: Any, problems: Problems) -> dict[str, Any] | None:
    """Return the configuration of a codec whose options are an object."""
    usual = _OBJECTS[compression]
    given = {} if options is None else options
    if type(given) is not dict:
        problems.add("compression_opts", f"an object with {', '.join(usual)}, or null", options)
        return None
    chosen = {name: given[name] for name in usual if given.get(name) is not None}
    if compression == "lzma" and ("filters" in chosen or "preset" in given):
        # Filters contain the preset; without filters, null is a preset that lzma accepts.
        chosen = {"preset": None, **chosen}
    for name, allowed in _NARROWER.items():
        value = chosen.get(name)
        if value is not None and not _accepts(allowed, value, f"compression_opts.{name}", problems):
            # The default replaces the invalid value, so that the other options are still checked.
            del chosen[name]
    return {"id": compression, **usual, **chosen}


def _accepts(option: Option, value: Any, where: str, problems: Problems) -> bool:
    """Return whether an option may have this value; if not, add a problem."""
    if option.accepts(value):
        return True
    problems.add(where, option.expected, value)
    return False


def to_v1(config: Mapping[str, Any] | None, problems: Problems) -> tuple[str, Any]:
    """Return the compressor and its options for a codec configuration; add a problem if v1 has none."""
    if config is None:
        return "none", None
    name = config["id"]
    if name in _LEVELS and name != "gzip":
        _accepts(_LEVELS[name][1], config["level"], "compressor.level", problems)
        return name, config["level"]
    if name in _OBJECTS:
        made = {option: config.get(option, _NUMCODECS.get(option)) for option in _OBJECTS[name]}
        for option, allowed in _NARROWER.items():
            if made.get(option) is not None:
                _accepts(allowed, made[option], f"compressor.{option}", problems)
        if name == "blosc" and config.get("blocksize", 0):
            problems.add("compressor.blocksize", "0: v1 has no block size", config["blocksize"])
        return name, made
    problems.add("compressor", f"a compressor that v1 has: {_NAMES}", name)
    return name, None
