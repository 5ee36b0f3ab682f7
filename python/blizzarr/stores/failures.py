"""Turning exceptions of other libraries into `StoreError`, with the place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from blizzarr.errors import BlizzarrError, StoreError

__all__ = ["failures"]


@contextmanager
def failures(direction: str, key: str, store: object) -> Iterator[None]:
    """Turn any exception into a `StoreError` that names the key, if there is one, and keeps errno and cause.

    Raises
    ------
    StoreError
        If the block raises an exception other than `BlizzarrError` or `MemoryError`.

    Examples
    --------
    >>> with failures("read", "a/b", "shelf"):
    ...     raise RuntimeError("the shelf fell down")
    Traceback (most recent call last):
    ...
    blizzarr.errors.StoreError: cannot read key a/b in shelf: RuntimeError: the shelf fell down
    """
    try:
        yield
    except (BlizzarrError, MemoryError):
        raise
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise StoreError(reason, key=key or None, store=str(store), direction=direction, errno=error.errno) from error
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise StoreError(reason, key=key or None, store=str(store), direction=direction) from error
