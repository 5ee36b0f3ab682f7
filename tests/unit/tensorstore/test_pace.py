"""Work that is done at once as long as it is known to be quick."""

from __future__ import annotations

import threading
import time

import pytest

from blizzarr.futures import Pace, at_once


def test_what_is_quick_is_done_by_the_caller() -> None:
    pace = Pace()
    future = pace.submit(threading.get_ident)
    assert future.done()
    assert future.result() == threading.get_ident()


def test_what_was_slow_is_handed_on_until_it_is_quick_again() -> None:
    pace = Pace()
    pace.submit(lambda: time.sleep(0.05)).result()
    assert pace.seconds > 1e-3
    gate = threading.Event()
    future = pace.submit(gate.wait)
    assert not future.done()
    gate.set()
    assert future.result()
    while pace.seconds > 1e-3:
        pace.submit(lambda: None).result()
    assert pace.submit(threading.get_ident).result() == threading.get_ident()


def test_errors_are_those_of_the_future() -> None:
    for submit in (Pace().submit, at_once):
        future = submit(lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            future.result()


def test_who_interrupts_is_heard() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Pace().submit(interrupt)
