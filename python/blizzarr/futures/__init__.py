"""Futures: results that are awaited, waited for, or passed to a callback."""

from blizzarr.futures.batch import Batch, add_work, shared_state
from blizzarr.futures.future import (
    Future,
    FutureLike,
    Promise,
    fail,
    failed,
    finish,
    is_asked,
    keep_alive,
    pending,
    resolved,
    run,
)
from blizzarr.futures.pool import POOL, Pace, at_once, do_all, nothing_left, submit
from blizzarr.futures.write_futures import ChangeFuture, WriteFutures, write_futures
