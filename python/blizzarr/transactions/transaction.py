"""Transactions: they gather changes until they are committed or aborted."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from blizzarr.errors import BlizzarrError, TransactionError
from blizzarr.futures import Future, fail, finish, pending, submit

T = TypeVar("T")
P = TypeVar("P", bound="Participant")

_NAMED = 5
"""The most values that the text of an error names as stored, and as not stored."""


class Outcome:
    """The values that a commit has stored, those that it has not, and the first error."""

    def __init__(self) -> None:
        self.stored: list[str] = []
        self.not_stored: list[str] = []
        self.error: BaseException | None = None

    def fail(self, shown: Sequence[str], error: BaseException) -> None:
        """Record values that were not stored; the first error counts."""
        self.not_stored += shown
        self.error = self.error or error

    def with_note(self) -> BaseException | None:
        """Return the first error, with a note on what became of the other values; None if all were stored."""
        error = self.error
        if error is not None and self.stored:
            what = f"{_listed(self.stored)} stored, {_listed(self.not_stored)} not"
            if isinstance(error, BlizzarrError):
                error.reason = f"{error.reason}; of what was committed {what}"
            else:
                error.add_note(f"of what was committed {what}")
        return error


class Participant(Protocol):
    """The changes of one place that a transaction has gathered."""

    at_once: bool
    """True if the commit stores either all of them or none."""

    def prepare(self) -> None:
        """Raise if the changes cannot be committed; nothing is stored yet."""

    def commit(self, outcome: Outcome) -> None:
        """Store the changes, and record which values were stored."""

    def shown(self) -> list[str]:
        """Return the names of the values that are to be stored, as errors show them."""

    def abort(self) -> None:
        """Forget the changes."""


def _listed(shown: list[str]) -> str:
    more = len(shown) - _NAMED
    named = ", ".join(shown[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{named or 'nothing'} {'is' if len(shown) < 2 else 'are'}"


class _Guard:
    """A guard that delays the commit or abort of a transaction while work in it goes on."""

    __slots__ = ("__weakref__", "_transaction")

    def __init__(self, transaction: Transaction) -> None:
        self._transaction: Transaction | None = transaction

    def release(self) -> None:
        """End the work; the last guard lets a commit or abort that was asked for proceed."""
        transaction, self._transaction = self._transaction, None
        if transaction is None:
            return
        with transaction._lock:
            transaction._guards -= 1
            if transaction._guards or transaction._started:
                return
            if transaction.aborted:
                transaction._abort()
                return
            if not transaction._requested:
                return
            parts = transaction._start()
        submit(lambda: transaction._commit(parts))

    __del__ = release


class Transaction:
    """Changes that are kept in memory until they are stored together, or discarded.

    Reads through a store with the transaction see the changes; nobody else does. Used in a ``with`` statement, the
    transaction is committed at the end of the block, or aborted if the block raises. If nobody holds it any more, it is
    aborted.

    All changes to one store in memory are stored in one step. In other stores, each value is. If one value cannot be
    stored, the others still are; `stored` and `not_stored` tell which is which, and no value is ever stored in part.

    Parameters
    ----------
    atomic
        Guarantee that others never see the transaction half committed; a change that makes this impossible raises an
        error and aborts the transaction.
    repeatable_read
        Let the commit fail if others have changed something that was read in the transaction.

    Examples
    --------
    >>> transaction = Transaction()
    >>> transaction.open
    True
    >>> transaction.commit_sync()
    >>> transaction.commit_started, transaction.open
    (True, False)
    """

    __slots__ = (
        "__weakref__",
        "_abort_error",
        "_alone",
        "_atomic",
        "_done",
        "_guards",
        "_lock",
        "_outcome",
        "_parts",
        "_repeatable_read",
        "_requested",
        "_started",
    )

    def __init__(self, atomic: bool = False, repeatable_read: bool = False) -> None:
        self._atomic = bool(atomic)
        self._repeatable_read = bool(repeatable_read)
        self._requested = False
        self._started = False
        self._abort_error: BaseException | None = None
        self._guards = 0
        self._alone: str | None = None
        self._outcome = Outcome()
        self._parts: dict[object, Participant] = {}
        # Reentrant, as the garbage collector may release a guard while this thread has it.
        self._lock = threading.RLock()
        self._done: Future[None] = pending()

    @property
    def atomic(self) -> bool:
        """True if others must never see the transaction half committed."""
        return self._atomic

    @property
    def repeatable_read(self) -> bool:
        """True if the commit fails when others have changed something that was read in the transaction."""
        return self._repeatable_read

    @property
    def open(self) -> bool:
        """True while changes can be added."""
        return not (self._started or self.aborted)

    @property
    def commit_started(self) -> bool:
        """True if committing has begun or is complete."""
        return self._started

    @property
    def aborted(self) -> bool:
        """True if the transaction was aborted."""
        return self._abort_error is not None

    @property
    def stored(self) -> tuple[str, ...]:
        """The values that were stored, or deleted, when the transaction was committed."""
        return tuple(self._outcome.stored)

    @property
    def not_stored(self) -> tuple[str, ...]:
        """The values that could not be stored when the transaction was committed, because something went wrong."""
        return tuple(self._outcome.not_stored)

    @property
    def future(self) -> Future[None]:
        """A future that is done when the transaction is committed or aborted.

        Waiting for the future commits the transaction; cancelling the future does not abort it.

        Examples
        --------
        >>> transaction = Transaction()
        >>> transaction.future.result(), transaction.commit_started
        (None, True)
        """
        return CommitFuture.about(self._done, self.commit_async)

    # Its end

    def abort(self) -> None:
        """Discard all changes; no effect if that was done before, or if committing has begun."""
        self._abort_for(TransactionError("CANCELLED: Transaction aborted"))

    def _abort_for(self, error: TransactionError) -> None:
        with self._lock:
            if self.open:
                self._abort_error = error
                if not self._guards:
                    self._abort()

    def _abort(self) -> None:
        """Forget all changes; the caller has the lock, and no work in the transaction goes on."""
        parts, self._parts = list(self._parts.values()), {}
        for part in parts:
            part.abort()
        assert self._abort_error is not None, "why it is aborted"
        fail(self._done, self._abort_error)

    def commit_async(self) -> Future[None]:
        """Begin to store all changes, unless that was done, or the transaction was aborted; return the future.

        Work that was begun in the transaction is waited for first.
        """
        parts = self._begin()
        if parts:
            submit(lambda: self._commit(parts))
        elif parts is not None:
            finish(self._done, None)
        return self.future

    def commit_sync(self) -> None:
        """Store all changes, and wait until that is done."""
        parts = self._begin()
        if parts is not None:
            self._commit(parts)
        self._done.result()

    def _begin(self) -> list[Participant] | None:
        """Return the participants if they are to be committed now, None if not, or not yet."""
        with self._lock:
            if not self.open:
                return None
            self._requested = True
            return None if self._guards else self._start()

    def _start(self) -> list[Participant]:
        self._started = True
        parts, self._parts = list(self._parts.values()), {}
        return parts

    def _commit(self, parts: list[Participant]) -> None:
        outcome = self._outcome
        # In atomic transactions, participants that either succeed or change nothing come last.
        parts.sort(key=lambda part: self._atomic and part.at_once)
        left = list(parts)
        try:
            for part in parts:
                part.prepare()
        except BaseException as error:
            outcome.fail([], error)
        while left and (outcome.error is None or (outcome.stored and not self._atomic)):
            part = left.pop(0)
            try:
                part.commit(outcome)
            except BaseException as error:
                outcome.fail(part.shown(), error)
        for part in left:
            outcome.not_stored += part.shown()
        for part in parts:
            part.abort()
        failure = outcome.with_note()
        if failure is None:
            finish(self._done, None)
        else:
            fail(self._done, failure)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.commit_sync()
        else:
            self.abort()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            await self.commit_async()
        else:
            self.abort()

    def __del__(self) -> None:
        # If `__init__` raised, there is nothing to abort.
        if hasattr(self, "_done") and self.open:
            self.abort()

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle a transaction")


# For participants, which the interface of a transaction does not show


def check_rebinding(transaction: Transaction | None) -> None:
    """Raise `TransactionError` if a store has this transaction, not committed, and is to get another."""
    if transaction is not None and not (transaction._done.done() and transaction._done.exception() is None):
        raise TransactionError("Cannot rebind transaction when existing transaction is uncommitted")


def check_open(transaction: Transaction) -> None:
    """Raise `TransactionError` if the transaction was aborted, or its commit has begun."""
    if transaction.aborted:
        raise TransactionError("Transaction not open (aborted)")
    if transaction._started:
        raise TransactionError("Transaction not open (commit already started)")


def participant(transaction: Transaction, key: object, make: Callable[[], P]) -> P:
    """Return the participant under this key; the first call makes it.

    Raise `TransactionError` when the transaction is not open.
    """
    with transaction._lock:
        check_open(transaction)
        if key not in transaction._parts:
            transaction._parts[key] = make()
        return transaction._parts[key]  # type: ignore[return-value]  # what was made under this key


def delaying(transaction: Transaction, work: Callable[[], T]) -> Callable[[], T]:
    """Return the work with a guard that delays the commit or abort until the work is done, or will not be done.

    The work raises `TransactionError` if the transaction is not open now.
    """
    with transaction._lock:
        guard = _Guard(transaction) if transaction.open else None
        transaction._guards += guard is not None

    def guarded() -> T:
        if guard is None:
            check_open(transaction)
            raise AssertionError("a transaction never opens again")
        try:
            return work()
        finally:
            guard.release()

    return guarded


def require_one_step(transaction: Transaction, step: str) -> None:
    """Declare that `step` stores something on its own; an atomic transaction may have only one such step.

    Raise `TransactionError` if there is another one; the transaction is then aborted.
    """
    if not transaction.atomic:
        return
    if transaction._alone in (None, step):
        transaction._alone = step
        return
    refuse(transaction, TransactionError(f"Cannot {transaction._alone} and {step} as single atomic transaction"))


def refuse(transaction: Transaction, error: TransactionError) -> None:
    """Abort the transaction, and raise the error."""
    transaction._abort_for(error)
    raise error


class CommitFuture(Future[None]):
    """The end of a transaction, which this future keeps alive, and commits when somebody waits.

    >>> done = pending()
    >>> future = CommitFuture.about(done, lambda: finish(done, None))
    >>> done.done(), future.result(), done.done()
    (False, None, True)
    """

    _commit: Callable[[], object]
    """Begins to commit; as a method of the transaction, it keeps the transaction alive."""
    _ended: Future[None]

    @classmethod
    def about(cls, ended: Future[None], commit: Callable[[], object]) -> Future[None]:
        """Return a new future: cancelling it does not affect the other futures of the transaction."""

        def committed() -> None:
            commit()
            ended.result()

        future = pending(committed, cls)
        future._commit, future._ended = commit, ended  # type: ignore[attr-defined]
        # Weakly, as the future has the transaction.
        ref = weakref.ref(future)

        def tell(ended: Future[None]) -> None:
            result, error = ref(), ended.exception()
            if result is not None and error is None:
                finish(result, None)
            elif result is not None and error is not None:
                fail(result, error)

        ended.add_done_callback(tell)
        return future

    def force(self) -> None:
        """Begin to commit the transaction."""
        if not self.done():
            self._commit()

    def add_done_callback(self, callback: Callable[[Future[None]], object]) -> None:
        if not self.done():
            # Whoever waits for a callback need not hold the future.
            self._ended.add_done_callback(lambda _, kept=self: None)  # type: ignore[misc]
        super().add_done_callback(callback)
