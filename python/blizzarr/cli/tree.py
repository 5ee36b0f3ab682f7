"""``blizzarr tree``: everything below a group."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blizzarr.cli.info import JsonOption
from blizzarr.cli.place import PathArgument, Place, open_node
from blizzarr.cli.terminal import columns

if TYPE_CHECKING:
    from blizzarr.group import Group

EXAMPLES = ("blizzarr tree data.zarr", "blizzarr tree --depth 1 data.zarr", "blizzarr tree --json data.zarr")


def run(
    path: PathArgument,
    depth: Annotated[int | None, typer.Option(min=1, help="How many levels to show; all by default.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the hierarchy, one line for each array and group."""
    node = open_node(Place.whole(path))
    from blizzarr.array import Array
    from blizzarr.printable import printable

    if isinstance(node, Array):
        typer.echo(json.dumps(_leaf(node)) if as_json else f"{printable(node.name)} {node.shape} {node.metadata.dtype}")
    elif as_json:
        typer.echo(json.dumps(_nested(node, depth), indent=2))
    else:
        typer.echo(node.tree(depth).text(columns()))


def _leaf(array: Any) -> dict[str, Any]:
    return {
        "name": array.basename,
        "path": array.name,
        "node_type": "array",
        "shape": list(array.shape),
        "data_type": array.metadata.dtype.to_json(),
    }


def _nested(group: Group, depth: int | None) -> dict[str, Any]:
    from blizzarr.array import Array
    from blizzarr.group_members import members_and_errors

    levels = None if depth is None else depth - 1
    root: dict[str, Any] = {"name": group.basename, "path": group.name, "node_type": "group", "children": []}
    groups = {"": root}
    members, unreadable = members_and_errors(group, levels)
    for name, member in members:
        if isinstance(member, Array):
            json_node = _leaf(member)
        else:
            json_node = {"name": member.basename, "path": member.name, "node_type": "group", "children": []}
            groups[name] = json_node
        groups[name.rpartition("/")[0]]["children"].append(json_node)
    for name, error in unreadable.items():
        parent = groups[name.rpartition("/")[0]]
        parent["children"].append({"name": name.rpartition("/")[2], "node_type": None, "error": str(error)})
    return root
