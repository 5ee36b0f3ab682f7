"""What is around calls of stores of other libraries: exceptions become `StoreError`, and caches hear of changes.

The stores of the engine tell caches themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES
from typing import Final

from blizzarr import _native
from blizzarr.errors import BlizzarrError, StoreError
from blizzarr.interrupts import is_of_signal
from blizzarr.stores.credentials import hide_causes, raise_from, without_secrets
from blizzarr.stores.protocol import Store

_MARK: Final = "_blizzarr_of_signal"
"""The attribute of an exception by which the engine knows it, too."""


@contextmanager
def failures(direction: str, key: str, store: object) -> Iterator[None]:
    """Turn any exception into a `StoreError` that names the key, if there is one, and keeps errno and cause.

    Credentials in its text are left out, and so is a cause that would show them. What the handler of a signal raises
    stays as it is.

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
        if is_of_signal(error):
            raise
        number = error.errno if isinstance(error, OSError) else None
        if number is None and isinstance(error, PermissionError):
            number = EACCES  # s3fs and others raise it with a text only
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


@contextmanager
def changes(direction: str, key: str, store: Store, *, is_prefix: bool = False) -> Iterator[None]:
    """Do what `failures` does, around a change of a value or of all below a prefix; tell caches, also if it failed."""
    try:
        with failures(direction, key, store):
            yield
    finally:
        changed(store, key, is_prefix=is_prefix)


def changed(store: Store, name: str, *, is_prefix: bool = False) -> None:
    """Tell caches that a value, or all below a prefix, may have changed; call it afterwards, also if that failed."""
    if not _native.cache_exists():
        return
    locks = getattr(store, "locks", None)
    if isinstance(locks, _native.NativeStore):
        locks.changed(name, is_prefix)
        return
    # Places are told apart by the classes of stores, which import this module.
    from blizzarr.stores.place import engine_place_of

    tell = _native.cache_prefix_changed if is_prefix else _native.cache_value_changed
    tell(engine_place_of(store), name)


def mark_as_of_signal(raised: BaseException) -> None:
    """Mark an exception as that of the handler of a signal: it is no failure of the store whose call it ends."""
    setattr(raised, _MARK, True)
