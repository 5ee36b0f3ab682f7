"""How a command fails: with one message instead of a traceback, and an exit status."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from blizzarr.errors import BlizzarrError

__all__ = ["failing", "say"]


@contextmanager
def failing(status: int) -> Iterator[None]:
    """Print errors of the library as they are, and exit with this status; any other exception is a bug of ours."""
    try:
        yield
    except (BlizzarrError, OSError, ValueError, TypeError, MemoryError) as error:
        if os.environ.get("BLIZZARR_TRACEBACK"):
            raise
        say("red", _as_options(str(error)))
        sys.exit(status)


def say(colour: str, message: object) -> None:
    """Print a message; control characters in it, which names in data may have, are escaped."""
    from blizzarr.printable import printable

    text = "\n".join(map(printable, str(message).split("\n")))
    typer.echo(f"{typer.style('blizzarr:', fg=colour, bold=True)} {text}", err=True)


def _as_options(text: str) -> str:
    """Replace advice about Python settings by the options of the command line."""
    text = text.replace("set config.keep_foreign_files=True", "say --keep-foreign")
    text = text.replace("shards=None", "--shards none")
    text = re.sub(r"\bzarr_format='(\w+)'", r"--format \1", text)
    return re.sub(r"\b(overwrite|resume|skip_damaged)=True", lambda found: f"--{found[1].replace('_', '-')}", text)
