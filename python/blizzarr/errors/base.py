"""The base of all errors: where something went wrong, as fields and in the text."""

from __future__ import annotations

import re
from traceback import walk_tb
from typing import Any, ClassVar, Self

from blizzarr.printable import printable, printable_lines


class BlizzarrError(Exception):
    """The base of all errors of this library.

    Parameters
    ----------
    reason
        The text without the place: what was expected, what was found, and what to do.
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
    """The word for the value under `key` in the text."""

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
        return printable_lines(self._text())

    def add_note(self, note: str, /) -> None:
        """Add a note, which is shown below the text in tracebacks."""
        super().add_note(printable_lines(note))

    def _text(self) -> str:
        """Return the text, whose line breaks are ours: names and values that are made part of it have none."""
        where, text = self._place(), f"{self.codec}: {self.reason}" if self.codec else self.reason
        if where:
            text = f"cannot {self.direction} {where}: {text}" if self.direction else f"{where}: {text}"
        return printable(text)

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
        """Return the position of an inner chunk, which `chunk` has and the key has not; empty if there is none."""
        chunk = self.chunk or ()
        position, numbers, half = [*map(str, chunk)], re.findall(r"\d+", key), len(chunk) // 2
        # Keys with other numbers, which are not made of indices, do not belong to a shard.
        if not half or len(chunk) % 2 or numbers[-len(chunk) :] == position or numbers[-half:] != position[:half]:
            return ""
        return "/".join(position[half:])

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {name: getattr(self, name) for name in self.fields}
        notes = {"__notes__": self.__notes__} if hasattr(self, "__notes__") else None
        return _rebuild, (type(self), self.reason, kept), notes


def _rebuild(cls: type[BlizzarrError], reason: str, kept: dict[str, Any]) -> BlizzarrError:
    return cls(reason, **kept)


class NumberedError(BlizzarrError):
    """An error that is also an `OSError`: it keeps `errno`."""

    fields = (*BlizzarrError.fields, "errno")
    usual: ClassVar[int | None] = None
    """The errno when none is given."""

    def __init__(self, reason: str = "", *, errno: int | None = None, **place: Any) -> None:
        super().__init__(reason, **place)
        self.errno = self.usual if errno is None else errno


class InternalError(BlizzarrError, RuntimeError):
    """A bug of this library: the engine is in a state that should be impossible. The text has what a report needs.

    The operation has ended, its locks are released, and each chunk is what it was or what it was to become; the process
    can go on. `operation` says what was asked for, `location` where in the engine it happened, `version` in which
    release.

    What to do: report it, with its text; your program can carry on.

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

    @classmethod
    def of(cls, error: Exception, operation: str, **place: Any) -> Self:
        """Make the error for an exception that no code of this library should let through."""
        from importlib.metadata import version

        *_, (frame, line) = walk_tb(error.__traceback__)
        module = frame.f_globals.get("__name__", "?")
        reason = f"{type(error).__name__}: {error}"
        return cls(reason, operation=operation, version=version("blizzarr"), location=f"{module}:{line}", **place)

    def _text(self) -> str:
        if self.version is None:
            return super()._text()
        where = f"at {self.location}, asked to {self.operation}" if self.location else f"asked to {self.operation}"
        bug = f"This is a bug of blizzarr {self.version} ({where}). Please report it, with this text."
        return f"{super()._text()}\n{bug}"
