"""Opening the node of a PATH argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blizzarr.cli.failing import say
from blizzarr.cli.place import Place

if TYPE_CHECKING:
    from blizzarr.api.open import Mode
    from blizzarr.array import Array
    from blizzarr.errors import BlizzarrError
    from blizzarr.group import Group


def open_node(place: Place, mode: Mode = "r") -> Array | Group:
    """Open the array or group at a place; say so if it is a copy that was interrupted."""
    from blizzarr import api
    from blizzarr.copying.progress import Record

    node = api.open(place.target, path=place.path, mode=mode)
    if Record(node.store, node.path).read() is not None:
        say("yellow", f"{place.text} is an unfinished copy, in which elements are missing; copy --resume finishes it")
    return node


def open_array(place: Place) -> Array:
    """Open the array at a place; for a group, raise `NodeTypeError` with its members."""
    from blizzarr.array import Array
    from blizzarr.errors import NodeTypeError

    node = open_node(place)
    if isinstance(node, Array):
        return node
    names = list(node)
    inside = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    raise NodeTypeError(
        f"expected an array, found a group with {inside or 'nothing'} in it; add the path of an array in it",
        array=node.name,
        store=place.target,
    )


def members_of(
    group: Group, max_depth: int | None = 0
) -> tuple[list[tuple[str, Array | Group]], dict[str, BlizzarrError]]:
    """Return the members that can be read, and why the others cannot."""
    from blizzarr.group_members import members_and_errors

    return members_and_errors(group, max_depth)
