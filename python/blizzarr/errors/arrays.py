"""Errors about arrays and groups: their paths, selections, chunks, and the stores that hold them."""

from __future__ import annotations

import errno
from typing import Any

from blizzarr.errors.base import BlizzarrError, NumberedError


class PathError(BlizzarrError, ValueError):
    """A node name, path or key that may not be used: ``..``, absolute, with NUL, with an empty segment, ..."""


class NodeNotFoundError(NumberedError, FileNotFoundError, KeyError):
    """There is no array or group here; the text says what is there, and `sought` lists what was looked for."""

    fields = (*NumberedError.fields, "sought")
    usual = errno.ENOENT

    def __init__(self, reason: str = "", *, sought: tuple[str, ...] = (), **place: Any) -> None:
        super().__init__(reason, **place)
        self.sought = sought


class NodeExistsError(NumberedError, FileExistsError):
    """Something is here already, and it may not be replaced."""

    usual = errno.EEXIST


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


class ChunkError(BlizzarrError, ValueError):
    """The stored data of a chunk are damaged."""

    thing = "chunk"


class CodecError(ChunkError):
    """A codec could not decode (damaged data) or encode a chunk; `codec` names it."""


class ChecksumError(CodecError):
    """A checksum does not match: these are not the bytes that were stored."""


class ShardIndexError(CodecError):
    """The index of a shard is damaged or points outside the shard."""


class StoreError(NumberedError, OSError):
    """The store failed: input or output, permission, ...; `errno` says how. Never "not found"."""


class ArchiveError(StoreError, ValueError):
    """The file that holds the store is not one: no zip file, one that was cut, or one that is damaged."""


class ReadOnlyError(StoreError, PermissionError):
    """The store, or this handle of it, is read-only."""

    usual = errno.EROFS


class UnsupportedOperationError(StoreError, NotImplementedError):
    """This kind of store does not have this operation, such as deleting from a zip file."""

    usual = errno.ENOTSUP


class LimitError(BlizzarrError, MemoryError):
    """The operation needs more memory than the limit, or than there is; nothing was allocated."""


class WorkerLostError(BlizzarrError, RuntimeError):
    """Workers of an executor were lost, again and again, before they had done a part of the work."""


class ConflictError(BlizzarrError):
    """Somebody else changed the same data in the meantime; read it again and repeat the change."""


class UnknownOutcomeError(ConflictError):
    """A change was refused, but may have been made before that, and the answer lost: read it again, and look."""
