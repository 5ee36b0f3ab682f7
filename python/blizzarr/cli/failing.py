"""Failures of commands: one message instead of a traceback, and an exit status."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from blizzarr.errors import BlizzarrError


@contextmanager
def failing(status: int) -> Iterator[None]:
    """Print errors of the library as they are, and exit with this status; any other exception is a bug of ours."""
    try:
        yield
    except BrokenPipeError:
        # The reader of a report has seen enough; Click ends the command without a word.
        raise
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
