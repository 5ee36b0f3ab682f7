"""The module ``zarr.errors``: errors of blizzarr that are also those of zarr-python.

An error keeps its class of blizzarr, with its fields, and gets the one of zarr-python beside it: ``except
zarr.errors.ContainsArrayError`` and ``except blizzarr.errors.NodeExistsError`` both catch it.
"""

from __future__ import annotations

import errno
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, Final, TypeVar, cast

from blizzarr import errors
from blizzarr.formats import detect
from blizzarr.formats.document import JSON_OBJECT
from blizzarr.model import ArrayMeta

__all__ = [
    *("ArrayIndexError", "ArrayNotFoundError", "BaseZarrError", "BoundsCheckError", "ChunkNotFoundError"),
    *("ContainsArrayAndGroupError", "ContainsArrayError", "ContainsGroupError", "DataTypeValidationError"),
    *("GroupNotFoundError", "MetadataValidationError", "NegativeStepError", "NodeNotFoundError"),
    *("NodeTypeValidationError", "PickleCodecDisabledError", "UnknownCodecError", "UnstableSpecificationWarning"),
    *("VindexInvalidSelectionError", "ZarrDeprecationWarning", "ZarrFutureWarning", "ZarrRuntimeWarning"),
    "ZarrUserWarning",
]

F = TypeVar("F", bound=Callable[..., Any])


class BaseZarrError(ValueError):
    """The base class of the errors of zarr-python; several arguments are put into a text."""

    _words = "{}"

    def __init__(self, *args: Any) -> None:
        super().__init__(args[0] if len(args) == 1 else self._words.format(*args) if args else "")


class NodeNotFoundError(BaseZarrError, FileNotFoundError):
    """There is no array or group at a path."""


class ArrayNotFoundError(NodeNotFoundError):
    """There is no array at a path."""

    _words = "No array found in store {!r} at path {!r}"


class GroupNotFoundError(NodeNotFoundError):
    """There is no group at a path."""

    _words = "No group found in store {!r} at path {!r}"


class ContainsGroupError(BaseZarrError):
    """A group is at a path already."""

    _words = "A group exists in store {!r} at path {!r}."


class ContainsArrayError(BaseZarrError):
    """An array is at a path already."""

    _words = "An array exists in store {!r} at path {!r}."


class ContainsArrayAndGroupError(BaseZarrError):
    """The documents of an array and of a group are at one path."""

    _words = (
        "Array and group metadata documents (.zarray and .zgroup) were both found in store {!r} at path {!r}. Only one "
        "of these files may be present in a given directory / prefix. Remove the .zarray file, or the .zgroup file, or "
        "both."
    )


class MetadataValidationError(BaseZarrError):
    """A metadata document does not conform."""

    _words = "Invalid value for {!r}. Expected {!r}. Got {!r}."


class NodeTypeValidationError(MetadataValidationError):
    """A group is where an array is expected, or the reverse."""


class UnknownCodecError(BaseZarrError):
    """A codec is unknown."""


class ChunkNotFoundError(BaseZarrError):
    """It is never raised: chunks that are not stored are read as the fill value."""


class DataTypeValidationError(ValueError):
    """It is never raised: data types that there are not raise a `MetadataError` that is also a `TypeError`."""


class PickleCodecDisabledError(BaseZarrError):
    """It is never raised: codecs that are not allowed raise a `blizzarr.errors.UnknownExtensionError`."""


class ZarrFutureWarning(FutureWarning):
    """A warning about what will change."""


class UnstableSpecificationWarning(ZarrFutureWarning):
    """A warning about what the specification of Zarr does not have."""


class ZarrDeprecationWarning(DeprecationWarning):
    """A warning about what will be removed."""


class ZarrUserWarning(UserWarning):
    """A warning about the program of a user."""


class ZarrRuntimeWarning(RuntimeWarning):
    """A warning about doubtful behaviour."""


class ArrayIndexError(IndexError):
    """An index that an array does not understand."""


class BoundsCheckError(IndexError):
    """An index outside of an array."""


class NegativeStepError(IndexError):
    """A negative step; blizzarr allows them."""


class VindexInvalidSelectionError(IndexError):
    """A selection that ``vindex`` does not understand."""


def deprecated(instead: str) -> Callable[[F], F]:
    """Return a decorator of functions that warn of their use, as in zarr-python."""

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            warnings.warn(instead, ZarrDeprecationWarning, stacklevel=2)
            return function(*args, **named)

        return cast("F", call)

    return decorate


