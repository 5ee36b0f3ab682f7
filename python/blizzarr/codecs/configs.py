"""Codec chains as v1 and v2 spell them: a list of filters and a compressor, each an object with an ``id``.

There, elements have their byte order from the data type and chunks their order of axes from the array; in a chain,
these are the codecs ``bytes`` and ``transpose``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.chain import MAX_CODECS, CodecChain
from blizzarr.codecs.codec import Chunk, Codec, Stage
from blizzarr.codecs.numcodecs import PREFIX, ROWS, NumcodecsCodec
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.dtypes import DataType
from blizzarr.problems import MISSING, Problems

__all__ = ["Configs", "chain_from_configs", "chain_to_configs"]


class Configs(NamedTuple):
    """What an array document of v1 or v2 says of its codecs, spread over its members."""

    filters: list[dict[str, Any]] | None
    compressor: dict[str, Any] | None
    order: str
    """``"C"`` or ``"F"``."""
    endian: str | None
    """The byte order for the data type: ``"little"``, ``"big"``, or `None` where elements have but one byte."""


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
    """The chain that a document means; `None` when a problem was added.

    `filters` and `compressor` are what the document says, unchecked; `dtype` and `chunk_shape` are `None` where the
    document is wrong about them.

    Examples
    --------
    >>> problems = Problems()
    >>> chain = chain_from_configs([], {"id": "zlib", "level": 1}, dtype=DataType.parse("float64"), endian="big",
    ...                            order="F", chunk_shape=(3, 4), problems=problems)
    >>> chain.all
    (TransposeCodec(order=(1, 0)), BytesCodec(endian='big'), ZlibCodec(level=1))
    """
    before = len(problems.items)
    listed = _listed(filters, compressor, filters_path, compressor_path, problems)
    chunk = Chunk(dtype, chunk_shape)
    turned = _turned(order, chunk_shape)
    chunk = turned[0].after(chunk) if turned else chunk
    serializer = BytesCodec(endian).resolve(chunk)
    compressors: list[Codec] = []
    for config, path in listed:
        codec = _codec(config, path, problems, chunk)
        if codec is not None:
            compressors.append(codec.standard(chunk))
    if len(problems.items) > before:
        return None
    return CodecChain(turned, serializer, tuple(compressors))


def _listed(
    filters: Any, compressor: Any, filters_path: str, compressor_path: str, problems: Problems
) -> list[tuple[Any, str]]:
    """All codecs in the order of encoding, each with its place in the document."""
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


def _codec(config: Any, path: str, problems: Problems, chunk: Chunk) -> NumcodecsCodec | None:
    """One codec of a document."""
    if type(config) is not dict:
        problems.add(path, "a codec: an object with an id", config)
        return None
    name = config.get("id", MISSING)
    if type(name) is not str:
        problems.add(f"{path}.id", "the name of a codec", name)
        return None
    row = ROWS.get(PREFIX + name)
    if row is None:
        problems.unknown(f"{path}.id", "codec", name, "numcodecs has no codec of this name")
        return None
    # What is unknown was ignored by those who wrote it, or they could not have; it is kept with the document.
    known = [option.name for option in row.options]
    options = {option: _number(value) for option, value in config.items() if option in known}
    return _relocated(row, options, path, problems, chunk)


def _number(value: Any) -> Any:
    """NCZarr writes numbers as strings."""
    if type(value) is str and value.removeprefix("-").isdecimal() and value.isascii() and len(value) < 20:
        return int(value)
    return value


def _relocated(
    row: type[NumcodecsCodec], options: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk
) -> NumcodecsCodec | None:
    """The codec with these options; problems are placed where these documents have the options: beside the id."""
    found = Problems()
    codec = row.from_json(options, path, found, chunk)
    inside = f"{path}.configuration"
    for problem in found.items:
        there = problem.path.startswith(inside)
        problems.items.append(problem._replace(path=path + problem.path[len(inside) :]) if there else problem)
    problems.extensions.extend(found.extensions)
    problems.limits.extend(found.limits)
    return codec


def _turned(order: str, chunk_shape: Sequence[int] | None) -> tuple[TransposeCodec, ...]:
    """The filters for an order of axes."""
    if order != "F" or chunk_shape is None or len(chunk_shape) < 2:
        return ()
    return (TransposeCodec(tuple(reversed(range(len(chunk_shape))))),)


def chain_to_configs(
    chain: CodecChain,
    *,
    dtype: DataType,
    chunk_shape: tuple[int, ...],
    path: str = "codecs",
    problems: Problems,
) -> Configs | None:
    """What a document says for a chain; `None` when it cannot, and a problem was added for each codec in the way.

    Examples
    --------
    >>> problems = Problems()
    >>> chain = CodecChain.from_list(["bytes", "gzip", "zstd"], "uint16", (4,))
    >>> chain_to_configs(chain, dtype=DataType.parse("uint16"), chunk_shape=(4,), problems=problems)
    Configs(filters=[{'id': 'gzip', 'level': 6}], compressor={'id': 'zstd', 'level': 0}, order='C', endian='little')
    """
    before = len(problems.items)
    order = _order(chain.filters, len(chunk_shape), path, problems)
    endian: str | None = None
    if isinstance(chain.serializer, BytesCodec):
        endian = chain.serializer.endian
    else:
        problems.add(f"{path}[{len(chain.filters)}]", "the codec bytes", chain.serializer.name)
    configs = []
    for position, codec in enumerate(chain.compressors, len(chain.filters) + 1):
        config = _config(codec)
        if config is None:
            problems.add(f"{path}[{position}]", "a codec that numcodecs has", codec.name)
        else:
            configs.append(config)
    if len(problems.items) > before:
        return None
    return Configs(configs[:-1] or None, configs[-1] if configs else None, order, endian)


def _order(filters: Sequence[Codec], rank: int, path: str, problems: Problems) -> str:
    """The order of axes that the transpositions of a chain make together."""
    axes = tuple(range(rank))
    turned = axes
    for position, codec in enumerate(filters):
        if isinstance(codec, TransposeCodec):
            turned = tuple(turned[axis] for axis in codec.order)
        else:
            problems.add(f"{path}[{position}]", "a codec that numcodecs has", codec.name)
    if turned not in (axes, axes[::-1]):
        problems.add(path, "axes in their order or reversed, C or F", list(turned))
    return "F" if rank > 1 and turned == axes[::-1] else "C"


_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")


def _config(codec: Codec) -> dict[str, Any] | None:
    """One codec as documents have it; `None` when numcodecs has none that does the same."""
    if isinstance(codec, NumcodecsCodec):
        return codec.config()
    if codec.stage is not Stage.COMPRESSOR:
        return None
    options = codec.configuration()
    if codec.name == "blosc":
        options["shuffle"] = _SHUFFLES.index(options["shuffle"])
        # Taken from the elements; readers do not need it.
        options.pop("typesize", None)
    elif codec.name == "zstd" and not options["checksum"]:
        # Older readers do not know of checksums.
        del options["checksum"]
    elif codec.name == "crc32c":
        options["location"] = "end"
    return {"id": codec.name, **options} if PREFIX + codec.name in ROWS else None
