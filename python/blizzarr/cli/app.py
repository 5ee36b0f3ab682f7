"""The command line as a whole: verbs, version, errors and warnings."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from blizzarr.cli import cat, check, copy, create, diff, info, ls, rm, show, tree, upgrade
from blizzarr.errors import BlizzarrError

__all__ = ["app", "main"]

app = typer.Typer(
    name="blizzarr",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    help="Zarr arrays and groups, from the shell.\n\n"
    "A PATH is a directory or a zip file, followed by the path of a node in it: [bold]data.zarr/brain/t1[/bold]. "
    "Where elements are read, a selection may follow; quote it because of the shell: "
    "[bold]'data.zarr/brain/t1\\[0:10, ::2]'[/bold].",
    epilog="With BLIZZARR_TRACEBACK=1 in the environment, errors show where in the code they came from.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"blizzarr {version('blizzarr')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


for _verb in (info, tree, ls, cat, show, create, copy, upgrade, check, diff, rm):
    _paragraphs = [" ".join(paragraph.split()) for paragraph in (_verb.run.__doc__ or "").split("\n\n")]
    # Without the line breaks of the source, so that help is as wide as the terminal.
    app.command(name=_verb.__name__.rpartition(".")[2], epilog=_verb.EXAMPLES, help="\n\n".join(_paragraphs))(_verb.run)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning of the library without the line of code that issued it."""
    _say("yellow", message)


def _say(colour: str, message: object) -> None:
    """Print a message; control characters in it, which names in data may have, are escaped."""
    from blizzarr.model.names import printable

    text = "\n".join(map(printable, str(message).split("\n")))
    typer.echo(f"{typer.style('blizzarr:', fg=colour, bold=True)} {text}", err=True)


def _as_options(text: str) -> str:
    """Replace advice about Python settings by the options of the command line."""
    text = text.replace("set config.keep_foreign_files=True", "say --keep-foreign")
    text = text.replace("shards=None", "--shards none")
    return re.sub(r"\b(overwrite|resume)=True", r"--\1", text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0, with 1 for errors, 2 for wrong usage, 130 after Ctrl-C."""
    warnings.showwarning = _show_warning
    try:
        app(None if arguments is None else list(arguments))
    except (BlizzarrError, OSError, ValueError, TypeError, MemoryError) as error:
        # Errors of the library are printed as they are; any other exception is a bug of ours and shows its traceback.
        if os.environ.get("BLIZZARR_TRACEBACK"):
            raise
        _say("red", _as_options(str(error)))
        sys.exit(1)
