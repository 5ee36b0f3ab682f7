"""Every exception that blizzarr raises, in one tree.

::

    BlizzarrError
    ├── MetadataError (ValueError)              a document does not conform; lists every problem
    │   └── UnknownExtensionError               it names a codec, data type, ... that is not supported here
    ├── PathError (ValueError)                  a name or key that may not be used
    ├── SpecError (ValueError)                  a spec, schema or constraint that cannot be, or cannot be met
    ├── NodeNotFoundError (FileNotFoundError, KeyError)
    ├── NodeExistsError (FileExistsError)
    ├── NodeTypeError (TypeError)               an array where a group is expected, or the reverse
    ├── SelectionError (IndexError)             an index that the array does not understand
    │   └── OutOfBoundsError                    an index outside the array
    │       └── ViewOutOfBoundsError (ValueError)   a view that reaches beyond what is stored
    ├── ChunkError (ValueError)                 stored data is damaged
    │   └── CodecError                          a codec could not decode or encode it
    │       ├── ChecksumError                   the bytes are not those that were stored
    │       └── ShardIndexError                 the index of a shard points nowhere
    ├── StoreError (OSError)                    the store failed; `errno` says how
    │   ├── ArchiveError (ValueError)           the file that holds the store is no zip file, or a damaged one
    │   ├── ReadOnlyError (PermissionError)
    │   └── UnsupportedOperationError (NotImplementedError)  this kind of store cannot do that
    ├── LimitError (MemoryError)                it would need more memory than the cap
    ├── ConflictError                           somebody else changed it in the meantime
    └── InternalError (RuntimeError)            a bug of this library, to be reported

Each class keeps its place as attributes (`None` where it does not apply): `store`, `array`, `key`, `chunk`, `codec`,
`direction` and `reason`; the text is made from them. Where the cause was a Python exception, it is in ``__cause__``.
All of them can be pickled.
"""

from __future__ import annotations

import errno as _errno
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

__all__ = [
    "ArchiveError",
    "BlizzarrError",
    "ChecksumError",
    "ChunkError",
    "CodecError",
    "ConflictError",
    "InternalError",
    "LimitError",
    "MetadataError",
    "NodeExistsError",
    "NodeNotFoundError",
    "NodeTypeError",
    "OutOfBoundsError",
    "PathError",
    "Problem",
    "ReadOnlyError",
    "SelectionError",
    "ShardIndexError",
    "SpecError",
    "StoreError",
    "UnknownExtensionError",
    "UnsupportedOperationError",
    "ViewOutOfBoundsError",
]


