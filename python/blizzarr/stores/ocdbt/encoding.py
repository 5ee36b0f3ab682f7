"""Manifests and nodes of OCDBT, as they are stored: https://google.github.io/tensorstore/kvstore/ocdbt."""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Final, NamedTuple

from blizzarr import _native
from blizzarr.errors import ArchiveError, BlizzarrError

MANIFEST: Final = 0x0CDB3A2A
VERSIONS: Final = 0x0CDB1234
NODE: Final = 0x0CDB20DE
"""The numbers that manifests, nodes of the tree of versions and nodes of the tree of keys begin with."""

_HEADER: Final = struct.Struct(">I")
_LENGTH: Final = struct.Struct("<Q")
_CHECKSUM: Final = struct.Struct("<I")
_LIMIT: Final = 1 << 28
"""The most bytes that a manifest or node may take up in memory."""
_MOST: Final = 1 << 20
"""The most entries of a table, which is TensorStore's limit: a few compressed bytes may stand for very many."""
_MISSING: Final = 2**64 - 1
"""The offset and length of the root of a tree without keys."""


class DataFile(NamedTuple):
    """A file that a manifest or node refers to; both texts are parts of its path."""

    base: str
    """The directory that also applies to the files which nodes in this file refer to."""
    rest: str


class Place(NamedTuple):
    """Where bytes are stored: in which file, from which byte on, and how many they are."""

    file: DataFile
    start: int
    length: int

    @property
    def is_missing(self) -> bool:
        """True for the root of a tree without keys."""
        return self.start == self.length == _MISSING


class Version(NamedTuple):
    """A version of the database: its number, and the root of its tree of keys with the levels below the root."""

    number: int
    height: int
    root: Place


class Versions(NamedTuple):
    """Versions, with nodes of the tree of versions in which older ones are: (last number, levels below, place)."""

    versions: list[Version]
    older: list[tuple[int, int, Place]]


class Leaf(NamedTuple):
    """Sorted keys, without what all keys of the node begin with, and their values or the places of these."""

    keys: list[bytes]
    values: list[bytes | Place]


class Inner(NamedTuple):
    """The first keys of nodes one level below, how many of their bytes all keys there begin with, and their places."""

    keys: list[bytes]
    common: list[int]
    places: list[Place]


class Body:
    """The content of a manifest or node, whose bytes begin with the number `magic`, read from beginning to end.

    Raise `ArchiveError` if they are damaged, of another kind, or of a later version of the format.
    """

    def __init__(self, data: bytes, magic: int) -> None:
        if len(data) < 18 or _HEADER.unpack_from(data)[0] != magic:
            raise ArchiveError(f"expected bytes that begin with {magic:08x}, found {data[:4].hex() or 'none'}")
        length = _LENGTH.unpack_from(data, 4)[0]
        if length != len(data):
            raise ArchiveError(f"expected {length} bytes, as it says at its beginning, found {len(data)}")
        end = len(data) - 4
        expected, checksum = _CHECKSUM.unpack_from(data, end)[0], _native.crc32c(memoryview(data)[:end])
        if checksum != expected:
            raise ArchiveError(f"expected the checksum {expected:08x}, found {checksum:08x}: the bytes are damaged")
        self._data, self._at, self._end = data, 12, end
        version, compression = self.number(), self.number()
        if version or compression > 1:
            raise ArchiveError(f"found version {version} and compression {compression}; 0, and 0 or 1, can be read")
        if compression:
            try:
                self._data = _native.zstd_decode(memoryview(data)[self._at : end], _LIMIT)
            except BlizzarrError as error:
                raise ArchiveError(str(error)) from error
            self._at, self._end = 0, len(self._data)

    def number(self) -> int:
        """Return the next number, stored in 7 bits of each byte."""
        data, at, value, shift = self._data, self._at, 0, 0
        while at < self._end and shift < 70:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                self._at = at
                return value
            shift += 7
        raise self._cut_short()

    def count(self) -> int:
        """Return the number of entries of a table."""
        count = self.number()
        if count > _MOST:
            raise ArchiveError(f"expected a table of at most {_MOST:,} entries, found {count:,}")
        return count

    def numbers(self, count: int) -> list[int]:
        """Return so many numbers."""
        # Each takes a byte at least, so a wrong count is noticed before it takes up memory.
        self._require(count)
        return [self.number() for _ in range(count)]

    def take(self, length: int) -> bytes:
        """Return so many bytes."""
        self._require(length)
        self._at += length
        return self._data[self._at - length : self._at]

    def _require(self, length: int) -> None:
        if length > self._end - self._at:
            raise self._cut_short()

    def _cut_short(self) -> ArchiveError:
        return ArchiveError(f"it ends after {self._end} bytes, in the middle of what is to be read")

    def finish(self) -> None:
        """Raise `ArchiveError` unless everything was read."""
        if self._at != self._end:
            raise ArchiveError(f"found {self._end - self._at} bytes after the end of what was to be read")

    def texts(self, count: int, extra: int = 0) -> tuple[list[bytes], list[list[int]]]:
        """Return so many byte strings, each stored without what it has in common with the one before it.

        The second result has the `extra` columns of numbers that are stored between the lengths and the bytes.
        """
        prefixes = [0, *self.numbers(count - 1)] if count else []
        suffixes = self.numbers(count)
        columns = [self.numbers(count) for _ in range(extra)]
        if sum(prefixes) + sum(suffixes) > _LIMIT:
            raise ArchiveError(f"expected texts of {_LIMIT} bytes at most, found {sum(prefixes) + sum(suffixes)}")
        texts: list[bytes] = []
        last = b""
        for prefix, suffix in zip(prefixes, suffixes, strict=True):
            if prefix > len(last):
                raise ArchiveError(f"expected at most {len(last)} bytes of the one before it, found {prefix}")
            last = last[:prefix] + self.take(suffix)
            texts.append(last)
        return texts, columns

    def files(self, above: str) -> list[DataFile]:
        """Return the table of data files; `above` is the directory that applies to all of them."""
        paths, (bases,) = self.texts(self.count(), extra=1)
        return [
            DataFile(above + _text(path[:base]), _text(path[base:])) for path, base in zip(paths, bases, strict=True)
        ]

    def places(self, files: list[DataFile], lengths: list[int] | int) -> list[Place]:
        """Return as many places as there are lengths; a count stands for lengths that are stored, too."""
        count = lengths if isinstance(lengths, int) else len(lengths)
        numbers, starts = self.numbers(count), self.numbers(count)
        if isinstance(lengths, int):
            lengths = self.numbers(count)
        if max(numbers, default=0) >= max(len(files), 1):
            raise ArchiveError(f"expected one of {len(files)} data files, found number {max(numbers)}")
        named = (files[number] if files else DataFile("", "") for number in numbers)
        return [Place(*each) for each in zip(named, starts, lengths, strict=True)]


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def manifest(data: bytes) -> Versions | None:
    """Return the versions that a manifest has; None if the numbered manifests beside it have them."""
    body = Body(data, MANIFEST)
    body.take(16)
    is_numbered, _, _ = body.numbers(3)
    body.take(1)
    if body.number():
        body.take(4)
    if is_numbered:
        body.finish()
        return None
    files = body.files("")
    versions, older = _versions(body, files), _older(body, files, None)
    body.finish()
    if not versions:
        raise ArchiveError("expected at least one version, found none")
    return Versions(versions, older)


