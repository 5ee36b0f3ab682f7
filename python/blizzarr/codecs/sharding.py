"""``sharding_indexed`` (array -> bytes): a chunk that is itself a grid of inner chunks, with an index.

Each inner chunk goes through `codecs`; the index, two 64-bit numbers per inner chunk, goes through `index_codecs`,
whose output must have a fixed size so that the index can be found from either end of the shard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from blizzarr.codecs import chain as chains
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, one_of
from blizzarr.codecs.crc32c import Crc32cCodec
from blizzarr.dtypes import DataType
from blizzarr.errors import MetadataError, Problem
from blizzarr.problems import MISSING, Problems, lengths
from blizzarr.size_text import count_text

if TYPE_CHECKING:
    from blizzarr.codecs.chain import CodecChain

MAX_INDEX_BYTES: Final = 2**30
"""The largest size of a shard's index in bytes; the whole index is held in memory."""

_NESTED: Final = ("chunk_shape", "codecs", "index_codecs")
_INDEX_TYPE: Final = DataType.parse("uint64")


@dataclass(frozen=True, slots=True)
class ShardingCodec(Codec):
    """The codec ``sharding_indexed`` (array -> bytes): divides a chunk, the shard, into inner chunks with an index.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/

    Parameters
    ----------
    chunk_shape
        The shape of an inner chunk; its lengths must divide those of the shard.
    codecs
        The codecs of the inner chunks: a `CodecChain`, or a list as `create_array` takes it for `codecs`. With None,
        the defaults are chosen when an array is created.
    index_codecs
        The codecs of the index, each with an output of fixed size. With None, they are ``bytes`` and ``crc32c``.
    index_location
        ``"end"`` or ``"start"``: where in the shard the index is.

    Examples
    --------
    >>> import blizzarr
    >>> shards = ShardingCodec(chunk_shape=(32, 32), index_location="start")
    >>> blizzarr.create_array({}, shape=(256, 256), dtype="uint8", chunks=(128, 128), codecs=[shards]).chunks
    (32, 32)
    """

    name: ClassVar[str] = "sharding_indexed"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    options: ClassVar[tuple[Option, ...]] = (one_of("index_location", ("start", "end"), required=False),)

    chunk_shape: tuple[int, ...]
    codecs: CodecChain | tuple[Any, ...] | list[Any] | None = None
    index_codecs: CodecChain | tuple[Any, ...] | list[Any] | None = None
    index_location: str = "end"

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        inside = f"{path}.configuration"
        own = {name: value for name, value in configuration.items() if name not in _NESTED}
        values = cls.read_options(own, path, problems)
        inner = lengths(configuration.get("chunk_shape", MISSING), f"{inside}.chunk_shape", problems, 1)
        grid = None if inner is None else _grid(inner, chunk, f"{inside}.chunk_shape", problems)
        part = Chunk(chunk.dtype, inner, chunk.depth + 1, is_big=chunk.is_big)
        codecs = chains.decode(configuration.get("codecs", MISSING), f"{inside}.codecs", problems, part)
        entries = Chunk(_INDEX_TYPE, None if grid is None else (*grid, 2), chunk.depth + 1)
        where = f"{inside}.index_codecs"
        index_codecs = chains.decode(configuration.get("index_codecs", MISSING), where, problems, entries)
        if index_codecs is not None:
            for position, codec in enumerate(index_codecs.all):
                if not codec.fixed_size:
                    problems.add(f"{where}[{position}]", "a codec whose output has a fixed size", codec.name)
                    index_codecs = None
        if values is None or inner is None or codecs is None or index_codecs is None:
            return None
        return cls(inner, codecs, index_codecs, **values)

    def inner(self) -> tuple[tuple[int, ...], CodecChain]:
        return self.chunk_shape, _resolved(self.codecs)

    def resolve(self, chunk: Chunk) -> Self:
        shape = tuple(map(index, self.chunk_shape))
        codecs = chains.resolve(self.codecs, Chunk(chunk.dtype, shape, is_big=chunk.is_big))
        listed = (BytesCodec(), Crc32cCodec()) if self.index_codecs is None else self.index_codecs
        index_codecs = chains.resolve(listed, Chunk(_INDEX_TYPE, None))
        return replace(self, chunk_shape=shape, codecs=codecs, index_codecs=index_codecs)

    def step(self, chunk: Chunk) -> Step:
        assert chunk.shape is not None
        assert chunk.dtype is not None
        grid = tuple(outer // inner for outer, inner in zip(chunk.shape, self.chunk_shape, strict=True))
        steps = _resolved(self.codecs).steps(chunk.dtype, self.chunk_shape)
        index_steps = _resolved(self.index_codecs).steps(_INDEX_TYPE, (*grid, 2))
        return ("shard", self.chunk_shape, steps, index_steps, self.index_location == "start", "lexicographic")

    def filtered(self, filters: Sequence[Codec]) -> Self:
        codecs = _resolved(self.codecs)
        return replace(self, codecs=replace(codecs, filters=(*filters, *codecs.filters)))

    def configuration(self) -> dict[str, Any]:
        return {
            "chunk_shape": list(self.chunk_shape),
            "codecs": _resolved(self.codecs).to_json(),
            "index_codecs": _resolved(self.index_codecs).to_json(),
            "index_location": self.index_location,
        }


def _resolved(codecs: Any) -> CodecChain:
    if not isinstance(codecs, chains.CodecChain):
        expected = "a CodecChain; lists and None are turned into one when an array is created"
        raise MetadataError(problems=[Problem("ShardingCodec.codecs", expected, repr(codecs))])
    return codecs


def _grid(inner: tuple[int, ...], chunk: Chunk, path: str, problems: Problems) -> tuple[int, ...] | None:
    """Return the number of inner chunks along each axis of a shard; None if they do not divide it."""
    shard = chunk.shape
    if shard is None:
        return None
    if len(inner) != len(shard):
        problems.add(path, f"{count_text(len(shard), 'length')}, one for each axis of the shard", list(inner))
        return None
    right = True
    for axis, (outer, length) in enumerate(zip(shard, inner, strict=True)):
        if outer % length:
            right = False
            problems.add(f"{path}[{axis}]", f"a divisor of {outer}, the length of the shard", length)
    if not right:
        return None
    grid = tuple(outer // length for outer, length in zip(shard, inner, strict=True))
    size = 16 * prod(grid)
    if size > MAX_INDEX_BYTES:
        problems.limit(path, f"an index of at most {MAX_INDEX_BYTES:,} bytes", size)
    return grid
