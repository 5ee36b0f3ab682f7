"""Promises: the side of a future that gives the result."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from blizzarr.errors import FutureError
from blizzarr.futures.future import Future, fail, finish, pending

T = TypeVar("T")


class Promise(Generic[T]):
    """The side of a future that sets its result.

    Made by `Promise.new`. If a promise is dropped without a result, its future fails.

    Examples
    --------
    >>> promise, future = Promise.new()
    >>> promise.set_result(5)
    >>> future.result()
    5
    """

    __slots__ = ("__weakref__", "_future")

    _future: Future[T]

    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(types.GenericAlias)

    def __new__(cls) -> Promise[T]:
        raise TypeError("expected Promise.new(), which makes a promise and its future")

    @staticmethod
    def new() -> tuple[Promise[Any], Future[Any]]:
        """Return a new promise and its future."""
        promise: Promise[Any] = object.__new__(Promise)
        future: Future[Any] = pending()
        promise._future = future
        return promise, future

    def set_result(self, result: T) -> None:
        """Set the result; no effect if there is one already, or if the future was cancelled."""
        finish(self._future, result)

    def set_exception(self, exception: BaseException) -> None:
        """Fail the future; no effect if it has a result already, or was cancelled.

        Examples
        --------
        >>> promise, future = Promise.new()
        >>> promise.set_exception(KeyError("a"))
        >>> future.exception()
        KeyError('a')
        """
        if not isinstance(exception, BaseException):
            raise TypeError(f"expected an exception, found {exception!r}")
        fail(self._future, exception)

    def __del__(self) -> None:
        fail(self._future, FutureError("UNKNOWN: the promise was dropped without a result"))

    def __repr__(self) -> str:
        return f"<tensorstore.Promise object at {id(self):#x}>"

    def __reduce__(self) -> Any:
        raise TypeError("a promise cannot be pickled")
