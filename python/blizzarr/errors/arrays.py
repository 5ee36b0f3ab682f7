"""Errors about arrays and groups: their paths, selections, chunks, and the stores that hold them."""

from __future__ import annotations

import errno
from typing import Any

from blizzarr.errors.base import BlizzarrError, NumberedError


class PathError(BlizzarrError, ValueError):
    """A node name, path or key that may not be used: ``..``, absolute, with NUL, with an empty segment, ...

    What to do: use another name: the text says which part of it may not be used.
    """


class NodeNotFoundError(NumberedError, FileNotFoundError, KeyError):
    """There is no array or group here; the text says what is there, and `sought` lists what was looked for.

    What to do: look at what is there, which the text lists, or create it; check the spelling and the credentials of a
    bucket.
    """

    fields = (*NumberedError.fields, "sought")
    usual = errno.ENOENT

    def __init__(self, reason: str = "", *, sought: tuple[str, ...] = (), **place: Any) -> None:
        super().__init__(reason, **place)
        self.sought = sought


class NodeExistsError(NumberedError, FileExistsError):
    """Something is here already, and it may not be replaced.

    What to do: choose another path, or pass ``overwrite=True`` if what is there may go.
    """

    usual = errno.EEXIST


class NodeTypeError(BlizzarrError, TypeError):
    """An array where a group is expected, or the reverse.

    What to do: give the path of the other kind of node, or open it with `blizzarr.open`, which takes both.
    """


class SelectionError(BlizzarrError, IndexError):
    """An index that the array does not understand.

    `index`, `axis` and `size` say which index, on which axis, of which length.

    What to do: correct the index; the text says what the array understands.
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

    What to do: stay within the bounds that the text names; if another program has resized the array, call `refresh`
    first.

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
    """The stored data of a chunk are damaged.

    What to do: restore the chunk from a copy, or run `blizzarr.check`, which can also save what is intact; other chunks
    can be read.
    """

    thing = "chunk"


class CodecError(ChunkError):
    """A codec could not decode (damaged data) or encode a chunk; `codec` names it.

    What to do: as for a `ChunkError`; while encoding, choose a codec that takes the data, or other data.
    """


class ChecksumError(CodecError):
    """A checksum does not match: these are not the bytes that were stored.

    What to do: as for a `ChunkError`: the bytes were changed after they were stored, by a disk, a transfer or another
    program.
    """


class ShardIndexError(CodecError):
    """The index of a shard is damaged or points outside the shard.

    What to do: as for a `ChunkError`; `blizzarr check --repair` rebuilds the shard from the inner chunks that are
    intact.
    """


class StoreError(NumberedError, OSError):
    """The store failed: input or output, permission, ...; `errno` says how. Never "not found".

    What to do: as for files: `errno` and the text say whether it is permission, space, the network, or the server.
    """


class ArchiveError(StoreError, ValueError):
    """What should be a zip file, a file of NumPy or a database of OCDBT is something else, was cut, or is damaged.

    What to do: what the text says: it tells what the file is. A file that was cut has to be fetched again.
    """


class ReadOnlyError(StoreError, PermissionError):
    """The store, or this handle of it, is read-only.

    What to do: open its path with a mode that writes (``r+``, ``a``), make the store without ``read_only=True``, or
    write into a copy.
    """

    usual = errno.EROFS


class UnsupportedOperationError(StoreError, NotImplementedError):
    """This kind of store does not have this operation, such as deleting from a zip file.

    What to do: use another kind of store for this, or the way that the text names.
    """

    usual = errno.ENOTSUP


class LimitError(BlizzarrError, MemoryError):
    """The operation needs more memory than the limit, or than there is; nothing was allocated.

    What to do: do it in parts, or raise the limit that the text names, such as `config.element_bytes`.
    """


class WorkerLostError(BlizzarrError, RuntimeError):
    """Workers of an executor were lost, again and again, before they had done a part of the work.

    What to do: make the parts smaller or give workers more memory, then repeat the call, ``copy`` with ``resume=True``;
    a script needs ``if __name__ == "__main__":`` around its program.
    """


class ConflictError(BlizzarrError):
    """Somebody else changed the same data in the meantime; read it again and repeat the change.

    What to do: read it again (`refresh`), then repeat the change.
    """


class UnknownOutcomeError(ConflictError):
    """A change was refused, but may have been made before that, and the answer lost: read it again, and look.

    What to do: look whether the change was made before you repeat it.
    """
