"""Context managers that give errors TensorStore's classes."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from blizzarr.errors import (
    ArrayNotFoundError,
    BlizzarrError,
    ConstraintError,
    InvalidArgumentError,
    PlaceError,
    SelectionError,
    SpecError,
    StoreError,
    TransactionError,
    ViewOutOfBoundsError,
)
from blizzarr.errors.specs import StatusError
from blizzarr.json_values import quote


def raise_no_directory(error: StoreError, missing: str | None = None) -> None:
    """Raise the error for a file where a directory is needed, if the error of a store is about that.

    - `error`: the error of the store.
    - `missing`: the path at which there is no metadata, where that is the answer; without it the file is in the way.
    """
    if error.errno != errno.ENOTDIR:
        return
    reason = error.reason if isinstance(error, PlaceError) else f"Not a directory: {error}"
    if missing is not None:
        raise ArrayNotFoundError(f"Metadata in {quote(missing)} does not exist: {reason}") from error
    if not isinstance(error, PlaceError):
        raise PlaceError(reason) from error


def raise_opening(driver: str, error: BlizzarrError) -> NoReturn:
    """Raise an error about specs and metadata again, with the driver that was being opened."""
    if isinstance(error, SpecError | TransactionError):
        error.reason = f'Error opening "{driver}" driver: {error.reason}'
        raise error
    if isinstance(error, SelectionError):
        # The transform of the spec does not fit the stored array.
        reason = (error.reason or "").removeprefix("OUT_OF_RANGE: ")
        raise ViewOutOfBoundsError(f'OUT_OF_RANGE: Error opening "{driver}" driver: {reason}') from error
    raise ConstraintError(f'Error opening "{driver}" driver: Error reading {error}') from error


@contextmanager
def raised_as(kind: type[SpecError]) -> Iterator[None]:
    """Give errors without a class of their own this one: `ConstraintError` where stored metadata do not meet a spec,
    `InvalidArgumentError` where the spec itself is wrong even so.
    """
    try:
        yield
    except SpecError as error:
        raise_as(kind, error)
        raise


def raise_as(kind: type[SpecError], error: SpecError) -> None:
    """Raise an error again, as one of this class, unless it has a class of its own."""
    if not isinstance(error, StatusError | InvalidArgumentError):
        raise kind(error.reason) from error