def versions(data: bytes, above: str, height: int) -> Versions:
    """Return what a node of the tree of versions has, which is so many levels above those with versions."""
    body = Body(data, VERSIONS)
    _, there = body.take(2)
    if there != height:
        raise ArchiveError(f"expected a node {height} levels above the versions, found {there}")
    files = body.files(above)
    node = Versions([], _older(body, files, height - 1)) if height else Versions(_versions(body, files), [])
    body.finish()
    return node


def _versions(body: Body, files: list[DataFile]) -> list[Version]:
    count = body.count()
    numbers, heights, roots = body.numbers(count), body.take(count), body.places(files, count)
    for _ in range(3):
        body.numbers(count)
    body.take(8 * count)
    return [Version(*each) for each in zip(numbers, heights, roots, strict=True)]


def _older(body: Body, files: list[DataFile], height: int | None) -> list[tuple[int, int, Place]]:
    count = body.count()
    numbers, places = body.numbers(count), body.places(files, count)
    body.numbers(count)
    body.take(8 * count)
    heights = body.take(count) if height is None else bytes([height]) * count
    return list(zip(numbers, heights, places, strict=True))


def node(data: bytes, above: str, height: int) -> Leaf | Inner:
    """Return a node of the tree of keys, which is so many levels above the leaves."""
    body = Body(data, NODE)
    there = body.take(1)[0]
    if there != height:
        raise ArchiveError(f"expected a node {height} levels above the leaves, found {there}")
    files, count = body.files(above), body.count()
    keys, columns = body.texts(count, extra=1 if height else 0)
    if not keys or any(one >= other for one, other in pairwise(keys)):
        raise ArchiveError("expected sorted keys")
    if height:
        if any(common > len(key) for key, common in zip(keys, columns[0], strict=True)):
            raise ArchiveError("expected at most as many common bytes as the key has")
        places = body.places(files, count)
        for _ in range(3):
            body.numbers(count)
        body.finish()
        return Inner(keys, columns[0], places)
    lengths, kinds = body.numbers(count), body.numbers(count)
    if max(kinds) > 1:
        raise ArchiveError(f"expected values that are stored in the node (0) or elsewhere (1), found {max(kinds)}")
    elsewhere = body.places(files, [length for length, kind in zip(lengths, kinds, strict=True) if kind])
    left = iter(elsewhere)
    values = [next(left) if kind else body.take(length) for length, kind in zip(lengths, kinds, strict=True)]
    body.finish()
    return Leaf(keys, values)
