"""Every exception that blizzarr raises, in one tree.

::

    BlizzarrError
    ├── MetadataError (ValueError)              a document does not conform; lists every problem
    │   └── UnknownExtensionError               it names a codec, data type, ... that is not supported here
    ├── PathError (ValueError)                  a name or key that may not be used
    ├── NodeNotFoundError (FileNotFoundError, KeyError)
    ├── NodeExistsError (FileExistsError)
    ├── NodeTypeError (TypeError)               an array where a group is expected, or the reverse
    ├── SelectionError (IndexError)             an index that the array does not understand
    │   └── OutOfBoundsError                    an index outside the array
    ├── ChunkError (ValueError)                 stored data is damaged
    │   └── CodecError                          a codec could not decode or encode it
    │       ├── ChecksumError                   the bytes are not those that were stored
    │       └── ShardIndexError                 the index of a shard points nowhere
    ├── StoreError (OSError)                    the store failed; `errno` says how
    │   ├── ArchiveError (ValueError)           the files that hold the store are of another kind, or damaged
    │   ├── ReadOnlyError (PermissionError)     the store, or this handle of it, is read-only
    │   └── UnsupportedOperationError (NotImplementedError)  this kind of store cannot do that
    ├── LimitError (MemoryError)                it would need more memory than the cap
    ├── WorkerLostError (RuntimeError)          workers of an executor died, again and again
    ├── ConflictError                           somebody else changed it in the meantime
    │   └── UnknownOutcomeError                 or our own change did, whose answer was lost
    └── InternalError (RuntimeError)            a bug of this library, to be reported

TensorStore's interface, whose words for the kinds of errors are in capitals, adds::

    BlizzarrError
    ├── SpecError (ValueError)                  a spec is invalid, or disagrees with the stored array
    │   ├── ConstraintError                     FAILED_PRECONDITION: the stored array does not meet a constraint
    │   ├── InvalidArgumentError                the spec itself is invalid, whatever is stored
    │   ├── ArrayNotFoundError                  NOT_FOUND; also a NodeNotFoundError
    │   ├── ArrayExistsError                    ALREADY_EXISTS; also a NodeExistsError
    │   ├── OutOfRangeError                     OUT_OF_RANGE: a document has nothing at this position
    │   ├── PlaceError                          FAILED_PRECONDITION: a file instead of a directory; also a StoreError
    │   ├── UnsupportedDriverError              TensorStore has this driver; also an UnsupportedOperationError
    │   ├── NotReadableError                    the view cannot be read; also an UnsupportedOperationError
    │   ├── NotWritableError                    the view cannot be written; also a ReadOnlyError
    │   ├── ViewOutOfBoundsError                a view reaches beyond what is stored; also an OutOfBoundsError
    │   └── ChunkFunctionError (RuntimeError)   a function of virtual chunks returned what means nothing
    ├── TransactionError (ValueError)           the transaction has ended, or cannot be committed as asked
    │   └── GenerationMismatchError             ABORTED: a value it depends on was changed; also a ConflictError
    └── FutureError (ValueError)                a promise was dropped, or a batch was already submitted

Each class keeps its place as attributes (`None` where it does not apply): `store`, `array`, `key`, `chunk`, `codec`,
`direction` and `reason`; the text is made from them. Where the cause was a Python exception, it is in ``__cause__``.
All of them can be pickled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from blizzarr.errors.arrays import (
    ArchiveError,
    ChecksumError,
    ChunkError,
    CodecError,
    ConflictError,
    LimitError,
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    OutOfBoundsError,
    PathError,
    ReadOnlyError,
    SelectionError,
    ShardIndexError,
    StoreError,
    UnknownOutcomeError,
    UnsupportedOperationError,
    WorkerLostError,
)
from blizzarr.errors.base import BlizzarrError, InternalError
from blizzarr.errors.metadata import MetadataError, Problem, UnknownExtensionError
from blizzarr.errors.specs import (
    ArrayExistsError,
    ArrayNotFoundError,
    ChunkFunctionError,
    ConstraintError,
    FutureError,
    GenerationMismatchError,
    InvalidArgumentError,
    NotReadableError,
    NotWritableError,
    OutOfRangeError,
    PlaceError,
    SpecError,
    TransactionError,
    UnsupportedDriverError,
    ViewOutOfBoundsError,
)

__all__ = [
    "ArchiveError",
    "ArrayExistsError",
    "ArrayNotFoundError",
    "BlizzarrError",
    "ChecksumError",
    "ChunkError",
    "ChunkFunctionError",
    "CodecError",
    "ConflictError",
    "ConstraintError",
    "FutureError",
    "GenerationMismatchError",
    "InternalError",
    "InvalidArgumentError",
    "LimitError",
    "MetadataError",
    "NodeExistsError",
    "NodeNotFoundError",
    "NodeTypeError",
    "NotReadableError",
    "NotWritableError",
    "OutOfBoundsError",
    "OutOfRangeError",
    "PathError",
    "PlaceError",
    "Problem",
    "ReadOnlyError",
    "SelectionError",
    "ShardIndexError",
    "SpecError",
    "StoreError",
    "TransactionError",
    "UnknownExtensionError",
    "UnknownOutcomeError",
    "UnsupportedDriverError",
    "UnsupportedOperationError",
    "ViewOutOfBoundsError",
    "WorkerLostError",
]

for _name in __all__:
    # Tracebacks and pickles name the place from which users import a class, not the file that holds it.
    globals()[_name].__module__ = __name__
del _name

if not _TYPE_CHECKING:  # type checkers find missing names themselves

    def __getattr__(name: str) -> object:
        import sys

        from blizzarr.renamed import ERRORS, no_attribute

        raise no_attribute(sys.modules[__name__], f"module {__name__!r}", name, ERRORS)