@contextmanager
def translated(wanted: type[BaseZarrError] = NodeNotFoundError, store: Any = None) -> Iterator[None]:
    """Give errors of blizzarr the classes of zarr-python's, too, in a ``with`` block or, as a decorator, in a function.

    - `wanted`: the class for a node that is not there.
    """
    try:
        yield
    except errors.BlizzarrError as error:
        raise as_zarr(error, wanted, store)  # noqa: B904  # the same error


def as_zarr(error: errors.BlizzarrError, wanted: type[BaseZarrError], store: Any) -> errors.BlizzarrError:
    """Return the error, which is of a class of zarr-python as well, if there is one for it."""
    if isinstance(error, BaseZarrError):
        return error
    if isinstance(error, errors.NodeNotFoundError):
        # Programs look for these words.
        kind = wanted.__name__.removesuffix("NotFoundError").lower().replace("node", "array or group")
        where = error.reason.removeprefix("no array or group here: ")
        error.reason = f"No {kind} found in store {error.store} at path {(error.array or '/')[1:]!r}: {where}"
        return also(error, wanted)
    if isinstance(error, errors.StoreError) and error.errno == errno.ENOTDIR:
        return also(error, wanted)
    if isinstance(error, errors.NodeExistsError):
        path = (error.array or "/").strip("/")
        is_array = store is not None and isinstance(detect(store, path), ArrayMeta)
        error.reason = f"{'An array' if is_array else 'A group'} exists in store {error.store} at path {path!r}: " + (
            error.reason or ""
        )
        return also(error, ContainsArrayError if is_array else ContainsGroupError)
    if isinstance(error, errors.NodeTypeError):
        return also(error, ContainsArrayError if wanted is GroupNotFoundError else NodeTypeValidationError)
    if isinstance(error, errors.MetadataError) and any(problem.expected == JSON_OBJECT for problem in error.problems):
        return also(error, json.JSONDecodeError)
    if isinstance(error, errors.MetadataError) and {(error.key, one.path) for one in error.problems} == {_GIVEN_TYPE}:
        return also(error, TypeError)
    for ours, theirs in _CLASSES:
        if isinstance(error, ours):
            return also(error, theirs)
    return error


_GIVEN_TYPE: Final = (None, "data_type")
"""The key and the member of a problem with a data type that is in no document: zarr-python raises NumPy's error."""

_CLASSES: Final = (
    (errors.UnknownExtensionError, UnknownCodecError),
    (errors.MetadataError, MetadataValidationError),
    (errors.ReadOnlyError, BaseZarrError),
    (errors.OutOfBoundsError, BoundsCheckError),
)
"""Errors of blizzarr, and the classes of zarr-python that they get beside theirs."""


def also(error: errors.BlizzarrError, kind: type[Exception]) -> errors.BlizzarrError:
    """Return the error, which is of another class as well."""
    if isinstance(error, kind):
        return error
    error.__class__ = _both(type(error), kind)  # type: ignore[arg-type]
    # Programs show the first argument.
    error.args = (str(error),)
    return error


@lru_cache(64)
def _both(ours: type[Exception], theirs: type[Exception]) -> Any:
    """Return the class of errors that are of both kinds, with the name of zarr-python's."""
    rest: dict[str, Any] = {"__doc__": theirs.__doc__, "__reduce__": _reduce}
    if issubclass(ours, errors.NodeNotFoundError | errors.NodeExistsError):
        rest["_place"] = lambda error: ""  # zarr-python's words name the place
    if theirs is json.JSONDecodeError:
        rest |= {"msg": "not a JSON object", "doc": "", "pos": 0, "lineno": 1, "colno": 1}  # the text says where
    named = ours if theirs.__module__ == "builtins" else theirs
    return type(named.__name__, (ours, theirs), rest | {"__module__": named.__module__})


def _reduce(error: Any) -> tuple[Any, ...]:
    ours: type[errors.BlizzarrError]
    ours, theirs = type(error).__bases__
    rebuild, (_, *args), *state = ours.__reduce__(error)
    # The class of both kinds is none that pickle could import.
    return _restored, (theirs, rebuild, (ours, *args)), *state


def _restored(theirs: Any, rebuild: Any, args: tuple[Any, ...]) -> Any:
    return also(rebuild(*args), theirs)
