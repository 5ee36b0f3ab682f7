"""The command line as a whole: verbs, version, errors and warnings."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from blizzarr.cli import cat, check, consolidate, copy, create, diff, info, ls, rm, show, tree, upgrade
from blizzarr.cli.failing import failing, say
from blizzarr.interrupts import leave


def _without_type(parameters: list[Any]) -> list[Any]:
    """Leave the type out of the help of options that take no value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_type(super().get_params(ctx))


_ELSEWHERE = {"repair": "check --repair", "convert": "copy", "rechunk": "copy --chunks", "migrate": "upgrade"}
"""Verbs that are looked for, or that zarr-python has, and what does it here."""


class _Group(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in _ELSEWHERE:
            ctx.fail(f"No such command {args[0]!r}; use {_ELSEWHERE[args[0]]}")
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_type(super().get_params(ctx))


app = typer.Typer(
    name="blizzarr",
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    help="Zarr arrays and groups, from the shell.\n\n"
    "A PATH is a directory, a zip file or a URL, followed by the path of a node in it: "
    "[bold]data.zarr/brain/t1[/bold] or [bold]s3://bucket/data.zarr/brain/t1[/bold]. "
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


for _verb in (info, tree, ls, cat, show, create, copy, upgrade, consolidate, check, diff, rm):
    _paragraphs = [" ".join(paragraph.split()) for paragraph in (_verb.run.__doc__ or "").split("\n\n")]
    # Without the line breaks of the source, so that help is as wide as the terminal.
    _named = app.command(
        name=_verb.__name__.rpartition(".")[2],
        cls=_Command,
        # Each is a line of its own, to be copied.
        epilog="\n\n".join(("Examples:", *_verb.EXAMPLES)),
        help="\n\n".join(_paragraphs),
    )
    _named(_verb.run)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0, with 1 for errors, 2 for wrong usage, 130 after Ctrl-C.

    For `check` and `diff`, 1 is damage or a difference, and 2 any error.
    """
    # Without the line of code that issued it.
    warnings.showwarning = lambda message, *_, **__: say("yellow", message)
    if isinstance(sys.stdout, TextIOWrapper):
        # A report must not end at a name that the terminal cannot show; `cat` writes elements as bytes.
        sys.stdout.reconfigure(errors="backslashreplace")
    command = signal.getsignal(signal.SIGINT) is leave
    try:
        try:
            if command:
                sys.unraisablehook = _report_unraisable
                signal.signal(signal.SIGINT, signal.default_int_handler)
            with failing(1):
                app(None if arguments is None else list(arguments))
        finally:
            if command:
                signal.signal(signal.SIGINT, leave)
    except KeyboardInterrupt:
        if not command:
            raise
        leave()


def _report_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """End after a Ctrl-C that arrived in a finalizer or callback, where Python would report and forget it."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        leave()
    sys.__unraisablehook__(unraisable)
