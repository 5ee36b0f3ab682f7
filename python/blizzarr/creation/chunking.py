"""The shapes of chunks and shards, as the user gives them or by default.

**Chunks.** By default, the longest axis of the array is halved again and again, until a chunk has at most
`config.chunk_bytes` (1 MiB). This is small enough that reading a point costs little, large enough that requests, files
and compressed streams are worth their overhead, and nearly a cube, so that slices along any axis touch about equally
many chunks. As axes are divided into equal parts, little of the last chunks is outside of the array. An axis of length
0 will grow: it gets as much of the size as the other axes leave. In shards of given lengths, these are what is divided,
by their smallest divisors, so that a shard holds whole chunks.

**Shards.** By default, the shortest axis of a chunk is doubled again and again, as long as a shard has at most
`config.shard_bytes` (64 MiB) and does not hold the array: a shard is written at once, so it should fit several times
into memory. An array of a single chunk gets no shards.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from blizzarr.config import config
from blizzarr.errors import MetadataError, Problem
from blizzarr.model import ChunkGrid, RegularGrid
from blizzarr.model.chunk_grid import RegularBoundedGrid
from blizzarr.model.rectilinear_grid import RectilinearGrid, edges_of
from blizzarr.problems import Problems
from blizzarr.size_text import count_text

EdgesLike: TypeAlias = int | Sequence[int | Sequence[int]] | None
"""One length for all chunks along an axis, -1 or None for a single chunk, or a list of the length of each chunk, in
which ``[length, count]`` stands for so many chunks in a row."""

ChunksLike: TypeAlias = Literal["auto"] | str | int | Sequence[EdgesLike] | ChunkGrid | None
"""``"auto"``, a size like ``"8MB"``, one length for all axes, or a length for each; -1 or None is the whole axis.

