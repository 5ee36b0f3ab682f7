"""Turning exceptions of other libraries into `StoreError`, with the place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from blizzarr.errors import BlizzarrError, StoreError
from blizzarr.stores.credentials import hide_causes, raise_from, without_secrets

_MARK: Final = "_blizzarr_of_signal"
"""The attribute of an exception by which the engine knows it, too."""


@contextmanager
def failures(direction: str, key: str, store: object) -> Iterator[None]:
    """Turn any exception into a `StoreError` that names the key, if there is one, and keeps errno and cause.

    Credentials in its text are left out, and so is a cause that would show them.

    Raise `StoreError` if the block raises an exception other than `BlizzarrError` or `MemoryError`.

    >>> with failures("read", "a/b", "shelf"):
    ...     raise RuntimeError("the shelf fell down")
    Traceback (most recent call last):
    ...
    blizzarr.errors.StoreError: cannot read key a/b in shelf: RuntimeError: the shelf fell down
    """
    try:
        yield
    except MemoryError:
        raise
    except BlizzarrError as error:
        hide_causes(error, getattr(store, "_credentials", ()))
        raise
    except Exception as error:
        number = error.errno if isinstance(error, OSError) else None
        if isinstance(error, OSError):
            reason = error.strerror or str(error) or type(error).__name__
        else:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        # What follows is for the developers of obstore, on which stores of other libraries stand.
        reason = str(reason).partition("\n\nDebug source")[0]
        known = getattr(store, "_credentials", ())
        fields = {"key": key or None, "store": str(store), "direction": direction}
        reason = without_secrets(reason, known)
        raise_from(error, StoreError(reason, errno=number, **fields), known)


def mark_as_of_signal(raised: BaseException) -> None:
    """Mark an exception as that of the handler of a signal: it is no failure of the store whose call it ends."""
    setattr(raised, _MARK, True)
