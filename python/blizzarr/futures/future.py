"""A result that is still to come, and the promise of it: the side that gives the result.

No lock is held anywhere: a future may be finished by the garbage collector, in whatever thread and at whatever moment.
What must happen once is taken from a list, which only one thread can: the right to finish, the work, each callback.
"""

from __future__ import annotations

import threading
import time
import types
import weakref
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from blizzarr.errors import FutureError

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future as Running

T = TypeVar("T")
FutureLike: TypeAlias = Any
"""A `Future`, a coroutine, or the result itself."""

_FIRST = "call .result() or await it first"

_PENDING, _RESULT, _ERROR, _CANCELLED = range(4)
_LAST = (-1,)
"""What `map` calls `list.pop` with: in one step of `list.extend`, in which no interrupt comes between."""


class Future(Generic[T]):
    """The result of something that runs elsewhere.

    Await it, wait for it with `result`, or register a callback with `add_done_callback`.

    Parameters
    ----------
    future
        A `Future`, which is returned as it is; a coroutine, which is run; or a result that is already there.
    loop
        The event loop that runs a coroutine; by default, the one that runs in this thread.

    Examples
    --------
    >>> future = Future(3)
    >>> future.done(), future.result(), Future(future) is future
    (True, 3, True)
    """

    __slots__ = ("__weakref__", "_asked", "_callbacks", "_kept", "_right", "_source", "_state", "_value", "_work")

    _asked: bool
    _callbacks: list[Callable[[Future[T]], object]]
    _right: list[None]
    _work: list[Callable[[], T]]
    _state: int
    _value: Any
    _source: Running[T] | None
    _kept: object
    """Kept alive as long as the future is."""

    # A plain alias, not one of `typing`, so that it equals TensorStore's.
    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(types.GenericAlias)
        __iter__ = None

        def __getitem__(self, key: Any) -> Any:
            raise TypeError(f"a {type(self).__name__} cannot be indexed: {_FIRST}")

        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else f": {_FIRST}"
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)

    def __new__(cls, future: FutureLike, *, loop: asyncio.AbstractEventLoop | None = None) -> Future[T]:
        if isinstance(future, Future):
            return future
        if not isinstance(future, Coroutine):
            return resolved(future)
        made: Future[T] = pending()
        made._run_coroutine(future, loop)
        return made

    def _settle(self, state: int, value: Any) -> bool:
        if self._state != _PENDING:
            return False
        mine: list[None] = []
        try:
            mine.extend(map(self._right.pop, _LAST))
        except IndexError:
            return False
        finally:
            # Also where an interrupt comes just then: nobody else may do it any more, and somebody may wait for it.
            if mine:
                self._value = value
                self._state = state
                self._work.clear()
                self._tell()
        return True

    def _tell(self) -> None:
        while self._callbacks:
            try:
                callback = self._callbacks.pop(0)
            except IndexError:
                return
            try:
                callback(self)
            except Exception as error:
                # Neither who finishes the future nor the other callbacks can help it.
                _report(error)
            except BaseException:
                # Ctrl-C, or SystemExit: it goes on after the other callbacks, of which somebody may wait for one.
                self._tell()
                raise

    def _run_coroutine(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop | None) -> None:
        import asyncio

        try:
            loop = loop or asyncio.get_running_loop()
        except RuntimeError:
            # Otherwise Python would warn when it is collected that it was never awaited.
            coroutine.close()
            raise ValueError("no event loop specified and thread does not have a default event loop") from None
        running = self._source = asyncio.run_coroutine_threadsafe(coroutine, loop)
        # A coroutine whose future no longer exists is cancelled.
        ref = weakref.ref(self, lambda _: running.cancel())

        def finished(running: Running[T]) -> None:
            future = ref()
            if future is None:
                return
            if running.cancelled():
                future.cancel()
                return
            error = running.exception()
            if error is not None:
                fail(future, error)
            else:
                finish(future, running.result())

        running.add_done_callback(finished)

    def force(self) -> None:
        """Start deferred work now; otherwise do nothing."""
        if self._state == _PENDING and self._work:
            # Work that is deferred: a batch that was not submitted.
            from blizzarr.futures.pool import POOL

            POOL.put(self)

    def done(self) -> bool:
        """Return whether the future has a result, has failed, or was cancelled."""
        return self._state != _PENDING

    def cancelled(self) -> bool:
        """Return whether the future was cancelled."""
        return self._state == _CANCELLED

    def cancel(self) -> bool:
        """Cancel the future, which then fails with `asyncio.CancelledError`; return False if it was already done.

        Work that has not begun is dropped; work that has begun goes on, but its result is lost.

        Examples
        --------
        >>> from blizzarr.futures import Promise
        >>> promise, future = Promise.new()
        >>> future.cancel(), future.cancelled(), future.cancel()
        (True, True, False)
        """
        if not self._settle(_CANCELLED, None):
            return False
        if self._source is not None:
            self._source.cancel()
        return True

    def result(self, timeout: float | None = None, deadline: float | None = None) -> T:
        """Wait for the result, and return it, or raise what the future failed with.

        Parameters
        ----------
        timeout
            How many seconds to wait at most.
        deadline
            When to stop waiting, in seconds since 1970.

        Raises
        ------
        TimeoutError
            When it takes longer.
        asyncio.CancelledError
            When it was cancelled.
        """
        self._asked = True
        if self._state == _PENDING:
            self._wait(timeout, deadline)
        if self._state == _RESULT:
            value: T = self._value
            return value
        if self._state == _CANCELLED:
            raise _cancelled()
        try:
            raise self._value
        finally:
            # The error remembers this frame, which need not remember the error.
            del self

    def exception(self, timeout: float | None = None, deadline: float | None = None) -> BaseException | None:
        """Wait, and return the exception that the future failed with, or None; the parameters are those of `result`."""
        if self._state == _PENDING:
            self._wait(timeout, deadline)
        if self._state == _CANCELLED:
            raise _cancelled()
        return self._value if self._state == _ERROR else None

    def _wait(self, timeout: float | None, deadline: float | None) -> None:
        left = _seconds(timeout, deadline)
        if left is None and run(self) and self._state != _PENDING:
            return
        self.force()
        from blizzarr.futures.pool import POOL

        gate = threading.Lock()
        gate.acquire()

        def opened(_: Future[T]) -> None:
            gate.release()

        self.add_done_callback(opened)
        with POOL.waiting():
            if not gate.acquire(timeout=-1 if left is None else min(left, threading.TIMEOUT_MAX)):
                self.remove_done_callback(opened)
                raise TimeoutError

    def add_done_callback(self, callback: Callable[[Future[T]], object]) -> None:
        """Call `callback` with this future when it is done, in any thread; immediately if it is done already."""
        if self._state != _PENDING:
            callback(self)
            return
        self._callbacks.append(callback)
        if self._source is not None:
            # Whoever waits for a callback need not hold the future.
            self._source.add_done_callback(lambda _, kept=self: None)  # type: ignore[misc]
        if self._state != _PENDING:
            self._tell()

    def remove_done_callback(self, callback: Callable[[Future[T]], object]) -> int:
        """Remove a callback, and return how many times it was registered."""
        count = 0
        while self._state == _PENDING:
            try:
                self._callbacks.remove(callback)
            except ValueError:
                break
            count += 1
        return count

    def __await__(self) -> Generator[Any, None, T]:
        if self._state != _PENDING:
            # Give the event loop a turn even so: awaiting many done futures must not block timeouts and other tasks.
            yield
            return self.result()
        import asyncio

        waiting: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def tell() -> None:
            if waiting.done():
                return
            if self._state == _RESULT:
                waiting.set_result(self._value)
            elif self._state == _ERROR:
                waiting.set_exception(self._value)
            else:
                waiting.cancel()

        waiting.add_done_callback(lambda _: self.cancel())
        tell_loop(self, tell)
        value = yield from waiting
        self._asked = True
        return value

    def __repr__(self) -> str:
        return f"<tensorstore.Future object at {id(self):#x}>"

    def __reduce__(self) -> Any:
        raise TypeError("a future cannot be pickled; wait for its result")


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


