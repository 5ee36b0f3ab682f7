"""Calls of obstore that are waited for in Python, where a signal, a deadline and the end of an operation end them.

obstore's synchronous functions come back when they have an answer, whatever happens meanwhile. Its asynchronous ones
hand their answer to an event loop. The one here runs nothing: it takes the answer and wakes the thread that waits for
it. A request that nobody waits for any more is dropped, with its connection.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, current_thread, get_ident, main_thread
from typing import Any, Final

from blizzarr.errors import StoreError
from blizzarr.stores.failures import mark_as_of_signal
from blizzarr.stores.object_limits import Limits, Until
from blizzarr.stores.obstore_library import obstore
from blizzarr.stores.threads import check_wanted

_TICK: Final = 0.1
"""Seconds after which a waiting thread looks whether it is to go on."""
_GRACE: Final = 0.15
"""Seconds that a write has to end after Ctrl-C: one that is dropped may be carried out all the same."""
_SMALL: Final = 128 << 10
"""Bytes that are not waited for in Python."""
_SOON: Final = 3.0
"""Seconds in which most listings of what is directly under a prefix have ended."""
_LONGEST: Final = 3600.0
"""Seconds after which one that goes on and on is given up. It has thousands of requests."""
_ENDING: Final = "the interpreter is ending"
_LAST_PATIENCE: Final = 1.0
"""Seconds for which the end of the interpreter waits for requests to be dropped."""


class ObstoreCalls:
    """The calls of obstore for one store.

    Parameters
    ----------
    target
        The store of obstore.

    Examples
    --------
    >>> import obstore
    >>> calls = ObstoreCalls(obstore.store.MemoryStore())
    >>> calls.write("put", "a", b"value")
    {'e_tag': '"0"', 'version': None}
    >>> bytes(calls.read("get", "a").bytes())
    b'value'
    """

    def __init__(self, target: Any) -> None:
        kinds = obstore().store
        self.target = target
        self.limits = Limits.of(target)
        self._is_near = isinstance(target, kinds.MemoryStore | kinds.LocalStore)

    def read(self, name: str, *arguments: Any, until: Until | None = None, **options: Any) -> Any:
        """Return what a function of obstore that changes nothing returns for this store."""
        return self._call(obstore(), name, (self.target, *arguments), options, until, is_write=False)

    def body(self, answer: Any, until: Until) -> Any:
        """Return the bytes of what `read` has returned for ``"get"``."""
        begin, end = answer.range
        if end - begin <= _SMALL:
            # They come with the head of the answer, nearly always; to wait twice would cost more than it gains.
            return answer.bytes()
        return self._call(answer, "bytes", (), {}, until, is_write=False)

    def write(self, name: str, *arguments: Any, until: Until | None = None, **options: Any) -> Any:
        """Return what a function of obstore that changes something returns for this store."""
        return self._call(obstore(), name, (self.target, *arguments), options, until, is_write=True)

    def next_of(self, stream: Any) -> Any:
        """Return the next part of a stream; None after the last."""
        try:
            if self._is_called_directly():
                return next(stream)
            return _answer_of(stream.__anext__, (), {}, self.limits.begin(), is_write=False)
        except (StopIteration, StopAsyncIteration):
            return None

    def list_dir(self, prefix: str | None, late: Callable[[], object]) -> Any:
        """Return what is directly under a prefix; call `late`, which may raise, if that takes several seconds."""
        if self._is_called_directly():
            return obstore().list_with_delimiter(self.target, prefix)
        until = self.limits.begin(max(self.limits.total, _LONGEST))
        begin = obstore().list_with_delimiter_async
        return _answer_of(begin, (self.target, prefix), {}, until, is_write=False, late=late)

    def _is_called_directly(self) -> bool:
        """Return whether there is nothing to wait for, or nobody who could be waited for."""
        if self._is_near or not _is_ending:
            return self._is_near
        if current_thread() is not main_thread():
            raise StoreError(_ENDING)
        return True

    def _call(
        self, owner: Any, name: str, arguments: tuple[Any, ...], options: Any, until: Until | None, *, is_write: bool
    ) -> Any:
        if self._is_called_directly():
            return getattr(owner, name)(*arguments, **options)
        begin = getattr(owner, f"{name}_async")
        return _answer_of(begin, arguments, options, until or self.limits.begin(), is_write=is_write)


class _Answer:
    """What obstore takes for a future."""

    __slots__ = ("_callbacks", "_came", "_canceller", "_error", "_value", "is_over")

    def __init__(self) -> None:
        self._came = Lock()
        self._came.acquire()
        self._callbacks: list[Callable[[_Answer], object]] = []
        self._value: Any = None
        self._error: BaseException | None = None
        self._canceller: int | None = None
        self.is_over = False
        """Whether obstore will not come back to it."""

    def add_done_callback(self, callback: Callable[[_Answer], object], *, context: object = None) -> None:
        self._callbacks.append(callback)

    def cancelled(self) -> bool:
        # obstore asks in `cancel`, and from a thread of its own when it has dropped the request.
        if self._canceller not in (None, get_ident()):
            self.is_over = True
        return self._canceller is not None

    def set_result(self, value: Any) -> None:
        self._value = value
        self.is_over = True
        self._came.release()

    def set_exception(self, error: BaseException) -> None:
        self._error = error
        self.is_over = True
        self._came.release()

    def cancel(self) -> None:
        self._canceller = get_ident()
        # Each may be called once.
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def leave(self) -> None:
        """Let the thread that waits go on, without an answer."""
        if not self.is_over:
            self._error = StoreError(_ENDING)
            with suppress(RuntimeError):  # the answer came at this moment
                self._came.release()

    def comes_within(self, seconds: float) -> bool:
        return self._came.acquire(timeout=max(0.0, seconds))

    def value(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value


class _NoLoop:
    """What obstore takes for an event loop."""

    def create_future(self) -> _Answer:
        return _Answer()

    def call_soon_threadsafe(self, callback: Callable[..., object], *arguments: Any, context: object = None) -> None:
        callback(*arguments)


_loop: Any = _NoLoop()
_pending: set[_Answer] = set()
_is_ending = False


def _answer_of(
    begin: Callable[..., Any],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    until: Until,
    *,
    is_write: bool,
    late: Callable[[], object] | None = None,
) -> Any:
    from asyncio.events import _get_running_loop, _set_running_loop

    # The caller may be within a loop of its own, as in a notebook.
    loop = _get_running_loop()
    _set_running_loop(_loop)
    try:
        answer: _Answer = begin(*arguments, **options)
    finally:
        _set_running_loop(loop)
    _pending.add(answer)
    soon = time.monotonic() + _SOON
    try:
        while not _interruptibly(answer, min(_TICK, until.left())):
            if until.left() <= 0:
                raise TimeoutError(f"no answer within {until}")
            check_wanted(is_write=is_write)
            if late is not None and time.monotonic() >= soon:
                late()
                late = None
        return answer.value()
    except BaseException as error:
        try:
            if is_write and not isinstance(error, TimeoutError) and not answer.is_over:
                answer.comes_within(_GRACE)
        finally:
            if not answer.is_over:
                answer.cancel()
        raise
    finally:
        _pending.discard(answer)


def _interruptibly(answer: _Answer, seconds: float) -> bool:
    try:
        return answer.comes_within(seconds)
    except BaseException as raised:
        # Nothing raises here but the handler of a signal.
        mark_as_of_signal(raised)
        raise


@atexit.register
def _end() -> None:
    """Drop all requests: their answers would find no interpreter. From now on obstore itself waits for answers."""
    global _is_ending
    _is_ending = True
    left = list(_pending)
    for answer in left:
        answer.cancel()
        answer.leave()
    deadline = time.monotonic() + _LAST_PATIENCE
    while not all(answer.is_over for answer in left) and time.monotonic() < deadline:
        time.sleep(0.001)
