"""The futures of changes, and the two of a write: when the source is no longer needed, and when elements are stored."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar

from blizzarr.futures.future import Future, drop, tell_loop

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class ChangeFuture(Future[T]):
    """The end of a change, which cannot be cancelled once it has begun: it goes on, and would undo later ones."""

    __slots__ = ()

    def cancel(self) -> bool:
        """Cancel the change if it has not begun; otherwise return False.

        >>> from blizzarr.futures.future import pending, run
        >>> future = pending(lambda: print(future.cancel()), ChangeFuture)
        >>> run(future), future.cancelled()
        False
        (True, False)
        """
        return drop(self)

    def __await__(self) -> Generator[Any, None, T]:
        if not self.done():
            from blizzarr.futures.to_the_end import wait_to_the_end

            yield from wait_to_the_end(_end_of(self), self.cancel).__await__()
        return (yield from super().__await__())


class WriteFutures:
    """The two futures of a write. Used as a future itself, it stands for `commit`.

    Attributes
    ----------
    copy
        Done when the source is no longer needed.
    commit
        Done when every read sees what was written, and it is as durable as was asked for. In a transaction: done when
        reads with the same transaction see it.
    """

    __slots__ = ("__weakref__", "commit", "copy")

    copy: Future[None]
    commit: Future[None]

    def __new__(cls) -> WriteFutures:
        raise TypeError("expected a write, which makes its futures")

    def result(self, timeout: float | None = None, deadline: float | None = None) -> None:
        """Wait until the elements are stored; see `Future.result`."""
        self.commit.result(timeout, deadline)

    def exception(self, timeout: float | None = None, deadline: float | None = None) -> BaseException | None:
        """Wait, and return the exception that the write failed with, or None; see `Future.exception`."""
        return self.commit.exception(timeout, deadline)

    def done(self) -> bool:
        """Return whether the write is stored, has failed, or was cancelled."""
        return self.commit.done()

    def cancelled(self) -> bool:
        """Return whether the write was cancelled."""
        return self.commit.cancelled()

    def cancel(self) -> bool:
        """Cancel the write if it has not begun; otherwise return False."""
        return self.commit.cancel()

    def add_done_callback(self, callback: Callable[[Future[None]], object]) -> None:
        """Call `callback` with `commit` when that is done."""
        self.commit.add_done_callback(callback)

    def remove_done_callback(self, callback: Callable[[Future[None]], object]) -> int:
        """Remove a callback, and return how many times it was registered."""
        return self.commit.remove_done_callback(callback)

    def __await__(self) -> Generator[Any, None, None]:
        return self.commit.__await__()

    def __repr__(self) -> str:
        return f"<tensorstore.WriteFutures object at {id(self):#x}>"

    def __reduce__(self) -> Any:
        raise TypeError("futures cannot be pickled; wait for their results")


def _end_of(future: Future[Any]) -> asyncio.Future[None]:
    """Return a future of the running event loop that is done, without a result, when the other one is."""
    import asyncio

    end: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell() -> None:
        if not end.done():
            end.set_result(None)

    tell_loop(future, tell)
    return end


def write_futures(copy: Future[None], commit: Future[None]) -> WriteFutures:
    made = object.__new__(WriteFutures)
    made.copy = copy
    made.commit = commit
    return made
