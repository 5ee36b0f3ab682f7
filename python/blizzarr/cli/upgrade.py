"""``blizzarr upgrade``: a hierarchy of an older format becomes one of a newer format, in place."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from blizzarr.cli.codecs import UpgradeOption
from blizzarr.cli.place import PathArgument, Place
from blizzarr.cli.progress import Meter, duration_text

__all__ = ["EXAMPLES", "run"]

EXAMPLES = "Examples:  blizzarr upgrade old.zarr --dry-run   |   blizzarr upgrade old.zarr"

INTERRUPTED = 130
"""What shells make of a program that Ctrl-C ended."""


def run(
    path: PathArgument,
    to: UpgradeOption = "v3",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Only say what would happen; exit status 1 if it cannot.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False,
) -> None:
    """Give a whole hierarchy the metadata of a newer format, in place.

    No chunk is decoded or changed: metadata are written beside the old ones, and chunks that need another key get it by
    a second link to the same file. Until the last step the old metadata open as ever. After Ctrl-C, or anything else
    that stopped it, the same command goes on.
    """
    place = Place.parse(path)
    if place.path:
        raise typer.BadParameter(
            f"expected the root of a hierarchy, which is {place.target!r}, found {place.path!r} in it",
            param_hint="PATH",
        )
    from blizzarr import api
    from blizzarr.model.names import printable

    meter = Meter("upgrade", unit="steps")
    try:
        with meter:
            done = api.upgrade(place.target, to=to, dry_run=dry_run, progress=meter)
    except KeyboardInterrupt:
        typer.echo("\nInterrupted. The data open as before; the same command goes on.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps(done.to_dict(), indent=2))
    else:
        for line in str(done).split("\n"):
            typer.echo(printable(line), err=not dry_run)
        if done.done:
            typer.echo(f"Took {duration_text(meter.seconds)}.", err=True)
    if done.problems:
        raise typer.Exit(1)
