"""``blizzarr consolidate``: the metadata of a whole hierarchy in one document."""

from __future__ import annotations

from typing import Annotated

import typer

from blizzarr.cli.place import Place, complete_path

EXAMPLES = ("blizzarr consolidate data.zarr",)


def run(path: Annotated[str, typer.Argument(metavar="PATH", help="A group.", autocompletion=complete_path)]) -> None:
    """Copy the metadata of everything in a group into the document of the group.

    Programs then open the group with one request, which matters on object stores. A change of any metadata in the group
    by blizzarr removes the copies, since they would be out of date: run this when you are done.
    """
    place = Place.whole(path)
    from blizzarr import api

    group = api.consolidate_metadata(place.target, path=place.path)
    from blizzarr.size_text import count_text

    members = count_text(len(group.metadata.consolidated or ()), "member")
    typer.echo(f"Consolidated the metadata of {members} of {place.text}.", err=True)
