"""``blizzarr ls``: the members of a group."""

from __future__ import annotations

import json
import warnings
from typing import Annotated

import typer

from blizzarr.cli.info import JsonOption
from blizzarr.cli.place import PathArgument, Place, open_node

EXAMPLES = ("blizzarr ls data.zarr", "blizzarr ls -l data.zarr/brain")


def run(
    path: PathArgument = ".",
    long: Annotated[bool, typer.Option("-l", "--long", help="Also show type, shape, chunks and stored size.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the arrays and groups that are directly in a group."""
    with warnings.catch_warnings():
        # Whoever looks around comes through directories that are not meant to be groups; `info` says it.
        warnings.filterwarnings("ignore", "no document says")
        node = open_node(Place.whole(path))
    from blizzarr.array import Array
    from blizzarr.display import facts
    from blizzarr.display.sizes import Stored, grid_text, shape_text, stored
    from blizzarr.formats import chunk_prefix
    from blizzarr.group import Group
    from blizzarr.group_members import members_and_errors
    from blizzarr.model import ArrayMeta
    from blizzarr.printable import printable
    from blizzarr.size_text import bytes_text

    def size_of(child: Array | Group) -> Stored | None:
        return stored(child.store, chunk_prefix(child.path, child.metadata), over_network=True)

    members, bad = (
        ([(node.basename or node.name, node)], {}) if isinstance(node, Array) else members_and_errors(node, 0)
    )
    if as_json:
        listed = [
            {"name": name, **facts.as_document(child.path, child.metadata, size_of(child))} for name, child in members
        ]
        listed += [{"name": name, "error": str(error)} for name, error in bad.items()]
        typer.echo(json.dumps(listed, indent=2))
        return
    lines: list[tuple[str, ...]] = []
    for name, child in members:
        meta = child.metadata
        if not isinstance(meta, ArrayMeta):
            lines.append((f"{name}/", "group", "", "", ""))
            continue
        size_stored = size_of(child) if long else None
        size = "" if size_stored is None else ("" if size_stored.complete else "> ") + bytes_text(size_stored.bytes)
        chunks = grid_text(meta.read_grid)
        if meta.codecs.is_sharded:
            chunks += f" in shards of {grid_text(meta.chunk_grid)}"
        lines.append((name, str(meta.dtype), shape_text(meta.shape), chunks, size))
    lines += [(name, "unreadable", error.line) for name, error in bad.items()]
    lines = [tuple(map(printable, line)) for line in lines]
    if not long:
        for line in lines:
            typer.echo(line[0])
    elif lines:
        lines.insert(0, ("name", "type", "shape", "chunks", "stored"))
        # The reasons of errors are long, and must not widen the columns.
        wide = [max(len(line[column]) for line in lines if column < 2 or len(line) == 5) for column in range(5)]
        for line in lines:
            typer.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(line, wide, strict=False)).rstrip())
