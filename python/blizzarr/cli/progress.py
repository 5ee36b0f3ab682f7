"""Progress of long operations: a bar on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import sys
import time
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final, Self

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

_QUIET: Final = 2.0
"""Seconds before the first line without a terminal."""
_PAUSE: Final = 5.0
_TELLING: Final = 0.002
"""The fraction of steps, of which some take longer than others, after which their speed is meaningful."""
_TICK: Final = 0.25
"""Seconds between two looks at what the engine has done."""


def duration_text(seconds: float) -> str:
    """Format a duration.

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

    If something other than bytes is counted, `unit` names it. With `is_copy`, it also moves between two calls, of which
    each says that a part has been read and then written: a byte is half done when the engine has decoded it, and done
    when the engine has encoded it.
    """

    def __init__(self, what: str, *, going_on: bool = False, unit: str = "", is_copy: bool = False) -> None:
        self.done = 0
        self.seconds = 0.0
        self._what = what
        self._unit = unit
        self._before: int | None = None
        # Work done by an earlier run must not count for the speed.
        self._going_on = going_on
        self._started = self._printed = time.monotonic()
        self._bar: Progress | None = None
        self._total = 0
        self._shown = 0
        self._before_part: int | None = None
        self._lock = Lock()
        self._over = Event()
        self._watcher = Thread(target=self._watch, daemon=True) if is_copy else None

    def __enter__(self) -> Self:
        self._started = self._printed = time.monotonic()
        # There is no sys.stderr if the shell has closed it: `2>&-`.
        if sys.stderr and sys.stderr.isatty():
            self._bar = _bar(self._unit)
            self._bar.start()
        if self._watcher is not None:
            self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self._started
        self._over.set()
        if self._watcher is not None:
            self._watcher.join()
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` bytes are done."""
        if self._before is None and (self._total or not self._going_on):
            self._before = done if self._going_on else 0
            self._started = time.monotonic()
            if self._bar is not None:
                self._bar.add_task(self._what, total=total, completed=done)
        with self._lock:
            self.done, self._total = done, total
            if self._watcher is not None:
                self._before_part = _so_far()
            self._show(done)

    def _watch(self) -> None:
        """Show what has been done of the part that is being copied."""
        while not self._over.wait(_TICK):
            with self._lock:
                if self._before_part is not None:
                    halves = _so_far() - self._before_part
                    self._show(min(self._total, self.done + halves // 2))

    def _show(self, done: int) -> None:
        # What was estimated of a part may have been too much.
        self._shown = done = max(done, self._shown)
        if self._bar is not None and self._bar.tasks:
            self._bar.update(self._bar.task_ids[0], completed=done)
        elif self._bar is None:
            self._print(done, self._total)

    @property
    def done_by_this_run(self) -> int:
        """The bytes done by this run, without those of an earlier one."""
        return self.done - (self._before or 0)

    def _print(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._started < _QUIET or now - self._printed < _PAUSE or not total:
            return
        self._printed = now
        text = f"{self._what}: {100 * done / total:.0f} %, {self._ratio(done, total)}"
        new = done - (self._before or 0)
        # The first few steps say nothing about the remaining time.
        if new > (_TELLING * (total - (self._before or 0)) if self._unit else 0):
            speed = max(1.0, new / (now - self._started))
            text += f", {self._text(int(speed))}/s, {duration_text((total - done) / speed)} left"
        typer.echo(text, err=True)

    def _ratio(self, done: int, total: int) -> str:
        return f"{done:,} of {self._text(total)}" if self._unit else f"{self._text(done)} of {self._text(total)}"

    def _text(self, count: int) -> str:
        from blizzarr.size_text import bytes_text

        return f"{count:,} {self._unit}" if self._unit else bytes_text(count)


def _so_far() -> int:
    """Return the bytes that the engine has decoded, and those that it has encoded, in one sum."""
    from blizzarr._native import progress  # not all commands need it

    done = progress()
    return done["decoded"] + done["encoded"]


def _bar(unit: str) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    from blizzarr.size_text import bytes_text

    class Speed(ProgressColumn):
        """The speed in the units of the other columns, which rich's own column does not have."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{bytes_text(int(speed))}/s", "progress.data.speed")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        *([MofNCompleteColumn(), TextColumn(unit)] if unit else [DownloadColumn(True), Speed()]),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=Console(stderr=True),
    )
