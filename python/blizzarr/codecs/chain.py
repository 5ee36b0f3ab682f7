"""The codecs of an array, in order: filters, one serializer, compressors.

``filters`` turn arrays into arrays, the ``serializer`` turns an array into bytes, ``compressors`` turn bytes into
bytes. Encoding goes through them in this order, decoding in the reverse.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import Any, Final, Literal

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.catalogue import ALIASES, CATALOGUE
from blizzarr.codecs.codec import Chunk, Codec, Stage, Step
from blizzarr.codecs.numcodecs.row import IMAGES, PREFIX
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.dtypes import DataType
from blizzarr.errors import LimitError
from blizzarr.problems import Notice, Problems, describe, extension, name_path

MAX_CODECS: Final = 64
"""The largest number of codecs in one chain."""
MAX_DEPTH: Final = 16
"""The deepest nesting of codecs within codecs, as of shards."""


@dataclass(frozen=True, slots=True)
class CodecChain:
    """The codecs of an array or of a shard's inner chunks, complete and in order.

    >>> chain = CodecChain.from_list(["bytes", {"name": "gzip", "configuration": {"level": 1}}], "uint16", (4,))
    >>> [codec.name for codec in chain.all]
    ['bytes', 'gzip']
    >>> chain.steps(DataType.parse("uint16"), (4,))
    [('bytes', 0), ('gzip', 1)]
    """

    filters: tuple[Codec, ...]
    serializer: Codec
    compressors: tuple[Codec, ...]

    @classmethod
    def from_json(
        cls,
        value: Any,
        *,
        dtype: DataType | None = None,
        chunk_shape: tuple[int, ...] | None = None,
        path: str = "codecs",
        problems: Problems | None = None,
    ) -> CodecChain | None:
        """Return the chain that a document lists, checked for chunks of this type and shape as far as they are known.

        With `problems`, problems are added there and the result is None. Without, raise `MetadataError` with all.
        """
        if type(value) is list and dtype is not None and chunk_shape is not None:
            # Remembered, because the arrays of a hierarchy mostly have the same codecs.
            try:
                # Unlike `==`, bytes tell true from 1 and 1 from 1.0.
                packed = marshal.dumps(value, 2)
            except ValueError:  # not JSON
                packed = b""
            chain, notices = _remember(packed, dtype, chunk_shape)
            if chain is not None:
                if notices and problems is not None:
                    problems.notices += notices
                return chain
        own = problems or Problems()
        chain = decode(value, path, own, Chunk(dtype, chunk_shape))
        if problems is None:
            own.raise_any()
        return chain

    @classmethod
    def from_list(cls, codecs: Any, dtype: Any, chunk_shape: Sequence[int]) -> CodecChain:
        """Return the chain for a user's list of codecs, with open options chosen for chunks of this type and shape.

        Raise `MetadataError` if the codecs form no chain for such chunks, `LimitError` if they are nested too deep.
        """
        chunk = Chunk(DataType.parse(dtype), tuple(map(index, chunk_shape)))
        try:
            return _checked(resolve(codecs, chunk), chunk)
        except RecursionError as error:
            raise LimitError(f"codecs: expected codecs nested at most {MAX_DEPTH} deep, found more") from error

    @classmethod
    def from_user(
        cls,
        filters: Any = "auto",
        serializer: Any = "auto",
        compressors: Any = "auto",
        *,
        dtype: Any,
        chunk_shape: Sequence[int],
        endian: str = "little",
    ) -> CodecChain:
        """Return the chain for the three arguments that `create_array` takes.

        Each is a codec, a list of codecs, None for none or ``"auto"`` for the default: no filters, ``bytes``, ``zstd``.
        A codec is one of ours, a name, an object as in documents of any format, or a codec of zarr-python or numcodecs.

        Raise `MetadataError` if the codecs do not form a chain for such chunks.
        """
        from blizzarr.codecs import user

        chunk = Chunk(DataType.parse(dtype), tuple(map(index, chunk_shape)))
        codecs = user.arrange(filters, serializer, compressors, endian, chunk.dtype)
        return _checked(resolve(codecs, chunk), chunk)

    @property
    def all(self) -> tuple[Codec, ...]:
        """All codecs in the order of encoding."""
        return (*self.filters, self.serializer, *self.compressors)

    @property
    def is_sharded(self) -> bool:
        """True if a stored object can be read in parts: it is a shard of inner chunks."""
        return self.serializer.inner() is not None

    @property
    def innermost(self) -> CodecChain:
        """The chain of the smallest chunks: that of the innermost shards, or this one if there are no shards."""
        inner = self.serializer.inner()
        return self if inner is None else inner[1].innermost

    @property
    def is_packed(self) -> bool:
        """True if the elements are not stored as they are, so that they cannot be copied out of a part of a chunk."""
        inner = self.serializer.inner()
        return (
            bool(self.compressors)
            or (inner is None and not isinstance(self.serializer, BytesCodec))
            or any(not isinstance(codec, TransposeCodec) for codec in self.filters)
            or (inner is not None and inner[1].is_packed)
        )

    def read_shape(self, chunk_shape: tuple[int, ...], *, nested: bool = True) -> tuple[int, ...]:
        """Return the shape, in the axes of the array, of the smallest part of a chunk that can be read by itself.

        Without `nested`, it is that of the inner chunks of a shard, even if these are shards, too.
        """
        inner = self.serializer.inner()
        if inner is None:
            return chunk_shape
        shape, chain = inner
        if nested:
            shape = chain.read_shape(shape)
        for codec in reversed(self.filters):
            if isinstance(codec, TransposeCodec):
                shape = codec.before(shape)
        return shape

    @property
    def order(self) -> Literal["C", "F"]:
        """``"F"`` if chunks are stored with the first axis varying fastest, ``"C"`` for every other order."""
        chain: CodecChain | None = self
        shape: tuple[int, ...] = ()
        while chain is not None:
            for codec in chain.filters:
                if isinstance(codec, TransposeCodec):
                    axes = shape or tuple(range(len(codec.order)))
                    shape = tuple(axes[axis] for axis in codec.order)
            inner = chain.serializer.inner()
            chain = None if inner is None else inner[1]
        return "F" if len(shape) > 1 and shape == tuple(range(len(shape)))[::-1] else "C"

    @property
    def endian(self) -> str | None:
        """The byte order of stored elements; None if the serializer has none."""
        return getattr(self.innermost.serializer, "endian", None)

    def steps(self, dtype: DataType, chunk_shape: tuple[int, ...]) -> list[Step]:
        """Return the chain as the engine takes it, for chunks of this type and shape."""
        chunk = Chunk(dtype, chunk_shape)
        transpositions: list[Step] = []
        others: list[Codec] = []
        for codec in self.filters:
            # A transposition may as well come before filters that leave the elements in their places.
            if isinstance(codec, TransposeCodec) and all(other.elementwise for other in others):
                transpositions.append(codec.step(chunk))
                chunk = codec.after(chunk)
            elif not isinstance(codec, TransposeCodec) or len(codec.order) > 1:
                others.append(codec)
        turned = chunk
        filters: list[tuple[Codec, Chunk]] = []
        for codec in others:
            filters.append((codec, chunk))
            chunk = codec.after(chunk)
        if not filters:
            steps = transpositions + self.serializer.steps(chunk)
        elif self.is_sharded:
            # The engine knows shards of plain elements only. These filters are elementwise, so they can run in the
            # inner chunks.
            inner = self.serializer.filtered([codec for codec, _ in filters])
            steps = [*transpositions, inner.step(turned)]
        else:
            from blizzarr.codecs.filtering import filtered_steps

            steps = transpositions + filtered_steps(filters, self.serializer, chunk)
        chunk = self.serializer.after(chunk)
        for codec in self.compressors:
            steps.append(codec.step(chunk))
            chunk = codec.after(chunk)
        return steps

    def calls_python(self, dtype: DataType, chunk_shape: tuple[int, ...]) -> bool:
        """Return whether the engine calls functions in Python for chunks of this type and shape."""
        return _is_python(self.steps(dtype, chunk_shape))

    def to_json(self) -> list[dict[str, Any]]:
        """Return the chain as a list for a metadata document."""
        return [codec.to_json() for codec in self.all]


def _is_python(part: object) -> bool:
    """Return whether a step, or one of those within it, is in Python."""
    return isinstance(part, list | tuple) and (part[:1] == ("python",) or any(map(_is_python, part)))


@lru_cache(256)
def _remember(
    packed: bytes, dtype: DataType, chunk_shape: tuple[int, ...]
) -> tuple[CodecChain | None, tuple[Notice, ...]]:
    """Return the chain for a list of codecs, with its notices; None if it has problems, so that the caller looks."""
    problems = Problems()
    chain = decode(marshal.loads(packed), "codecs", problems, Chunk(dtype, chunk_shape)) if packed else None
    return None if problems.limits else chain, tuple(problems.notices)


def forget() -> None:
    """Decode the lists of codecs anew that were decoded before."""
    _remember.cache_clear()


def decode(value: Any, path: str, problems: Problems, chunk: Chunk) -> CodecChain | None:
    """Return the chain that a document lists; None if a problem was added."""
    if not is_list(value, path, problems, chunk.depth):
        return None
    before = len(problems.items)
    stages: list[list[Codec]] = [[], [], []]
    order: list[tuple[Stage, str, str]] = []
    complete = True
    by_place = Stage.SERIALIZER
    for position, item in enumerate(value):
        here = f"{path}[{position}]"
        # Only its place tells what a codec of imagecodecs encodes.
        listed = decode_name(item, here, problems, by_place)
        if listed is None:
            complete = False
            chunk = chunk._replace(dtype=None, shape=None)
            continue
        name, row, configuration = listed
        order.append((row.stage, name, here))
        if row.stage is Stage.SERIALIZER:
            by_place = Stage.COMPRESSOR
        codec = row.from_json(configuration, here, problems, chunk)
        if codec is not None:
            stages[row.stage].append(codec)
            chunk = codec.after(chunk)
        elif row.stage is Stage.FILTER:
            # What it would make is not known: no further problems because of that.
            chunk = chunk._replace(dtype=None, shape=None)
    _check_order(order, complete, path, problems)
    if stages[0] and stages[1] and stages[1][0].inner() is not None:
        _check_filters(stages[0], order, problems)
    if len(problems.items) > before or not stages[1]:
        return None
    return CodecChain(tuple(stages[0]), stages[1][0], tuple(stages[2]))


def is_list(value: Any, path: str, problems: Problems, depth: int) -> bool:
    """Return whether a member is a list of codecs, neither too long nor too deep in others; if not, add a problem."""
    if type(value) is not list:
        problems.add(path, "a list of codecs", value)
    elif len(value) > MAX_CODECS:
        problems.limit(path, f"at most {MAX_CODECS} codecs", len(value))
    elif depth > MAX_DEPTH:
        problems.limit(path, f"codecs nested at most {MAX_DEPTH} deep", depth)
    else:
        return True
    return False


def decode_name(
    item: Any, path: str, problems: Problems, stage: Stage | None = None
) -> tuple[str, type[Codec], Mapping[str, Any]] | None:
    """Return the name of a codec in a list, its class, and its options; None if a problem was added.

    - `stage`: that of a codec whose name does not tell it.
    """
    named = extension(item, path, problems, "codec", optional=True)
    if named is None:
        return None
    # A codec that is registered under its own name comes before an alias.
    row = CATALOGUE.find(named[0]) or CATALOGUE.find(ALIASES.get(named[0], named[0]))
    if row is None and stage is not None and named[0].startswith(f"{PREFIX}{IMAGES}"):
        from blizzarr.codecs.numcodecs.images import row_of

        return named[0], row_of(named[0], stage), named[1]
    if row is None:
        problems.unknown(name_path(item, path), "codec", named[0])
        return None
    return named[0], row, named[1]


def _check_order(order: list[tuple[Stage, str, str]], complete: bool, path: str, problems: Problems) -> None:
    """Add a problem unless filters come first, then exactly one serializer, then compressors."""
    latest = Stage.FILTER
    serializers = 0
    for stage, name, here in order:
        serializers += stage is Stage.SERIALIZER
        if stage is Stage.SERIALIZER and serializers > 1:
            problems.add(here, f"no second {stage} codec", name)
        elif stage < latest:
            problems.add(here, f"no {stage} codec after a codec that is {latest}", name)
        latest = max(latest, stage)
    # A codec that is unknown may be the serializer.
    if complete and not serializers:
        problems.add(path, f"one {Stage.SERIALIZER} codec, like bytes", [name for _, name, _ in order])


def _check_filters(filters: Sequence[Codec], order: list[tuple[Stage, str, str]], problems: Problems) -> None:
    """Add a problem for filters over several elements before shards, whose inner chunks could not be read alone."""
    places = {name: here for _, name, here in reversed(order)}
    for codec in filters:
        if not codec.elementwise and not isinstance(codec, TransposeCodec):
            problems.add(
                places[codec.name], "filters of several elements among the codecs of the inner chunks", codec.name
            )


def resolve(codecs: Any, chunk: Chunk) -> CodecChain:
    """Return the chain for a user's list of codecs, with open options chosen.

    Raise `MetadataError` if there is not exactly one serializer, or the order is wrong.
    """
    from blizzarr.codecs import user

    if isinstance(codecs, CodecChain):
        listed: Sequence[Codec] = codecs.all
    else:
        listed = user.arrange("auto", "auto", "auto", "little") if codecs is None else user.codecs_of(codecs)
    resolved: list[Codec] = []
    for codec in listed:
        resolved.append(codec.resolve(chunk))
        chunk = codec.after(chunk)
    problems = Problems()
    order = [(codec.stage, codec.name, f"codecs[{position}]") for position, codec in enumerate(resolved)]
    _check_order(order, True, "codecs", problems)
    problems.raise_any()
    stages = [tuple(codec for codec in resolved if codec.stage is stage) for stage in Stage]
    return CodecChain(stages[0], stages[1][0], stages[2])


def _checked(chain: CodecChain, chunk: Chunk) -> CodecChain:
    """Return the chain after the checks that the chain of a document goes through."""
    from blizzarr.codecs.numcodecs.run import NumcodecsRun

    if isinstance(chain.serializer, NumcodecsRun):
        # No v3 document can name it, and each of the codecs in it was checked by itself.
        return chain
    problems = Problems()
    checked = decode(chain.to_json(), "codecs", problems, chunk)
    problems.raise_any()
    assert checked is not None, describe(chain.to_json())
    return checked