def pending(work: Callable[[], T] | None = None, kind: type[Future[T]] = Future) -> Future[T]:
    """Return a future without a result; `work` computes it, in the thread that first calls `run`.

    >>> future = pending(lambda: 6 * 7)
    >>> future.done(), run(future), future.result(), run(future)
    (False, True, 42, False)
    """
    made = object.__new__(kind)
    made._callbacks = []
    made._right = [None]
    made._work = [] if work is None else [work]
    made._state = _PENDING
    made._value = None
    made._source = None
    made._asked = False
    return made


def resolved(value: T) -> Future[T]:
    """Return a future that has the result already, even if that is itself a future or a coroutine."""
    made: Future[T] = object.__new__(Future)
    made._state = _RESULT
    made._value = value
    made._asked = False
    return made


def failed(error: BaseException) -> Future[Any]:
    """Return a future that has failed."""
    made: Future[Any] = object.__new__(Future)
    made._state = _ERROR
    made._value = error
    made._asked = False
    return made


def finish(future: Future[T], value: T) -> bool:
    """Give the future its result; return False if it was already done.

    >>> future = pending()
    >>> finish(future, 1), finish(future, 2), future.result()
    (True, False, 1)
    """
    return future._settle(_RESULT, value)


def fail(future: Future[Any], error: BaseException) -> bool:
    """Fail the future; return False if it was already done.

    >>> future = pending()
    >>> fail(future, KeyError("a")), fail(future, KeyError("b")), future.exception()
    (True, False, KeyError('a'))
    """
    return future._settle(_ERROR, error)