class BlizzarrError(Exception):
    """The base of all errors of this library.

    Parameters
    ----------
    reason
        What was expected, what was found, what to do; without the place.
    store
        The store, as text.
    array
        The path of the array or group, like ``/a/b``.
    key
        The store key.
    chunk
        The position in the chunk grid; in a shard followed by the position of the inner chunk.
    codec
        The name of the codec.
    direction
        What was being done: ``decode``, ``encode``, ``read``, ``write``, ...

    Examples
    --------
    >>> str(CodecError("data ended after 137 of 4,096 bytes", array="/a/b", key="a/b/c/0/1", codec="zstd",
    ...                direction="decode"))
    'cannot decode chunk c/0/1 of /a/b: zstd: data ended after 137 of 4,096 bytes'
    >>> str(ChunkError("expected 8 bytes, found 7", array="/a/b", key="a/b/c/0/1", chunk=(0, 1, 3, 2)))
    'inner chunk 3/2 of chunk c/0/1 of /a/b: expected 8 bytes, found 7'
    >>> print(ChunkError("expected 8 bytes, found 7", store="/data/h.zarr", array="/a/b", key="a/b/c/0", chunk=(0,)))
    chunk c/0 of /a/b in /data/h.zarr: expected 8 bytes, found 7
    >>> print(ChunkError("expected 8 bytes, found 7", store="/data/b.zarr", array="/", key="c/0", chunk=(0,)))
    chunk c/0 of /data/b.zarr: expected 8 bytes, found 7
    >>> print(SelectionError("index 99 is out of bounds", store="/data/b.zarr", array="/"))
    /data/b.zarr: index 99 is out of bounds
    """

    fields: ClassVar[tuple[str, ...]] = ("store", "array", "key", "chunk", "codec", "direction")
    """The names of the keyword arguments, each also an attribute."""
    thing: ClassVar[str] = "key"
    """What the key of this error holds, for the text."""

    def __init__(
        self,
        reason: str = "",
        *,
        store: str | None = None,
        array: str | None = None,
        key: str | None = None,
        chunk: tuple[int, ...] | None = None,
        codec: str | None = None,
        direction: str | None = None,
    ) -> None:
        self.reason = reason
        self.store = store
        self.array = array
        self.key = key
        self.chunk = chunk
        self.codec = codec
        self.direction = direction

    def __str__(self) -> str:
        # Also keeps KeyError from quoting the text and OSError from prefixing it.
        place = self._place()
        said = f"{self.codec}: {self.reason}" if self.codec else self.reason
        if not place:
            return said
        return f"cannot {self.direction} {place}: {said}" if self.direction else f"{place}: {said}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def line(self) -> str:
        """The text in one line, for lists."""
        return str(self).partition("\n")[0]

    def _place(self) -> str:
        """`chunk c/0/1 of /a/b in memory://1`, as much of it as is known."""
        path = None if self.array is None else "/" + self.array.strip("/")
        parts = []
        if self.key is not None:
            # The key of a chunk is shown below its array, whose path follows.
            inside = self.key.removeprefix(path[1:] + "/") if path is not None and path != "/" else self.key
            thing = "chunk" if self.chunk is not None or self.codec else self.thing
            within = self._within_shard(self.key)
            parts.append(f"inner chunk {within} of {thing} {inside}" if within else f"{thing} {inside}")
        elif self.chunk is not None:
            parts.append(f"chunk {self.chunk}")
        if path == "/" and self.store is not None:
            # What lies at the root of its store has no other name.
            parts.append(f"of {self.store}" if parts else self.store)
            return " ".join(parts)
        if path is not None:
            parts.append(f"of {path}" if parts else path)
        if self.store is not None:
            parts.append(f"in {self.store}" if parts else self.store)
        return " ".join(parts)

    def _within_shard(self, key: str) -> str:
        """The position of an inner chunk: what `chunk` says and the key does not."""
        chunk = self.chunk or ()
        told, half = tuple(map(int, re.findall(r"\d+", key))), len(chunk) // 2
        # Keys that tell other numbers, as those of volumes, where chunks begin and end, are of no shard.
        if not half or len(chunk) % 2 or told[-len(chunk) :] == chunk or told[-half:] != chunk[:half]:
            return ""
        return "/".join(map(str, chunk[half:]))

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {name: getattr(self, name) for name in self.fields}
        notes = {"__notes__": self.__notes__} if hasattr(self, "__notes__") else None
        return _rebuild, (type(self), self.reason, kept), notes


def _rebuild(cls: type[BlizzarrError], reason: str, kept: dict[str, Any]) -> BlizzarrError:
    return cls(reason, **kept)


class Problem(NamedTuple):
    """One thing that is wrong with a document."""

    path: str
    """Where, like ``codecs[1].configuration.level``; empty for the document as a whole."""
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.path or 'the document'}: expected {self.expected}, found {self.found}"

    def of_node(self, path: str) -> Problem:
        """The same problem in a list of those of several nodes.

        Examples
        --------
        >>> print(Problem("shape", "a list", "null").of_node("a/b"), Problem("", "an array", "a group").of_node("c"))
        /a/b: shape: expected a list, found null /c: expected an array, found a group
        """
        return self._replace(path=f"/{path}: {self.path}" if self.path else f"/{path}")


