"""Output as wide as the terminal, and failures of commands: one message instead of a traceback, and an exit status."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING

import typer

from blizzarr.errors import BlizzarrError

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

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)
    for line in lines:
        console.print(line)


@contextmanager
def failing(status: int) -> Iterator[None]:
    """Print errors of the library as they are, and exit with this status; any other exception is a bug of ours."""
    try:
        yield
    except (BlizzarrError, OSError, ValueError, TypeError, MemoryError) as error:
        if os.environ.get("BLIZZARR_TRACEBACK"):
            raise
        # Python's own text begins with a number, as in "[Errno 2] No such file or directory: 'a/b'".
        if isinstance(error, OSError) and not isinstance(error, BlizzarrError) and error.filename is not None:
            say("red", f"{error.filename}: {error.strerror}")
        else:
            say("red", error)
        sys.exit(status)


def say(colour: str, message: object) -> None:
    """Print a message in the words of the shell; control characters, which names in data may have, are escaped."""
    from blizzarr.printable import printable

    text = "\n".join(map(printable, as_options(str(message)).split("\n")))
    # typer.echo leaves colours out of pipes, but knows nothing of https://no-color.org.
    name = "blizzarr:" if os.environ.get("NO_COLOR") else typer.style("blizzarr:", fg=colour, bold=True)
    typer.echo(f"{name} {text}", err=True)


def as_options(text: str) -> str:
    """Replace advice about arguments and settings of Python by commands and their options.

    >>> as_options("blizzarr.upgrade does; resume=True goes on; pass zarr_format='v2'; quarantine= is the place")
    'blizzarr upgrade does; --resume goes on; pass --format v2; --quarantine is the place'
    >>> as_options("expected a group, found an array; use open_array")
    'expected a group, found an array'
    """
    text = text.replace("set config.keep_foreign_files=True", "say --keep-foreign")
    text = text.replace("shards=None", "--shards none")
    # No command but those for groups expects one.
    text = text.removesuffix("; use open_array")
    text = re.sub(r"\bzarr_format='(\w+)'", r"--format \1", text)
    text = text.replace("blizzarr.create_group", "blizzarr create")
    text = re.sub(r"\bblizzarr\.(upgrade|check|copy|consolidate)\b", r"blizzarr \1", text)
    text = re.sub(r"\bquarantine=, or --quarantine|\bquarantine=(?= )", "--quarantine", text)
    return re.sub(
        r"\b(overwrite|resume|skip_damaged|repair|quarantine_damaged)=True",
        lambda found: f"--{found[1].replace('_', '-')}",
        text,
    )
