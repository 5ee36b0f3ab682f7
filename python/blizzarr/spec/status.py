"""Context managers that give errors TensorStore's classes."""

from __future__ import annotations

import errno

from blizzarr.errors import (
    ArrayNotFoundError,
    ConstraintError,
    InvalidArgumentError,
    MetadataError,
    PlaceError,
    SelectionError,
    SpecError,
    StoreError,
    TransactionError,
    ViewOutOfBoundsError,
)
from blizzarr.errors.specs import StatusError
from blizzarr.json_values import quote

__all__ = ["failed_precondition", "invalid_argument", "needs_directory", "opening"]


class needs_directory:  # noqa: N801  # as a function
    """A context for errors of stores that found a file where a directory is needed.

    Parameters
    ----------
    missing
        The path at which there is no metadata, where that is the answer; without it the file is in the way.

    Examples
    --------
    >>> with needs_directory():
    ...     raise StoreError("found a file", errno=errno.ENOTDIR)
    Traceback (most recent call last):
    ...
    blizzarr.errors.PlaceError: FAILED_PRECONDITION: Not a directory: found a file
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
            raise ArrayNotFoundError(f"Metadata in {quote(self._missing)} does not exist: {said}") from error
        if not isinstance(error, PlaceError):
            raise PlaceError(said) from error


class opening:  # noqa: N801  # as a function
    """A context that puts the driver that is being opened before errors about specs and metadata.

    Examples
    --------
    >>> with opening("zarr3"):
    ...     raise ConstraintError("no")
    Traceback (most recent call last):
    ...
    blizzarr.errors.ConstraintError: FAILED_PRECONDITION: Error opening "zarr3" driver: no
    """

    __slots__ = ("_driver",)

    def __init__(self, driver: str) -> None:
        self._driver = driver

    def __enter__(self) -> None:
        """Nothing is done before there is an error."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, SpecError | TransactionError):
            error.reason = f'Error opening "{self._driver}" driver: {error.reason}'
        elif isinstance(error, SelectionError):
            # The transform of the spec does not fit the stored array.
            reason = error.reason.removeprefix("OUT_OF_RANGE: ")
            raise ViewOutOfBoundsError(f'OUT_OF_RANGE: Error opening "{self._driver}" driver: {reason}') from error
        elif isinstance(error, MetadataError):
            raise ConstraintError(f'Error opening "{self._driver}" driver: Error reading {error}') from error


class invalid_argument:  # noqa: N801  # as a function
    """A context in which errors are about the spec itself, even where it is compared with stored metadata.

    Examples
    --------
    >>> with failed_precondition(), invalid_argument():
    ...     raise SpecError("no")
    Traceback (most recent call last):
    ...
    blizzarr.errors.InvalidArgumentError: no
    """

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing is done before there is an error."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, SpecError) and not isinstance(error, StatusError):
            raise InvalidArgumentError(error.reason) from error


class failed_precondition:  # noqa: N801  # as a function
    """A context in which errors are about stored metadata that do not meet constraints."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing is done before there is an error."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, SpecError) and not isinstance(error, StatusError | InvalidArgumentError):
            raise ConstraintError(error.reason) from error
