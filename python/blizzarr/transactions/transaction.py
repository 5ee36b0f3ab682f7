"""What gathers changes until it is committed or aborted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from blizzarr.errors import SpecError
from blizzarr.futures import Future, submit

__all__ = ["Participant", "Transaction"]

T = TypeVar("T", bound="Participant")


class Participant(Protocol):
    """Changes of one place that a transaction has gathered."""

    def commit(self) -> None:
        """Store them."""

    def abort(self) -> None:
        """Forget them."""


class Transaction:
    """Changes that are kept in memory until all of them are stored, or none.

    What is read through a store with a transaction sees them; nobody else does. As a context manager it is committed
    at the end of the block, or aborted when that raises.

    Parameters
    ----------
    atomic
        Whether it must never be seen half committed; if that cannot be, committing fails and changes nothing.
    repeatable_read
        Whether committing fails if something that was read in it has been changed by others.

    Examples
    --------
    >>> transaction = Transaction()
    >>> transaction.open
    True
    >>> transaction.commit_sync()
    >>> transaction.commit_started, transaction.open
    (True, False)
    """

    __slots__ = ("__weakref__", "_aborted", "_atomic", "_future", "_lock", "_parts", "_repeatable_read", "_started")

    def __init__(self, atomic: bool = False, repeatable_read: bool = False) -> None:
        self._atomic = bool(atomic)
        self._repeatable_read = bool(repeatable_read)
        self._started = False
        self._aborted = False
        self._parts: dict[object, Participant] = {}
        self._lock = threading.RLock()
        self._future: Future[None] = Future.pending()

    @property
    def atomic(self) -> bool:
        """Whether it must never be seen half committed."""
        return self._atomic

    @property
    def repeatable_read(self) -> bool:
        """Whether what was read in it must not have been changed by others."""
        return self._repeatable_read

    @property
    def open(self) -> bool:
        """Whether changes can be added."""
        return not (self._started or self._aborted)

    @property
    def commit_started(self) -> bool:
        """Whether it is, or was, committed."""
        return self._started

    @property
    def aborted(self) -> bool:
        """Whether it was aborted, or committing has failed before anything was changed."""
        return self._aborted

    @property
    def future(self) -> Future[None]:
        """Done when it is committed or aborted."""
        return self._future

    def join(self, key: object, make: Callable[[], T]) -> T:
        """What takes part under this key, made by the first who asks.

        Raises
        ------
        SpecError
            When the transaction is not open.
        """
        with self._lock:
            self.check_open()
            if key not in self._parts:
                self._parts[key] = make()
            return self._parts[key]  # type: ignore[return-value]  # what was made under this key

    def check_open(self) -> None:
        """Refuse to be used any more.

        Raises
        ------
        SpecError
            When it was aborted, or its commit has begun.
        """
        if self._aborted:
            raise SpecError("Transaction not open (aborted)")
        if self._started:
            raise SpecError("Transaction not open (commit already started)")

    def abort(self) -> None:
        """Forget all changes; without effect when that was done, or committing has begun."""
        with self._lock:
            if not self.open:
                return
            self._aborted = True
            parts = list(self._parts.values())
            self._parts = {}
        for part in parts:
            part.abort()
        self._future.fail(SpecError("CANCELLED: Transaction aborted"))

    def commit_async(self) -> Future[None]:
        """Begin to store all changes, unless that was done or it was aborted; the future tells when it is done."""
        parts = self._begin()
        if parts:
            submit(lambda: self._commit(parts))
        elif parts is not None:
            self._future.finish(None)
        return self._future

    def commit_sync(self) -> None:
        """Store all changes."""
        parts = self._begin()
        if parts is not None:
            self._commit(parts)
        self._future.result()

    def _begin(self) -> list[Participant] | None:
        with self._lock:
            if not self.open:
                return None
            self._started = True
            parts = list(self._parts.values())
            self._parts = {}
        return parts

    def _commit(self, parts: list[Participant]) -> None:
        try:
            if self._atomic and len(parts) > 1:
                raise SpecError("Cannot commit changes of several arrays or stores as a single atomic transaction")
            for part in parts:
                part.commit()
        except BaseException as error:
            self._aborted = True
            for part in parts:
                part.abort()
            self._future.fail(error)
        else:
            self._future.finish(None)

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
        if self.open:
            self.abort()

    def __reduce__(self) -> Any:
        raise TypeError("a transaction cannot be pickled")
