"""``blizzarr info``: shape, type, codecs, sizes and attributes of an array or group."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from blizzarr.cli.failing import as_options
from blizzarr.cli.place import PathArgument, Place, open_node
from blizzarr.cli.terminal import columns, facts_lines
from blizzarr.size_text import count_text

if TYPE_CHECKING:
    from blizzarr.model import ArrayMeta, GroupMeta

EXAMPLES = ("blizzarr info data.zarr/brain/t1", "blizzarr info --json data.zarr")

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

LOOKED_AT = 1_000_000
"""The most stored objects whose sizes are added up."""


def run(path: PathArgument, as_json: JsonOption = False) -> None:
    """Show shape, type, chunks, codecs, sizes and attributes."""
    place = Place.whole(path)
    node = open_node(place)
    from blizzarr.array import Array
    from blizzarr.display import facts
    from blizzarr.display.sizes import stored
    from blizzarr.formats import chunk_prefix
    from blizzarr.printable import printable

    meta = node.metadata
    size_stored = stored(node.store, chunk_prefix(node.path, meta), LOOKED_AT, over_network=True)
    if as_json:
        typer.echo(json.dumps({"store": str(node.store), **facts.as_document(node.path, meta, size_stored)}, indent=2))
        return
    kind = "Array" if isinstance(node, Array) else "Group"
    width = columns()
    name, where = printable(node.name), str(node.store)
    between = " " if width is None or len(f"{kind} {name} in {where}") <= width else "\n  "
    typer.echo(f"{kind} {typer.style(name, bold=True)}{between}in {where}")
    if isinstance(node, Array):
        rows = facts.rows(node.metadata, size_stored)
    else:
        facts_of = node.info
        if facts_of.arrays is None or facts_of.groups is None:
            rows = [("Members", "unknown, as the store cannot list them")]
        else:
            rows = [("Members", f"{count_text(facts_of.arrays, 'array')}, {count_text(facts_of.groups, 'group')}")]
            errors = node.unreadable() if facts_of.unreadable else {}
            rows += [("Unreadable", as_options(f"{name}: {error}")) for name, error in errors.items()]
        rows += [("Format", _format(meta))]
        rows += [("Consolidated", "yes")] if facts_of.consolidated else []
        rows += [("Stored size", facts.objects_text(size_stored))] if size_stored is not None else []
    rows += [(f"Attribute {name}", _short(value)) for name, value in meta.attributes.items()]
    for line in facts_lines([(printable(name), printable(value)) for name, value in rows], width):
        typer.echo(line)


def _format(meta: ArrayMeta | GroupMeta) -> str:
    from blizzarr.display.facts import format_text
    from blizzarr.formats import format_of, is_complete

    return format_text(format_of(meta).name) + (
        "" if is_complete(meta) else ", as nodes are below it; no document says that"
    )


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else text[:400] + " ..."
