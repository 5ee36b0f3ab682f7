"""Errors of TensorStore's interface.

TensorStore raises `ValueError` or `IndexError` for all of these; a word at the beginning of the text says which kind it
is. These classes have the same builtin parents and the same words.
"""

from __future__ import annotations

import errno
from typing import ClassVar

from blizzarr.errors.arrays import (
    ConflictError,
    NodeExistsError,
    NodeNotFoundError,
    OutOfBoundsError,
    ReadOnlyError,
    StoreError,
    UnsupportedOperationError,
)
from blizzarr.errors.base import BlizzarrError


class SpecError(BlizzarrError, ValueError):
    """A spec, schema, transform or context is invalid, inconsistent, or disagrees with the stored array.

    What to do: correct the spec; the text says which member.
    """


class StatusError(BlizzarrError):
    """An error whose text begins with the word that TensorStore has for its kind."""

    status: ClassVar[str]

    def _text(self) -> str:
        return f"{self.status}: {super()._text()}"


class ConstraintError(StatusError, SpecError):
    """The stored array does not meet a constraint of the spec; the text names both.

    What to do: correct the constraint, or leave it out and take what is stored.

    Examples
    --------
    >>> print(ConstraintError("Rank is 2, but schema specifies rank of 3"))
    FAILED_PRECONDITION: Rank is 2, but schema specifies rank of 3
    """

    status = "FAILED_PRECONDITION"


class InvalidArgumentError(SpecError):
    """The spec itself is invalid, or meant for another driver, whatever is stored.

    What to do: correct the spec.
    """


class OutOfRangeError(StatusError, SpecError):
    """A JSON pointer names an element beyond the end of an array.

    What to do: name an element that is there; ``-`` appends one.
    """

    status = "OUT_OF_RANGE"


class ArrayNotFoundError(StatusError, SpecError, NodeNotFoundError):
    """There is no array to open.

    What to do: pass ``create=True``, or correct the path.
    """

    status = "NOT_FOUND"


class ArrayExistsError(StatusError, SpecError, NodeExistsError):
    """There is already an array, or something else, where one is to be created.

    What to do: pass ``open=True`` to open it, or ``delete_existing=True`` to replace it.
    """

    status = "ALREADY_EXISTS"


class PlaceError(StatusError, SpecError, StoreError):
    """There is a file where the spec needs a directory.

    What to do: give the path of a directory, or remove the file.
    """

    status = "FAILED_PRECONDITION"
    usual = errno.ENOTDIR


class UnsupportedDriverError(SpecError, UnsupportedOperationError):
    """TensorStore has a driver of this name, but this library does not; the text lists those that it has.

    What to do: use one of the drivers that the text lists, or write one: see *Extending*.
    """


class NotReadableError(SpecError, UnsupportedOperationError):
    """The view was opened for writing only, or its driver cannot read.

    What to do: open it with ``read=True``.
    """


class NotWritableError(SpecError, ReadOnlyError):
    """The view was opened for reading only, or its driver cannot write.

    What to do: open it with ``write=True``.
    """


class ChunkFunctionError(SpecError, RuntimeError):
    """A function passed to `virtual_chunked` returned something other than None, a generation, or a future of these.

    What to do: let the function return what its documentation says.
    """


class ViewOutOfBoundsError(OutOfBoundsError, SpecError):
    """A view reaches beyond what is stored; raised when it is read or written.

    Its bounds were implicit, or its indices were not checked before.

    What to do: take a smaller view, or `resolve` the store if somebody has resized the array.
    """


class TransactionError(BlizzarrError, ValueError):
    """The transaction has ended, or cannot be committed as asked; begin another one.

    What to do: begin another transaction, and repeat the changes.
    """


class GenerationMismatchError(StatusError, TransactionError, ConflictError):
    """Somebody else has changed a value that the transaction depends on; begin another one and repeat the changes.

    What to do: begin another transaction, and repeat the changes on what is there now.
    """

    status = "ABORTED"


class FutureError(BlizzarrError, ValueError):
    """A promise was dropped without a result, or a batch was used after it was submitted.

    What to do: make a new promise or batch.
    """
