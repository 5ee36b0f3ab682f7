"""Reads and writes that are begun before others have been waited for.

They are in flight as long as their futures live, whether they are done or not. Who begins one before asking for the
result of the last one wants both at the same time, so they are gathered, or another thread does each. A packed chunk
that two reads need is decoded into a pool, which goes with the last of their futures. What is in it is looked at again
for each read, so that each gets what was stored when it was asked for, or later.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

from blizzarr.caching import CachePool
from blizzarr.futures import (
    QUICK,
    Future,
    WriteFutures,
    at_once,
    is_asked,
    keep_alive,
    pending,
    resolved,
    write_futures,
)
from blizzarr.indexing.form import Form
from blizzarr.tensorstore.driver import KEPT_BYTES, Chunk, Driver, Elements, Shared, read_now
from blizzarr.tensorstore.gathering import WRITING, Gathered, GatheredWrite

_SMALL: Final = 1 << 20
"""The most bytes that are copied where the caller may change them."""
_REMEMBERED: Final = 1 << 14
"""The number of recorded chunks above which all of them are forgotten."""


class InFlight(dict[str, Any]):
    """The state that reads in flight share: empty as long as no two of them need the same chunk."""

    def __init__(self) -> None:
        super().__init__()
        self.needed: set[Chunk] = set()


_last: weakref.ref[InFlight] | None = None
_latest: weakref.ref[Future[Any]] | None = None
"""The read or write that was begun last."""


def _is_next(driver: Driver) -> bool:
    """Return whether everything that was begun before has been waited for."""
    latest = None if _latest is None else _latest()
    return (latest is None or is_asked(latest)) and driver.is_idle


def begin_read(driver: Driver, form: Form, order: str, chunks: set[Chunk]) -> Future[Elements]:
    """Return the future of a read that decodes these chunks."""
    global _last, _latest
    is_now = _is_next(driver) and driver.is_quick(form)
    shared: Shared | None = None
    state = None
    if chunks:
        state = None if _last is None else _last()
        if state is None:
            state = InFlight()
            _last = weakref.ref(state)
        if state or not chunks.isdisjoint(state.needed):
            if not state:
                state.update(pool=CachePool(KEPT_BYTES), recheck=True, arrays=WeakKeyDictionary())
            pool: Any = state["pool"].native
            # Of values that were stored just before, a look at the store does not tell whether they have changed: what
            # is done later need not decode each anew, as chunks will do that are decoded after this moment.
            is_now = is_now and not pool.hasty()
            shared = state if is_now else {**state, "since": pool.now()}
        if len(state.needed) > _REMEMBERED:
            state.needed.clear()
        state.needed |= chunks
    future: Future[Elements]
    if is_now:
        future = at_once(read_now, driver, form, order, shared)
    else:
        future = read_later(driver, form, order, shared)
        future.force()
    keep_alive(future, state)
    _latest = weakref.ref(future)
    return future


def read_later(driver: Driver, form: Form, order: str, shared: Shared | None) -> Future[Elements]:
    """Return the future of a read that `force` begins: together with others, unless these would wait long for it."""
    gathering = driver.gathering
    if gathering is not None and driver.is_quick(form):
        return gathering.future_of(Gathered, driver, (form, order, shared), driver.bytes_moved(form))
    return pending(partial(_read_in_turn, driver, form, order, shared))


def _read_in_turn(driver: Driver, form: Form, order: str, shared: Shared | None) -> Elements:
    driver.catch_up()
    return read_now(driver, form, order, shared)


def begin_write(write: partial[None], is_kept: bool) -> WriteFutures:
    """Return the futures of a write, whose arguments are the driver, the view and the elements.

    - `is_kept`: the memory of the elements will not change.
    """
    global _latest
    driver, form, elements = write.args
    gathering = driver.gathering
    if WRITING.seconds < QUICK and _is_next(driver) and driver.is_quick(form):
        done = at_once(WRITING.timed, write)
        _latest = weakref.ref(done)
        return write_futures(done, done)
    is_copied = elements.nbytes <= _SMALL and not is_kept
    if is_copied:
        # Whoever writes little may use the same memory again at once.
        elements = elements.copy()
    future = gathering.future_of(GatheredWrite, driver, (form, elements), driver.bytes_moved(form))
    future.force()
    _latest = weakref.ref(future)
    return write_futures(resolved(None) if is_copied else future, future)