def keep_alive(future: Future[Any], kept: object) -> None:
    """Keep an object alive as long as the future is."""
    future._kept = kept


def is_asked(future: Future[Any]) -> bool:
    """Return whether `result` was called, or somebody has awaited the future to its end.

    >>> future = resolved(3)
    >>> is_asked(future), future.result(), is_asked(future)
    (False, 3, True)
    """
    return future._asked


def run(future: Future[Any]) -> bool:
    """Do the work of the future in this thread; return False if there is none, or some thread has begun it."""
    taken: list[Callable[[], Any]] = []
    try:
        # One step in C, so that no interrupt comes between: who has taken the work ends the future in any case.
        taken.extend(map(future._work.pop, _LAST))
        if future._state == _PENDING:
            future._settle(_RESULT, taken[0]())
    except BaseException as error:
        if taken:
            future._settle(_ERROR, error)
        elif not isinstance(error, IndexError):
            raise
    return bool(taken)


def tell_loop(future: Future[Any], tell: Callable[[], None]) -> None:
    """Begin the work of a future, and have the running event loop call `tell` when the future is done."""
    import asyncio

    loop = asyncio.get_running_loop()

    def done(_: object) -> None:
        # Nobody waits any more where the loop has been closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(tell)

    future.force()
    future.add_done_callback(done)


def has_work(future: Future[Any]) -> bool:
    """Return whether a future has work that nobody has begun."""
    return bool(future._work)


def set_work(future: Future[T], work: Callable[[], T] | None) -> None:
    """Replace the work of a future; None if it is being done, by whoever calls this."""
    future._work[:] = [] if work is None else [work]


def drop(future: Future[Any]) -> bool:
    """Cancel a future whose work nobody has begun; return False if somebody has, or if it has none.

    >>> future = pending(lambda: 6 * 7)
    >>> drop(future), future.cancelled(), drop(future)
    (True, True, False)
    """
    try:
        future._work.pop()
    except IndexError:
        return False
    return future._settle(_CANCELLED, None)


def _report(error: Exception) -> None:
    """Report the error of a callback as Python reports that of a thread, as nobody can catch it."""
    threading.excepthook(
        threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread()))
    )


def _seconds(timeout: float | None, deadline: float | None) -> float | None:
    """Return the number of seconds to wait; None for no limit."""
    for given in (timeout, deadline):
        if isinstance(given, str | bytes):
            raise TypeError(f"expected seconds, found {given!r}")
    left = [] if timeout is None else [float(timeout)]
    if deadline is not None:
        left.append(float(deadline) - time.time())
    return max(0.0, min(left)) if left else None


def _cancelled() -> BaseException:
    import asyncio

    return asyncio.CancelledError()
