"""The future of a transaction; waiting for it commits the transaction."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from blizzarr.futures import Future, fail, finish, pending


class CommitFuture(Future[None]):
    """The end of a transaction, which this future keeps alive, and commits when somebody waits.

    >>> done = pending()
    >>> future = CommitFuture.about(done, lambda: finish(done, None))
    >>> done.done(), future.result(), done.done()
    (False, None, True)
    """

    __slots__ = ("_commit", "_ended")

    _commit: Callable[[], object]
    """Begins to commit; as a method of the transaction, it keeps the transaction alive."""
    _ended: Future[None]

    @classmethod
    def about(cls, ended: Future[None], commit: Callable[[], object]) -> Future[None]:
        """Return a new future: cancelling it does not affect the other futures of the transaction."""
        future = pending(lambda: _committed(ended, commit), cls)
        future._commit, future._ended = commit, ended  # type: ignore[attr-defined]
        # Weakly, as the future has the transaction.
        ref = weakref.ref(future)

        def tell(ended: Future[None]) -> None:
            result = ref()
            if result is not None:
                _pass_on(ended, result)

        ended.add_done_callback(tell)
        return future

    def force(self) -> None:
        """Begin to commit the transaction."""
        if not self.done():
            self._commit()

    def add_done_callback(self, callback: Callable[[Future[None]], object]) -> None:
        """Call `callback` with this future when it is done."""
        if not self.done():
            # Whoever waits for a callback need not hold the future.
            self._ended.add_done_callback(lambda _, kept=self: None)  # type: ignore[misc]
        super().add_done_callback(callback)


def _committed(ended: Future[None], commit: Callable[[], object]) -> None:
    commit()
    ended.result()


def _pass_on(done: Future[None], other: Future[None]) -> None:
    error = done.exception()
    if error is None:
        finish(other, None)
    else:
        fail(other, error)
