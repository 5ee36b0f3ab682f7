"""Small writes to one array that would wait for each other: they are done together, each stored value replaced once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import groupby
from threading import Lock
from typing import Any

import numpy.typing as npt

from blizzarr.indexing.selection import Axes
from blizzarr.zarr_pipeline.threads import begin, outcome


@dataclass(frozen=True, slots=True)
class _Write:
    handle: Any
    source: npt.NDArray[Any]
    axes: Axes
    write_empty: bool
    done: Future[None] = field(default_factory=Future)

    def run(self) -> None:
        self.handle.write(self.source, self.axes, self.write_empty)


class Gathered:
    """Writes to one array that are done in the order in which they come, by one thread at a time.

    What comes while others are being written is gathered, and written together next.

    - `timed`: calls what it is given.
    """

    def __init__(self, timed: Callable[[Callable[[], None]], None]) -> None:
        self._timed = timed
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._waiting: list[_Write] = []
        self._is_busy = False

    async def write(self, handle: Any, source: npt.NDArray[Any], axes: Axes, write_empty: bool) -> bool:
        """Write the elements of `source` to where the axes point; return True."""
        write = _Write(handle, source, axes, write_empty)
        if self._process != os.getpid():
            # The thread that was writing does not exist in a forked child.
            self._begin()
        with self._lock:
            if not self._is_busy:
                begin(self._work)
                self._is_busy = True
            self._waiting.append(write)
        await outcome(write.done)
        return True

    def _work(self) -> None:
        while True:
            with self._lock:
                writes, self._waiting = self._waiting, []
                if not writes:
                    self._is_busy = False
                    return
            # Whoever was cancelled meanwhile has what is to be written no longer.
            wanted = [write for write in writes if write.done.set_running_or_notify_cancel()]
            for _, alike in groupby(wanted, lambda write: (id(write.handle), write.write_empty)):
                self._write_together([*alike])

    def _write_together(self, writes: Sequence[_Write]) -> None:
        first = writes[0]
        try:
            if len(writes) == 1:
                self._timed(first.run)
            else:
                parts = [(write.source, write.axes) for write in writes]
                self._timed(lambda: first.handle.write_parts(parts, first.write_empty))
        except BaseException as error:
            if len(writes) == 1:
                first.done.set_exception(error)
                return
            # Each of them has its own result, or its own error.
            for write in writes:
                self._write_together([write])
        else:
            for write in writes:
                write.done.set_result(None)
