"""Manifests: checksums of stored objects, recorded in a file to find out later what has changed."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from io import BufferedReader, BytesIO
from itertools import islice
from pathlib import Path
from typing import Final, Literal, NamedTuple

from blizzarr.config import config
from blizzarr.distributing import Progress, Tally, Workers, batches, spread
from blizzarr.errors import ConflictError, MetadataError, PathError, Problem, StoreError
from blizzarr.formats import StoredNode, chunk_prefix, find_many, read_node
from blizzarr.hierarchy.belongings import belongings
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.regular import open_regular
from blizzarr.stores.requests import at_once
from blizzarr.stores.threads import Threads

_FIRST = "# blizzarr manifest 1"
_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)")
_END = re.compile(r"# end of (\d{1,18}) objects?")
_NAMES = ("in the store", "below the node")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_MEANT = {written: meant for meant, written in _ESCAPES.items()}


@dataclass(frozen=True, slots=True)
class Manifest:
    """The checksums of a node."""

    node: str
    """The path of the node in its store."""
    relative: bool
    """True if names are relative to the node, so that the manifest is still valid after the node was moved."""
    recorded: str
    """The time at which it was recorded, in ISO 8601."""
    digests: Mapping[str, str] = field(repr=False)
    """SHA-256 of each stored object in hexadecimal digits, by name."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file, with their ends."""
        count = len(self.digests)
        yield f"{_FIRST}\n"
        yield f"# node: {_escaped(self.node)}\n"
        yield f"# names: {_NAMES[self.relative]}\n"
        yield f"# recorded: {self.recorded}\n"
        for name in sorted(self.digests):
            escaped = _escaped(name)
            mark = "" if escaped == name else "\\"
            yield f"{mark}{self.digests[name]}  {escaped}\n"
        yield f"# end of {count} object{'' if count == 1 else 's'}\n"

    @classmethod
    def read(cls, lines: Iterable[str], name: str = "the manifest") -> Manifest:
        """Parse the lines of a file, given without their ends, and stop at the first invalid one.

        Raise `MetadataError`: they are not those of a manifest, which is truncated or continued, or lists an object
        twice.
        """
        left = iter(lines)
        first = next(left, "")
        head = islice(left, 3) if first == _FIRST else ()
        facts = {match[1]: _meant(match[2]) for line in head if (match := re.fullmatch(r"# (\w+): (.*)", line))}
        if not facts.keys() >= {"node", "names", "recorded"} or facts["names"] not in _NAMES:
            raise _wrong(name, "line 1", f"the head of a manifest, beginning with {_FIRST!r}", repr(first[:80]))
        digests: dict[str, str] = {}
        for number, entry, digest in _entries(left, name):
            if entry in digests:
                raise _wrong(name, f"line {number}", f"one checksum for {entry!r}", "another one before")
            digests[entry] = digest
        return cls(facts["node"], facts["names"] == _NAMES[True], facts["recorded"], digests)


