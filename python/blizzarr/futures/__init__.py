"""Futures: results that are awaited, waited for, or passed to a callback."""

from blizzarr.futures.batch import Batch, add_future, add_work, shared_state
from blizzarr.futures.future import (
    Future,
    FutureLike,
    Promise,
    fail,
    failed,
    finish,
    has_work,
    is_asked,
    keep_alive,
    pending,
    resolved,
    run,
    set_work,
)
from blizzarr.futures.pool import LOST, POOL, QUICK, Pace, at_once, do_all, nothing_left, submit
from blizzarr.futures.write_futures import ChangeFuture, WriteFutures, write_futures