class MetadataError(BlizzarrError, ValueError):
    """A metadata document does not conform; `problems` holds everything that is wrong with it.

    `document` is what was parsed, as far as it could be, so that the attributes of a node stay readable when
    the node itself is not. `wanted_format` is the format that something could not be converted to, for errors about
    that: then nothing is wrong with what is stored.

    Examples
    --------
    >>> print(MetadataError(key="a/zarr.json", problems=[Problem("shape[0]", "an integer >= 0", "-1"),
    ...                                                  Problem("codecs", "a list", "null")]))
    a/zarr.json does not conform, 2 problems:
      shape[0]: expected an integer >= 0, found -1
      codecs: expected a list, found null
    """

    fields = (*BlizzarrError.fields, "problems", "document", "wanted_format")
    verdict: ClassVar[str] = "does not conform"
    """What is said of the document."""

    def __init__(
        self,
        reason: str = "",
        *,
        problems: Sequence[Problem] = (),
        document: Mapping[str, Any] | None = None,
        wanted_format: str | None = None,
        **place: Any,
    ) -> None:
        super().__init__(reason, **place)
        self.problems = tuple(Problem(*problem) for problem in problems)
        self.document = document
        self.wanted_format = wanted_format

    def __str__(self) -> str:
        if not self.problems:
            return super().__str__()
        if len(self.problems) == 1:
            head = f"{self._head()}: {self.problems[0]}"
        else:
            lines = "".join(f"\n  {problem}" for problem in self.problems)
            head = f"{self._head()}, {len(self.problems)} problems:{lines}"
        return f"{head}\n{self.reason}" if self.reason else head

    @property
    def line(self) -> str:
        """The text in one line, for lists: the first problem, and how many more there are."""
        if len(self.problems) < 2:
            return super().line
        return f"{self._head()}: {self.problems[0]}; and {len(self.problems) - 1} more"

    def _head(self) -> str:
        where = self.key or (f"the metadata of {self.array}" if self.array else "the metadata")
        verdict = self.verdict if self.wanted_format is None else f"would not conform to {self.wanted_format}"
        return f"{where}{f' in {self.store}' if self.store else ''} {verdict}"


class UnknownExtensionError(MetadataError):
    """The document conforms, but needs a codec, data type, grid or key encoding that is not supported here.

    `extensions` holds the names; the problems say what would supply each of them.
    """

    fields = (*MetadataError.fields, "extensions")
    verdict = "is beyond this release"

    def __init__(self, reason: str = "", *, extensions: Sequence[str] = (), **rest: Any) -> None:
        super().__init__(reason, **rest)
        self.extensions = tuple(extensions)


class PathError(BlizzarrError, ValueError):
    """A node name, path or key that may not be used: ``..``, absolute, with NUL, with an empty segment, ..."""


class SpecError(BlizzarrError, ValueError):
    """A spec, schema, transform or context that cannot be, contradicts itself, or is not what is stored.

    The text is that of TensorStore, as far as it has one.
    """


class _NumberedError(BlizzarrError):
    """An error that is also an `OSError`: it keeps `errno`."""

    fields = (*BlizzarrError.fields, "errno")
    usual: ClassVar[int | None] = None
    """The errno when none is given."""

    def __init__(self, reason: str = "", *, errno: int | None = None, **place: Any) -> None:
        super().__init__(reason, **place)
        self.errno = self.usual if errno is None else errno


class NodeNotFoundError(_NumberedError, FileNotFoundError, KeyError):
    """There is no array or group here; the text says what was looked for and what is there."""

    usual = _errno.ENOENT


class NodeExistsError(_NumberedError, FileExistsError):
    """Something is here already, and it may not be replaced."""

    usual = _errno.EEXIST


class NodeTypeError(BlizzarrError, TypeError):
    """An array where a group is expected, or the reverse."""