As in zarr-python, None and True stand for ``"auto"``, and False for a single chunk; a list in the place of a length has
the length of each chunk along the axis, which makes a rectilinear chunk grid."""

ShardsLike: TypeAlias = Literal["auto"] | str | int | Sequence[EdgesLike] | ChunkGrid | Mapping[str, Any] | None
"""As for chunks; None means no shards. A mapping has a ``shape`` and an ``index_location``, as in zarr-python."""

_BYTES = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kKMGT]?)(i?)B\s*")
_MOST = 1_000_000
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_bytes(text: str) -> int:
    """Return the number of bytes that a text gives: in powers of 1000 (kB, MB, GB) or of 1024 (KiB, MiB, GiB).

    Raise `ValueError` if it is not a number with a unit.

    >>> parse_bytes("8MB"), parse_bytes("1.5 MiB"), parse_bytes("512B")
    (8000000, 1572864, 512)
    """
    match = _BYTES.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a size like '8MB' or '512KiB', found {text!r}")
    number, power, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[power])


def auto_chunks(
    shape: Sequence[int], itemsize: int, aim: int | None = None, shards: Sequence[int | None] | None = None
) -> tuple[int, ...]:
    """Return a chunk shape of at most about `aim` bytes, by default `config.chunk_bytes`; see the module's docstring.

    `shards` are lengths that the chunks must divide, with None for an axis along which they are free.

    >>> auto_chunks((10_000, 10_000), 4)
    (313, 625)
    >>> auto_chunks((100,), 8)
    (100,)
    >>> auto_chunks((0, 256, 256), 2)
    (8, 256, 256)
    >>> auto_chunks((10_000, 10_000), 4, shards=(1000, None))
    (500, 313)
    """
    elements = max(1, (config.chunk_bytes if aim is None else aim) // max(1, itemsize))
    fixed = [None] * len(shape) if shards is None else shards
    chunks = [max(1, length) if shard is None else shard for length, shard in zip(shape, fixed, strict=True)]
    while math.prod(chunks) > elements:
        # Of axes of equal length the first is halved: elements along the last ones are adjacent in memory.
        axis = max(range(len(chunks)), key=lambda axis: chunks[axis])
        length = chunks[axis]
        # Halving and rounding up again and again is the same as dividing once and rounding up.
        chunks[axis] = -(-length // 2) if fixed[axis] is None else length // _smallest_divisor(length)
    for axis, length in enumerate(shape):
        if length == 0 and fixed[axis] is None:
            chunks[axis] = max(1, elements // math.prod(chunks))
    return tuple(chunks)


def _smallest_divisor(length: int) -> int:
    """Return the smallest divisor above 1; the length itself if there is none below a million."""
    return next((divisor for divisor in range(2, min(math.isqrt(length), _MOST) + 1) if length % divisor == 0), length)


def auto_shards(shape: Sequence[int], chunks: Sequence[int], itemsize: int, aim: int | None = None) -> tuple[int, ...]:
    """Return a shard shape of whole chunks and at most `aim` bytes, by default `config.shard_bytes`; see the module.

    >>> auto_shards((10_000, 10_000), (500, 500), 4)
    (4000, 4000)
    >>> auto_shards((100, 100), (50, 100), 4)
    (100, 100)
    """
    elements = max(1, (config.shard_bytes if aim is None else aim) // max(1, itemsize))
    # An axis of length 0 will grow without a known limit.
    needed = [math.inf if length == 0 else -(-length // chunk) for length, chunk in zip(shape, chunks, strict=True)]
    counts = [1] * len(chunks)
    while True:
        size = math.prod(count * chunk for count, chunk in zip(counts, chunks, strict=True))
        open_axes = [axis for axis in range(len(chunks)) if counts[axis] < needed[axis]]
        if not open_axes:
            break
        axis = min(open_axes, key=lambda axis: counts[axis] * chunks[axis])
        grown = int(min(2 * counts[axis], needed[axis]))
        if size // counts[axis] * grown > elements:
            break
        counts[axis] = grown
    return tuple(count * chunk for count, chunk in zip(counts, chunks, strict=True))


def index_location_of(shards: ShardsLike) -> tuple[Any, Any]:
    """Return the shards without the location of their index, and that.

    Raise `MetadataError` if a mapping has no shape, or something else than a shape and a location.

    >>> index_location_of({"shape": (4, 4), "index_location": "start"}), index_location_of(8)
    (((4, 4), 'start'), (8, 'end'))
    """
    if not isinstance(shards, Mapping):
        return shards, "end"
    location = shards.get("index_location") or "end"
    location = getattr(location, "value", location)
    if "shape" not in shards or shards.keys() - {"shape", "index_location"} or location not in ("start", "end"):
        expected = "a mapping with a shape, and perhaps an index_location that is 'start' or 'end'"
        raise MetadataError(problems=[Problem("shards", expected, repr(dict(shards)))])
    return shards["shape"], location


def resolve_chunks(
    chunks: ChunksLike, shape: Sequence[int], itemsize: int, shards: ShardsLike = None
) -> tuple[int, ...]:
    """Return the chunk shape for a user's argument; where it leaves the lengths open, they divide those of the shards.

    Raise `MetadataError` if there is another number of lengths than axes, or one is not an integer of at least 1.

    >>> resolve_chunks(100, (1000, 1000), 4), resolve_chunks((10, -1), (1000, 1000), 4)
    ((100, 100), (10, 1000))
    >>> resolve_chunks(None, (100,), 4), resolve_chunks(False, (1000, 1000), 4)
    ((100,), (1000, 1000))
    >>> resolve_chunks("auto", (1000, 1000), 8, shards=(500, 500))
    (250, 500)
    """
    if chunks is None or chunks is True:
        chunks = "auto"
    elif chunks is False:
        chunks = -1
    if isinstance(chunks, str):
        fixed = None if shards is None or isinstance(shards, str) else _given_lengths(shards, shape)
        return auto_chunks(shape, itemsize, None if chunks == "auto" else parse_bytes(chunks), fixed)
    return _lengths(chunks, shape, "chunks")


def resolve_uneven(given: Any, shape: Sequence[Any], name: str) -> ChunkGrid | None:
    """Return the grid for a user's argument with a list of lengths for at least one axis; None without such a list.

    Raise `MetadataError` if there is another number of axes, a length is not an integer of at least 1, or those of an
    axis are not as long as the array.

    >>> resolve_uneven([[10, 20, [5, 6]], -1], (60, 7), "chunks").to_configuration()["chunk_shapes"]
    [[10, 20, [5, 6]], 7]
    """
    if isinstance(given, RegularBoundedGrid):
        return given
    if isinstance(given, ChunkGrid) and not isinstance(given, RegularGrid):
        # That of another array, perhaps of another length.
        return given.resized(tuple(shape), (1,) * len(shape))
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        return None
    axes = list(given)
    if not any(isinstance(axis, Iterable) and not isinstance(axis, str) for axis in axes):
        return None
    if len(axes) != len(shape):
        lengths_or_lists = f"{count_text(len(shape), 'length')} or lists of lengths"
        expected = f"{lengths_or_lists}, one for each dimension of the shape {tuple(shape)}"
        raise MetadataError(problems=[Problem(name, expected, f"{len(axes)}: {axes!r:.80}")])
    listed = [_plain(axis) if isinstance(axis, Iterable) else axis for axis in axes]
    even = [1 if type(axis) is list else axis for axis in listed]
    lengths = _lengths(even, shape, name)
    problems = Problems()
    edges = [
        edges_of(axis if type(axis) is list else length, size, f"{name}[{number}]", problems)
        for number, (axis, length, size) in enumerate(zip(listed, lengths, shape, strict=True))
    ]
    problems.raise_any()
    return RectilinearGrid(tuple(axis for axis in edges if axis is not None))


def _plain(lengths: Iterable[Any]) -> list[Any]:
    """Return a list of lengths and pairs with integers of Python, as documents have them."""
    if isinstance(lengths, np.ndarray):
        listed: list[Any] = lengths.tolist()
        return listed
    return [
        item
        if type(item) is int
        else _plain(item)
        if isinstance(item, Iterable) and not isinstance(item, str)
        else item.__index__()
        if hasattr(item, "__index__") and not isinstance(item, bool)
        else item
        for item in lengths
    ]


def resolve_shards(
    shards: ShardsLike, chunks: tuple[int, ...], shape: Sequence[int], itemsize: int
) -> tuple[int, ...] | None:
    """Return the shard shape for a user's argument, in whole chunks; None for no shards.

    Raise `MetadataError` if a length is not a multiple of that of the chunk, or not valid otherwise.

    >>> resolve_shards((100, -1), (10, 30), (1000, 100), 4)
    (100, 120)
    """
    if shards is None:
        return None
    if isinstance(shards, str):
        shape_of_shard = auto_shards(shape, chunks, itemsize, None if shards == "auto" else parse_bytes(shards))
        return None if shape_of_shard == chunks else shape_of_shard
    whole = [
        # The whole axis: as many chunks as hold it.
        -(-max(1, length) // chunk) * chunk if given is None else given
        for given, length, chunk in zip(_given_lengths(shards, shape), shape, chunks, strict=True)
    ]
    problems = [
        Problem(f"shards[{axis}]", f"a multiple of the chunk length {chunk}", str(length))
        for axis, (length, chunk) in enumerate(zip(whole, chunks, strict=True))
        if length % chunk
    ]
    if problems:
        raise MetadataError(problems=problems)
    return tuple(whole)


def _given_lengths(shards: Any, shape: Sequence[int]) -> list[int | None]:
    """Return the lengths of shards, checked, with None where they are to be the whole axis."""
    lengths = _lengths(shards, shape, "shards")
    if isinstance(shards, ChunkGrid):
        return list(lengths)
    given = shards if isinstance(shards, Iterable) else [shards] * len(lengths)
    return [None if asked in (None, -1) else length for asked, length in zip(given, lengths, strict=True)]


def _lengths(given: Any, shape: Sequence[int], name: str) -> tuple[int, ...]:
    if isinstance(given, ChunkGrid):
        given = given.chunk_shape
    if isinstance(given, bool) or not isinstance(given, SupportsIndex | Iterable):
        raise MetadataError(problems=[Problem(name, "'auto', a size like '8MB', a length or lengths", repr(given))])
    lengths: list[Any] = list(given) if isinstance(given, Iterable) else [given] * len(shape)
    if len(lengths) != len(shape):
        expected = f"{count_text(len(shape), 'length')}, one for each dimension of the shape {tuple(shape)}"
        if len(shape) == 1:
            expected += " (chunks of several lengths are a list in the list)"
        raise MetadataError(problems=[Problem(name, expected, f"{len(lengths)}: {tuple(lengths)}")])
    problems = []
    for axis, (length, whole) in enumerate(zip(lengths, shape, strict=True)):
        if length is None or length == -1:
            lengths[axis] = max(1, whole)
        elif isinstance(length, bool) or not hasattr(length, "__index__") or length.__index__() < 1:
            expected = "an integer of at least 1, or -1 for the whole axis"
            problems.append(Problem(f"{name}[{axis}]", expected, repr(length)))
        else:
            lengths[axis] = length.__index__()
    if problems:
        raise MetadataError(problems=problems)
    return tuple(length for length in lengths if length is not None)
