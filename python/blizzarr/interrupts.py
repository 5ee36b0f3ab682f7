"""Exceptions from the handlers of signals, and Ctrl-C while the command line starts and ends.

When it starts and ends there is nothing to undo, so the process just ends. Python would print a traceback, or a warning
about an exception that nobody can catch. This is set up before anything else is imported, as imports are most of what a
short command does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import partial
from typing import Any, Final

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C."""


def leave(*_: Any) -> None:
    """End the process; a signal handler."""
    os._exit(INTERRUPTED)


def leave_at_once() -> None:
    """Let Ctrl-C end the process at once, if this is the command ``blizzarr``."""
    name = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    if name == "-m" and name in sys.orig_argv[:-1]:
        # Python looks for the module still, and for that imports its package.
        name = sys.orig_argv[sys.orig_argv.index(name) + 1]
    if (
        name.removesuffix(".exe") == "blizzarr"
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, leave)


def is_of_signal(error: BaseException) -> bool:
    """Return whether the handler of a signal raised an exception: it tells nothing about the code that was running."""
    codes = {_code(signal.getsignal(number)) for number in signal.valid_signals()}
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code not in codes:
        step = step.tb_next
    return step is not None


def _code(handler: Any) -> Any:
    """Return the code of a handler; None of a C function, and where there is no handler."""
    while isinstance(handler, partial):
        handler = handler.func
    call = getattr(handler, "__call__", None)  # noqa: B004  # of the object, not of its class
    return getattr(handler, "__code__", None) or getattr(call, "__code__", None)
