"""Progress of long operations: a bar on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Meter", "duration_text"]

_QUIET: Final = 2.0
"""Seconds before the first line without a terminal."""
_PAUSE: Final = 5.0
_TELLING: Final = 0.002
"""The fraction of the work after which its speed is meaningful."""


def duration_text(seconds: float) -> str:
    """Format a duration.

    Examples
    --------
    >>> duration_text(0.41), duration_text(75), duration_text(7265)
    ('0.4 s', '1:15', '2:01:05')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Meter:
    """A progress callback that, within a ``with`` block, shows the bytes done and their total on standard error.

    If something other than bytes is counted, `unit` names it.

    Examples
    --------
    >>> with Meter("copy") as meter:
    ...     meter(50, 100)
    >>> meter.done
    50
    """

    def __init__(self, what: str, *, going_on: bool = False, unit: str = "") -> None:
        self.done = 0
        self.seconds = 0.0
        self._what = what
        self._unit = unit
        self._before: int | None = None
        # Work done by an earlier run must not count for the speed.
        self._going_on = going_on
        self._started = self._said = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        self._started = self._said = time.monotonic()
        if sys.stderr.isatty():
            self._bar = _bar(self._unit)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = time.monotonic() - self._started
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` bytes are done."""
        if self._before is None and (done or not self._going_on):
            self._before = done if self._going_on else 0
            self._started = time.monotonic()
            if self._bar is not None:
                self._bar.add_task(self._what, total=total, completed=done)
        self.done = done
        if self._bar is not None and self._bar.tasks:
            self._bar.update(self._bar.task_ids[0], completed=done)
        elif self._bar is None:
            self._say(done, total)

    @property
    def came(self) -> int:
        """The bytes done by this run, without those of an earlier one."""
        return self.done - (self._before or 0)

    def _say(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._started < _QUIET or now - self._said < _PAUSE or not total:
            return
        self._said = now
        said = f"{self._what}: {100 * done / total:.0f} %, {self._ratio(done, total)}"
        # The first few steps say nothing about the remaining time.
        if self.came >= _TELLING * (total - (self._before or 0)):
            speed = max(1.0, self.came / (now - self._started))
            said += f", {self._text(int(speed))}/s, {duration_text((total - done) / speed)} left"
        print(said, file=sys.stderr, flush=True)

    def _ratio(self, done: int, total: int) -> str:
        return f"{done:,} of {self._text(total)}" if self._unit else f"{self._text(done)} of {self._text(total)}"

    def _text(self, count: int) -> str:
        from blizzarr.display.sizes import bytes_text

        return f"{count:,} {self._unit}" if self._unit else bytes_text(count)


def _bar(unit: str) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        *([MofNCompleteColumn(), TextColumn(unit)] if unit else [DownloadColumn(True), TransferSpeedColumn()]),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=Console(stderr=True),
    )
