"""``blizzarr check``: find and repair damage."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from blizzarr.cli.cluster import SchedulerOption, ThreadsOption, executor_of
from blizzarr.cli.failing import as_options, failing
from blizzarr.cli.info import JsonOption
from blizzarr.cli.place import PathArgument, Place
from blizzarr.cli.progress import Meter
from blizzarr.cli.terminal import print_lines

EXAMPLES = (
    "blizzarr check data.zarr",
    "blizzarr check --fast data.zarr/brain",
    "blizzarr check --json data.zarr",
    "blizzarr check --repair --dry-run data.zarr",
    "blizzarr check --record data.sha256 data.zarr",
    "blizzarr check --against data.sha256 data.zarr",
)

DAMAGED = 1
UNCHECKED = 2


def run(
    path: PathArgument,
    fast: Annotated[
        bool, typer.Option("--fast", help="Look only at sizes and at the indices of shards, not at every byte.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair what can be repaired, and say what was done.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="With --repair: only say what would be done.")
    ] = False,
    quarantine: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where damaged bytes are kept; by default beside the data, PATH.quarantine."),
    ] = None,
    quarantine_damaged: Annotated[
        bool,
        typer.Option(
            "--quarantine-damaged",
            help="With --repair: also move away chunks that cannot be saved; they then read as the fill value.",
        ),
    ] = False,
    record: Annotated[
        str | None, typer.Option(metavar="FILE", help="If nothing is damaged, write checksums of everything to FILE.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also compare everything with the checksums in FILE.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings and notes count as errors.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many findings of each kind to show for each node.")] = 10,
    threads: ThreadsOption = 0,
    scheduler: SchedulerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check an array, or a group with everything below it.

    Documents are compared with their specification, every chunk is decoded, and checksums are verified. Chunks outside
    the shape, stale consolidated metadata, leftovers of writers that died, and files that are not Zarr's are listed.

    Nothing is changed without --repair. With it, leftovers of dead writers are removed, stale consolidated metadata is
    made again, chunks outside the shape are moved away, and the intact inner chunks of damaged shards are saved.
    Whatever is replaced or moved is first copied to a directory beside the data.

    --record writes the SHA-256 of everything that is stored to a file, so that --against can find what has changed
    since, even where a flipped bit decodes to another value. With --fast, chunks are not decoded, but their checksums
    are still computed.

    The exit status is 1 if something is damaged and was not repaired without loss, and otherwise 2 if something could
    not be checked. Other warnings, and notes, count only with --strict.
    """
    place = Place.whole(path)
    given = {"--dry-run": dry_run, "--quarantine": quarantine, "--quarantine-damaged": quarantine_damaged}
    if not repair and (option := next((name for name, value in given.items() if value), None)):
        raise typer.BadParameter(f"{option} needs --repair, without which nothing is changed")
    if (record is not None) + (against is not None) + repair > 1:
        raise typer.BadParameter("expected one of --record, --against and --repair")
    from blizzarr import api
    from blizzarr.checking import Severity
    from blizzarr.config import config

    with (
        failing(UNCHECKED),
        executor_of(scheduler) as executor,
        config.set(threads=threads),
        Meter("check", unit="objects") as meter,
    ):
        report = api.check(
            place.target,
            place.path,
            fast=fast,
            repair=repair,
            dry_run=dry_run,
            quarantine=quarantine,
            quarantine_damaged=quarantine_damaged,
            record=record,
            against=against,
            progress=meter,
            executor=executor,
        )
    with failing(UNCHECKED):
        if as_json:
            typer.echo(json.dumps(report.to_dict(), indent=2))
        else:
            from blizzarr.display.reports import report_lines

            print_lines(report_lines(report, limit, as_options))
    damaged = report.count(Severity.ERROR) and not (report.repairs and report.repaired)
    if damaged or (strict and report.findings):
        raise typer.Exit(DAMAGED)
    if report.of_kind("not-supported"):
        raise typer.Exit(UNCHECKED)
