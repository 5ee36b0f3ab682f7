"""``blizzarr upgrade``: convert the metadata of a hierarchy to a newer format, in place."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from blizzarr.cli.cluster import SchedulerOption, executor_of
from blizzarr.cli.codecs import UpgradeOption
from blizzarr.cli.info import JsonOption
from blizzarr.cli.place import PathArgument, Place
from blizzarr.cli.progress import Meter, duration_text
from blizzarr.interrupts import INTERRUPTED

EXAMPLES = ("blizzarr upgrade old.zarr --dry-run", "blizzarr upgrade old.zarr")


def run(
    path: PathArgument,
    to: UpgradeOption = "v3",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", "-n", help="Only say what would happen; the exit status is 1 if it cannot be done."),
    ] = False,
    scheduler: SchedulerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a whole hierarchy the metadata of a newer format, in place.

    No chunk is decoded or changed: the new metadata is written beside the old, and chunks that need another key get it
    through a second link to the same file. Until the last step, the old metadata opens as before. If the upgrade is
    interrupted, by Ctrl-C or anything else, run the same command again to finish it.
    """
    place = Place.whole(path)
    if place.path:
        raise typer.BadParameter(
            f"expected the root of a hierarchy, which is {place.target!r}, found {place.path!r} in it",
            param_hint="PATH",
        )
    from blizzarr import api
    from blizzarr.printable import printable

    meter = Meter("upgrade", unit="steps")
    try:
        with executor_of(scheduler) as executor, meter:
            done = api.upgrade(place.target, to=to, dry_run=dry_run, progress=meter, executor=executor)
    except KeyboardInterrupt:
        typer.echo("\nInterrupted. The data open as before; the same command goes on.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps(done.to_dict(), indent=2))
    else:
        for line in str(done).split("\n"):
            typer.echo(printable(line))
        if done.done:
            typer.echo(f"Took {duration_text(meter.seconds)}.", err=True)
    if done.problems:
        raise typer.Exit(1)
