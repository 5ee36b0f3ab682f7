"""Futures: results that are awaited, waited for, or passed to a callback."""

from blizzarr.futures.batch import Batch
from blizzarr.futures.future import Future, FutureLike, fail, failed, finish, pending, resolved, run
from blizzarr.futures.pool import Pace, at_once, deferred, do_all, submit
from blizzarr.futures.promise import Promise
from blizzarr.futures.write_futures import WriteFutures

__all__ = [
    "Batch",
    "Future",
    "FutureLike",
    "Pace",
    "Promise",
    "WriteFutures",
    "at_once",
    "deferred",
    "do_all",
    "fail",
    "failed",
    "finish",
    "pending",
    "resolved",
    "run",
    "submit",
]
