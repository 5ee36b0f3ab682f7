"""The codecs of a v1 or v2 document for a codec chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from blizzarr.codecs.blosc import SHUFFLES
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.chain import CodecChain
from blizzarr.codecs.codec import Codec, Stage
from blizzarr.codecs.numcodecs import ROWS
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter, endian_of, to_little
from blizzarr.codecs.numcodecs.row import PREFIX, NumcodecsCodec
from blizzarr.codecs.numcodecs.run import NumcodecsRun
from blizzarr.codecs.objects import ObjectCodec
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.dtypes import DataType
from blizzarr.problems import Problems


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
