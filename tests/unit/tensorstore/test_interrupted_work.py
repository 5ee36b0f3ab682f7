"""Interrupts that come between the steps by which a thread takes work, does it, and ends its future."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from blizzarr.futures import pending, run


def test_an_interrupt_at_any_step_of_the_work_ends_the_future() -> None:
    """Whoever has taken the work ends the future: somebody may wait for it without a limit."""
    for step in range(1, 40):
        future, left = pending(lambda: 5), iter(range(step))

        def interrupt(frame: Any, event: str, arg: Any, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                sys.setprofile(None)
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):
            sys.setprofile(interrupt)
            run(future)
            sys.setprofile(None)
        assert future.done() or future._work
    assert future.result() == 5
