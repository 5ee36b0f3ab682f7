"""Output as wide as the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


def columns() -> int | None:
    """Return the width of the terminal; None if standard output is none, where programs read whole lines."""
    # There is no sys.stdout if the shell has closed it: `>&-`.
    return shutil.get_terminal_size().columns if sys.stdout and sys.stdout.isatty() else None


def facts_lines(rows: Sequence[tuple[str, str]], width: int | None) -> Iterator[str]:
    """Yield the lines of a table of names and values, which go on below themselves where they do not fit.

    Names that would take half of the width have a line to themselves.

    >>> rows = [("Shape", "4"), ("Codecs", "bytes, gzip, crc32c"), ("Attribute of a long name", "1")]
    >>> for line in facts_lines(rows, 24):
    ...     print(line)
      Shape   4
      Codecs  bytes, gzip,
              crc32c
      Attribute of a long name
              1
    """
    limit = None if width is None else width // 2
    wide = max((len(name) for name, _ in rows if limit is None or len(name) <= limit), default=0)
    for name, value in rows:
        lines = [value] if width is None else wrap(value, max(1, width - wide - 4), break_on_hyphens=False) or [""]
        if len(name) > wide:
            yield f"  {name}"
            name = ""
        for line in lines:
            yield f"  {name:<{wide}}  {line}"
            name = ""


def print_lines(lines: Iterable[RenderableType]) -> None:
    """Print a report; output to a file or a program is not wrapped."""
    from rich.console import Console

    console = Console(highlight=False, width=10_000 if columns() is None else None)
    for line in lines:
        console.print(line)