class SelectionError(BlizzarrError, IndexError):
    """An index that the array does not understand.

    `index`, `axis` and `size` say which index, on which axis, of which length.
    """

    fields = (*BlizzarrError.fields, "index", "axis", "size")

    def __init__(
        self, reason: str = "", *, index: Any = None, axis: int | None = None, size: int | None = None, **place: Any
    ) -> None:
        super().__init__(reason, **place)
        self.index = index
        self.axis = axis
        self.size = size


class OutOfBoundsError(SelectionError):
    """An index outside the array.

    Examples
    --------
    >>> print(OutOfBoundsError(index=99, axis=1, size=40))
    index 99 is out of bounds for axis 1 with valid range [-40, 40)
    """

    def __init__(
        self, reason: str = "", *, index: Any = None, axis: int | None = None, size: int | None = None, **place: Any
    ) -> None:
        if not reason:
            valid = "no valid index" if size == 0 else f"valid range [{-(size or 0)}, {size})"
            reason = f"index {index} is out of bounds for axis {axis} with {valid}"
        super().__init__(reason, index=index, axis=axis, size=size, **place)


class ViewOutOfBoundsError(OutOfBoundsError, SpecError):
    """A view that reaches beyond what is stored, found out when it is read or written.

    Its bounds were implicit, or its indices were not looked at before.
    """


class ChunkError(BlizzarrError, ValueError):
    """The stored data of a chunk are damaged."""

    thing = "chunk"


class CodecError(ChunkError):
    """A codec could not decode (damaged data) or encode a chunk; `codec` names it."""


class ChecksumError(CodecError):
    """A checksum does not match: these are not the bytes that were stored."""


class ShardIndexError(CodecError):
    """The index of a shard is damaged or points outside the shard."""


class StoreError(_NumberedError, OSError):
    """The store failed: input or output, permission, ...; `errno` says how. Never "not found"."""


class ArchiveError(StoreError, ValueError):
    """The file that holds the store is not one: no zip file, one that was cut, or one that is damaged."""


class ReadOnlyError(StoreError, PermissionError):
    """This store, or this handle of it, may not be written."""

    usual = _errno.EROFS


class UnsupportedOperationError(StoreError, NotImplementedError):
    """This kind of store cannot do that, like deleting from a zip file."""

    usual = _errno.ENOTSUP


class LimitError(BlizzarrError, MemoryError):
    """It would need more memory than the cap, or than there is; nothing was allocated."""


class ConflictError(BlizzarrError):
    """Somebody else changed it in the meantime; read it again and repeat the change."""


class InternalError(BlizzarrError, RuntimeError):
    """A bug of this library: the engine met something that cannot be. The text is what a report of it needs.

    The operation has ended, its locks are released, and each chunk is what it was or what it was to become; the process
    can go on. `operation` says what was asked for, `location` where in the engine it happened, `version` in which
    release.

    Examples
    --------
    >>> print(InternalError("index out of bounds", array="/a", operation="read", version="1.2.3", location="a.rs:7:9"))
    /a: index out of bounds
    This is a bug of blizzarr 1.2.3 (at a.rs:7:9, asked to read). Please report it, with this text.
    """

    fields = (*BlizzarrError.fields, "operation", "version", "location")

    def __init__(
        self,
        reason: str = "",
        *,
        operation: str | None = None,
        version: str | None = None,
        location: str | None = None,
        **place: Any,
    ) -> None:
        super().__init__(reason, **place)
        self.operation = operation
        self.version = version
        self.location = location

    def __str__(self) -> str:
        if self.version is None:
            return super().__str__()
        where = f"at {self.location}, asked to {self.operation}" if self.location else f"asked to {self.operation}"
        bug = f"This is a bug of blizzarr {self.version} ({where}). Please report it, with this text."
        return f"{super().__str__()}\n{bug}"