def _entries(lines: Iterator[str], name: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, name and digest of each object, and check the closing line, which counts them."""
    count = 0
    for number, line in enumerate(lines, 5):
        if end := _END.fullmatch(line):
            if int(end[1]) != count:
                raise _wrong(name, f"line {number}", f"{int(end[1])} objects before the end", f"{count}")
            # Checksums after the end would not be compared, though a reader would think so.
            if (more := next(lines, "")) or next(lines, None) is not None:
                raise _wrong(name, f"line {number + 1}", "nothing after the end", repr(more[:80]))
            return
        match = _LINE.fullmatch(line)
        if match is None:
            break
        count += 1
        yield number, _meant(match[3]) if match[1] else match[3], match[2]
    raise _wrong(name, f"line {5 + count}", "a checksum and a name, or the line that ends a manifest", "neither")


def _escaped(name: str) -> str:
    return re.sub(r"[\\\n\r]", lambda found: _ESCAPES[found[0]], name)


def _meant(text: str) -> str:
    return re.sub(r"\\[\\nr]", lambda found: _MEANT[found[0]], text)


def _wrong(name: str, where: str, expected: str, found: str) -> MetadataError:
    return MetadataError(key=name, problems=[Problem(where, expected, found)])


LINE: Final = 1 << 20
"""Lines are read up to this length, which bounds the memory taken by files that are not manifests."""


def read_manifest(file: str | os.PathLike[str]) -> Manifest:
    """Read the manifest in a file.

    Raise `MetadataError` if the file is not a manifest, or is truncated. Raise `StoreError` if the file does not exist
    or cannot be read.
    """
    path = _path(file)
    expected = "a manifest, compressed by gzip" if _compressed(path) else "a manifest, in UTF-8"
    try:
        with _opened(path) as stream:
            return Manifest.read(_lines(stream), str(path))
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise MetadataError(key=str(path), problems=[Problem("", expected, str(error))]) from error
    except StoreError:
        raise
    except OSError as error:
        reason = f"expected a manifest, found none that can be read: {error.strerror}"
        raise StoreError(reason, key=str(path), errno=error.errno) from error


@contextmanager
def _opened(path: Path) -> Iterator[gzip.GzipFile | BufferedReader]:
    with open(open_regular(path), "rb") as file:
        yield gzip.GzipFile(fileobj=file) if _compressed(path) else file


def _lines(stream: gzip.GzipFile | BufferedReader) -> Iterator[str]:
    """Yield the lines without their ends, one at a time: a compressed file may expand a thousandfold."""
    ended = True
    while line := stream.readline(LINE):
        ended = line.endswith(b"\n")
        yield line.removesuffix(b"\n").decode()
    if ended:
        yield ""


def write_manifest(file: str | os.PathLike[str], manifest: Manifest) -> None:
    """Write a manifest to a file, replacing an existing one atomically."""
    path = _path(file).absolute()
    if not path.parent.is_dir():
        raise PathError(f"expected a file in a directory that is there, found {str(path)!r}")
    # Line by line: as objects, the lines of a million checksums take twice the memory of the file.
    content = BytesIO()
    if _compressed(path):
        # Without the time, so that equal manifests give equal files.
        with gzip.GzipFile(filename="", fileobj=content, mode="wb", mtime=0) as stream:
            stream.writelines(line.encode() for line in manifest.lines())
    else:
        content.writelines(line.encode() for line in manifest.lines())
    LocalStore(path.parent).set(path.name, content.getbuffer())


def _path(file: str | os.PathLike[str]) -> Path:
    path = Path(os.fsdecode(file))
    if "\0" in str(path):
        raise PathError(f"expected the name of a file, found NUL in {str(path)!r}")
    return path


def _compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


# Recording a manifest of a node, and comparing a node with its manifest.

AHEAD = 256
"""The number of objects per batch, and between two progress reports."""


def digests(
    store: Store, keys: Sequence[str], progress: Progress | None = None, workers: Workers | None = None
) -> Iterator[tuple[str, str | StoreError | None]]:
    """Yield each key with the SHA-256 of its value, `None` if there is no value, or the error if it cannot be read."""
    advance = Tally(progress, len(keys))
    for batch in spread(workers, partial(_digests, store), batches(keys, AHEAD), advance):
        yield from batch


def _digests(
    store: Store, keys: Sequence[str], advance: Callable[[int], object]
) -> list[tuple[str, str | StoreError | None]]:
    def one(key: str) -> tuple[str, str | StoreError | None]:
        try:
            value = store.get(key)
        except StoreError as error:
            return key, error
        return key, None if value is None else hashlib.sha256(value).hexdigest()

    threads = config.threads or os.cpu_count() or 1
    with Threads(at_once(store, otherwise=threads)) as pool:
        digests = list(pool.map(one, keys))
    advance(len(keys))
    return digests


class Difference(NamedTuple):
    """An object that differs from the manifest."""

    kind: Literal["changed", "missing", "new", "unreadable"]
    key: str
    error: StoreError | None = None


def record(store: Store, path: str, progress: Progress | None = None, workers: Workers | None = None) -> Manifest:
    """Record the checksums of all stored objects of a node and of everything below it: documents and chunks.

    Raise `NodeNotFoundError` if there is no node at the path. Raise `StoreError` if an object cannot be read: a
    manifest without it would not tell that it is missing.
    """
    read_node(store, path)
    keys, below = _keys(store, path)
    sums: dict[str, str] = {}
    for key, digest in digests(store, keys, progress, workers):
        if isinstance(digest, StoreError):
            raise digest
        # An object that was deleted since the listing does not belong to the node any more.
        if digest is not None:
            sums[key.removeprefix(below or "")] = digest
    return Manifest(path, below is not None, datetime.now(UTC).isoformat(timespec="seconds"), sums)


def compare(
    store: Store, path: str, manifest: Manifest, progress: Progress | None = None, workers: Workers | None = None
) -> Iterator[Difference]:
    """Yield the objects that changed, appeared or vanished since the manifest was recorded.

    The node may have been moved since, unless the manifest has keys of the store instead of relative names.

    Raise `ConflictError` if the manifest was recorded for another node.
    """
    is_readable = True
    try:
        stored, below = _keys(store, path)
    except StoreError:
        # The document of the node is no file, or cannot be read; nor can what is new be told from other files.
        is_readable, stored, below = False, [], f"{path}/" if path else ""
    if not manifest.relative and not (is_readable and isinstance(find_many(store, [path])[0], StoredNode)):
        # Only the damaged document of the node would tell that its keys have nothing in common.
        below = None
    if manifest.relative != (below is not None) or (below is None and manifest.node != path):
        raise ConflictError(
            f"expected a manifest of this node, found one of /{manifest.node}, with other keys; record it again",
            array="/" + path,
            store=str(store),
        )
    expected = {(below or "") + name: digest for name, digest in manifest.digests.items()}
    for key, digest in digests(store, sorted(expected.keys() | set(stored)), progress, workers):
        if isinstance(digest, StoreError):
            yield Difference("unreadable", key, digest)
        elif digest is None:
            # Otherwise it was created and deleted since the listing.
            if key in expected:
                yield Difference("missing", key)
        elif key not in expected:
            yield Difference("new", key)
        elif digest != expected[key]:
            yield Difference("changed", key)


def _keys(store: Store, path: str) -> tuple[list[str], str | None]:
    """Return the sorted keys of everything that belongs to a node, and their common prefix, or `None` without one."""
    things = belongings(store, path)
    # All keys below arrays count whose storage transformers do not tell the stored ones.
    behind = (key for inner, meta in things.behind.items() for key in store.list(chunk_prefix(inner, meta)))
    keys = sorted({*things.documents, *things.chunks, *behind})
    below = things.prefixes[0] if len(things.prefixes) == 1 else None
    return keys, below if below is not None and all(key.startswith(below) for key in keys) else None
