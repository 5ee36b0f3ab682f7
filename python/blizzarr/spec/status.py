"""What goes wrong when specs are opened, in classes for those who catch it and in TensorStore's words.

TensorStore raises `ValueError` for all of it, with a word in front that says which kind it is; so do these, which also
are what the rest of this library raises::

    SpecError (ValueError)
    ├── ConstraintError                         FAILED_PRECONDITION: what is stored is not as the spec demands
    ├── InvalidArgumentError                    the spec itself cannot be meant
    ├── ArrayNotFoundError (NodeNotFoundError)  NOT_FOUND
    ├── ArrayExistsError (NodeExistsError)      ALREADY_EXISTS
    ├── OutOfRangeError                         OUT_OF_RANGE: a document has nothing at this position
    ├── PlaceError (StoreError)                 FAILED_PRECONDITION: a file is where a directory has to be
    └── UnsupportedDriverError (UnsupportedOperationError)  what TensorStore has and this library has not
"""

from __future__ import annotations

import errno
import re
from typing import ClassVar

from blizzarr.errors import (
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    SelectionError,
    SpecError,
    StoreError,
    UnsupportedOperationError,
    ViewOutOfBoundsError,
)

__all__ = [
    "ArrayExistsError",
    "ArrayNotFoundError",
    "ConstraintError",
    "InvalidArgumentError",
    "OutOfRangeError",
    "PlaceError",
    "UnsupportedDriverError",
    "failed_precondition",
    "invalid_argument",
    "needs_directory",
    "opening",
]


class _StatusError(SpecError):
    """An error that begins with a word for its kind."""

    status: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.status}: {super().__str__()}"


class ConstraintError(_StatusError):
    """What is stored is not as the spec demands; the text names both."""

    status = "FAILED_PRECONDITION"


class OutOfRangeError(_StatusError):
    """A document has nothing at this position."""

    status = "OUT_OF_RANGE"


class ArrayNotFoundError(_StatusError, NodeNotFoundError):
    """There is no array to open."""

    status = "NOT_FOUND"


class ArrayExistsError(_StatusError, NodeExistsError):
    """There is an array, or something else, where one is to be created."""

    status = "ALREADY_EXISTS"


class PlaceError(_StatusError, StoreError):
    """A file is where a directory has to be."""

    status = "FAILED_PRECONDITION"
    usual = errno.ENOTDIR


class needs_directory:  # noqa: N801  # as a function
    """Errors of stores that found a file where a directory has to be.

    Parameters
    ----------
    missing
        What there is none of in a file, where that is the answer; without it the file is in the way.

    Examples
    --------
    >>> with needs_directory():
    ...     raise StoreError("found a file", errno=errno.ENOTDIR)
    Traceback (most recent call last):
    ...
    blizzarr.spec.status.PlaceError: FAILED_PRECONDITION: Not a directory: found a file
    """

    __slots__ = ("_missing",)

    def __init__(self, missing: str | None = None) -> None:
        self._missing = missing

    def __enter__(self) -> None:
        """Nothing is done before there is an error."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, StoreError) or error.errno != errno.ENOTDIR:
            return
        said = error.reason if isinstance(error, PlaceError) else f"Not a directory: {error}"
        if self._missing is not None:
            raise ArrayNotFoundError(f"{self._missing} does not exist: {said}") from error
        if not isinstance(error, PlaceError):
            raise PlaceError(said) from error


class opening:  # noqa: N801  # as a function
    """Say in errors about specs and metadata what was being opened.

    Examples
    --------
    >>> with opening("zarr3"):
    ...     raise ConstraintError("no")
    Traceback (most recent call last):
    ...
    blizzarr.spec.status.ConstraintError: FAILED_PRECONDITION: Error opening "zarr3" driver: no
    """

    __slots__ = ("_driver",)

    def __init__(self, driver: str) -> None:
        self._driver = driver

    def __enter__(self) -> None:
        """Nothing is done before there is an error."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, SpecError):
            error.reason = f'Error opening "{self._driver}" driver: {error.reason}'
        elif isinstance(error, SelectionError):
            # The transform of the spec does not go with what is there.
            reason = error.reason.removeprefix("OUT_OF_RANGE: ")
            raise ViewOutOfBoundsError(f'OUT_OF_RANGE: Error opening "{self._driver}" driver: {reason}') from error
        elif isinstance(error, MetadataError):
            raise ConstraintError(f'Error opening "{self._driver}" driver: Error reading {error}') from error


_ARGUMENTS = re.compile(
    r"Error setting |codec_chunk_shape not supported|domain from metadata does not match|Dimension units not supported"
    r"|Invalid fill_value: .*no fill value|fill_value not supported by N5"
)
"""How errors begin that TensorStore takes for ones of the spec itself: of layouts, and some of ``zarr`` and ``n5``."""


class UnsupportedDriverError(SpecError, UnsupportedOperationError):
    """A kind of array that TensorStore has and this library has not; the text names those that it has."""


class InvalidArgumentError(SpecError):
    """A spec says something of an array that cannot be meant, or of another kind of array, whatever is stored."""


class invalid_argument:  # noqa: N801  # as a function
    """Errors about what a spec says itself, also where it is held against what is stored.

    Examples
    --------
    >>> with failed_precondition(), invalid_argument():
    ...     raise SpecError("no")
    Traceback (most recent call last):
    ...
    blizzarr.spec.status.InvalidArgumentError: no
    """

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing is done before there is an error."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, SpecError) and not isinstance(error, _StatusError):
            raise InvalidArgumentError(error.reason) from error


class failed_precondition:  # noqa: N801  # as a function
    """Errors about constraints, where what does not meet them is stored already."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing is done before there is an error."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        known = isinstance(error, _StatusError | InvalidArgumentError)
        if isinstance(error, SpecError) and not known and not _ARGUMENTS.match(error.reason):
            raise ConstraintError(error.reason) from error
