"""``blizzarr diff``: compare two arrays or hierarchies."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from blizzarr.cli.cluster import SchedulerOption, ThreadsOption, executor_of
from blizzarr.cli.failing import failing
from blizzarr.cli.info import JsonOption
from blizzarr.cli.place import Place, complete_path, open_node
from blizzarr.cli.progress import Meter
from blizzarr.cli.terminal import print_lines

EXAMPLES = (
    "blizzarr diff data.zarr copy.zarr",
    "blizzarr diff data.zarr/brain old.zarr/brain --rtol 1e-6",
    "blizzarr diff --json data.zarr data.zip",
)

DIFFERENT = 1
TROUBLE = 2


def run(
    a: Annotated[str, typer.Argument(metavar="A", help="An array or a group.", autocompletion=complete_path)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.", autocompletion=complete_path)],
    rtol: Annotated[
        float, typer.Option(min=0, help="How far numbers may differ, as a fraction of the number in B.")
    ] = 0.0,
    atol: Annotated[float, typer.Option(min=0, help="How far numbers may differ in addition, absolutely.")] = 0.0,
    limit: Annotated[
        int, typer.Option(min=1, help="How many differences to show for each node, and how many elements.")
    ] = 10,
    threads: ThreadsOption = 0,
    scheduler: SchedulerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two arrays, or two groups with everything below them.

    Nodes, shapes, data types, fill values, attributes, dimension names and every element are compared, whatever the
    formats. Differences in how they are stored are only noted. Anything that cannot be read is reported, and the rest
    is still compared.

    The exit status is 0 if they are the same, 1 if they differ, 2 if something could not be compared.
    """
    from blizzarr import api
    from blizzarr.config import config

    places = Place.whole(a, "A"), Place.whole(b, "B")
    with failing(TROUBLE), executor_of(scheduler) as executor, config.set(threads=threads), Meter("diff") as meter:
        sides = map(open_node, places)
        comparison = api.diff(*sides, rtol=rtol, atol=atol, shown=limit, progress=meter, executor=executor)
    with failing(TROUBLE):
        if as_json:
            typer.echo(json.dumps(comparison.to_dict(), indent=2))
        else:
            from blizzarr.display.reports import comparison_lines

            print_lines(comparison_lines(comparison, limit))
    if not comparison.same:
        raise typer.Exit(TROUBLE if comparison.unreadable else DIFFERENT)
