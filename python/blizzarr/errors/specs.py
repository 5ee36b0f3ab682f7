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

    The text is TensorStore's where it has one.
    """


class StatusError(BlizzarrError):
    """An error whose text begins with the word that TensorStore has for its kind."""

    status: ClassVar[str]

    def _text(self) -> str:
        return f"{self.status}: {super()._text()}"


class ConstraintError(StatusError, SpecError):
    """The stored array does not meet a constraint of the spec; the text names both.

    Examples
    --------
    >>> print(ConstraintError("Rank is 2, but schema specifies rank of 3"))
    FAILED_PRECONDITION: Rank is 2, but schema specifies rank of 3
    """

    status = "FAILED_PRECONDITION"


class InvalidArgumentError(SpecError):
    """The spec itself is invalid, or meant for another driver, whatever is stored."""


class OutOfRangeError(StatusError, SpecError):
    """A JSON pointer names an element beyond the end of an array."""

    status = "OUT_OF_RANGE"


class ArrayNotFoundError(StatusError, SpecError, NodeNotFoundError):
    """There is no array to open."""

    status = "NOT_FOUND"


class ArrayExistsError(StatusError, SpecError, NodeExistsError):
    """There is already an array, or something else, where one is to be created."""

    status = "ALREADY_EXISTS"


class PlaceError(StatusError, SpecError, StoreError):
    """There is a file where the spec needs a directory."""

    status = "FAILED_PRECONDITION"
    usual = errno.ENOTDIR


class UnsupportedDriverError(SpecError, UnsupportedOperationError):
    """TensorStore has a driver of this name, but this library does not; the text lists those that it has."""


class NotReadableError(SpecError, UnsupportedOperationError):
    """The view was opened for writing only, or its driver cannot read."""


class NotWritableError(SpecError, ReadOnlyError):
    """The view was opened for reading only, or its driver cannot write."""


class ChunkFunctionError(SpecError, RuntimeError):
    """A function passed to `virtual_chunked` returned something other than None, a generation, or a future of these."""


class ViewOutOfBoundsError(OutOfBoundsError, SpecError):
    """A view reaches beyond what is stored; raised when it is read or written.

    Its bounds were implicit, or its indices were not checked before.
    """


class TransactionError(BlizzarrError, ValueError):
    """The transaction has ended, or cannot be committed as asked; begin another one."""


class GenerationMismatchError(StatusError, TransactionError, ConflictError):
    """Somebody else has changed a value that the transaction depends on; begin another one and repeat the changes."""

    status = "ABORTED"


class FutureError(BlizzarrError, ValueError):
    """A promise was dropped without a result, or a batch was used after it was submitted."""
