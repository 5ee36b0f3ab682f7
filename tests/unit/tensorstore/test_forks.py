"""A forked child opens arrays while a thread that it does not have was doing so."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from blizzarr import tensorstore as ts
from blizzarr.fork import ForkedLock
from blizzarr.spec import context
from blizzarr.tensorstore import stored_place

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:This process"),
]


def forked(work: Callable[[], object]) -> int:
    """Return a forked child that does some work, with the status 1 if that raises an error."""
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def _in_a_child(work: Callable[[], object], lock: ForkedLock) -> int:
    """Run `work` in a child that is forked while another thread has the lock; return the signal that ended it."""
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock.lock:
            taken.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(60)
    _, status = os.waitpid(forked(work), 0)
    done.set()
    thread.join()
    return status


@pytest.mark.parametrize("lock", [context._MAKING, stored_place._SHARING])
def test_a_child_opens_though_another_thread_was_opening(lock: ForkedLock, tmp_path: Path) -> None:
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/"}
    shared = ts.Context()
    ts.open(spec, create=True, dtype="int8", shape=[3], context=shared).result().write([1, 2, 3]).result()

    def work() -> None:
        assert ts.open(spec, context=shared).result()[1].read().result() == 2
        # A resource that the context had not made before.
        assert ts.KvStore.open("memory://", context=shared).result().list().result() == []

    assert _in_a_child(work, lock) == 0
