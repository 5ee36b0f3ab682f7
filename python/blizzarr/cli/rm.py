"""``blizzarr rm``: remove an array or a group."""

from __future__ import annotations

from typing import Annotated

import typer

from blizzarr.cli.place import KeepForeignOption, PathArgument, Place, open_node

EXAMPLES = ("blizzarr rm data.zarr/brain/t1",)


def run(
    path: PathArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    keep_foreign: KeepForeignOption = False,
) -> None:
    """Remove an array, or a group with everything in it.

    Only files that belong to the array or group are removed. If other files lie among them, nothing is removed, unless
    --keep-foreign is given; those files stay in any case.
    """
    from blizzarr.array import Array
    from blizzarr.config import config
    from blizzarr.errors import MetadataError
    from blizzarr.formats import is_complete
    from blizzarr.hierarchy.remove import remove_node
    from blizzarr.size_text import count_text
    from blizzarr.stores import LocalStore, ZipStore, check_writable, resolve

    place = Place.whole(path)
    try:
        node = open_node(place, mode="r+")
        store, node_path = node.store, node.path
    except MetadataError:
        # What cannot be read can be removed.
        node = None
        store, node_path = resolve(place.target, "r+", place.path)
    if isinstance(store, ZipStore):
        raise typer.BadParameter(
            "expected no zip file, in which nothing can be removed; remove the file, or copy what is to stay",
            param_hint="PATH",
        )
    check_writable(store, node_path)
    if node is not None and not is_complete(node.metadata):
        raise typer.BadParameter(
            f"expected an array or a group, found {place.text!r}, a plain directory above some; name one of them",
            param_hint="PATH",
        )
    if node is None:
        what = f"{place.text}, whose document is damaged, and what is in it"
    elif isinstance(node, Array):
        what = f"the array {place.text} {node.shape}"
    else:
        count = node.nmembers(max_depth=None)
        what = f"the group {place.text}" + (f" and its {count_text(count, 'member')}" if count else "")
    if not yes and not typer.confirm(f"Remove {what}?"):
        typer.echo("Nothing was removed.", err=True)
        raise typer.Exit(1)
    with config.set(keep_foreign_files=keep_foreign):
        # Of a damaged node, nothing may be found that belongs to it.
        remove_node(store, node_path, implied=True, required=place.text if node is None else None)
    if not node_path and isinstance(store, LocalStore):
        root = store.root
        if not root.is_symlink() and not any(root.iterdir()):
            root.rmdir()
    typer.echo(f"Removed {what}.", err=True)
