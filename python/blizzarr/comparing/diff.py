"""Comparing two nodes and everything below them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from blizzarr.array import Array
from blizzarr.comparing.comparison import Comparison, Difference, Elements
from blizzarr.comparing.elements import TEMPORARY, compare_elements
from blizzarr.comparing.metadata import comparable_metadata, lost_in_one, metadata_differences
from blizzarr.distributing import Progress, Tally, Workers
from blizzarr.equality import EXACT, Tolerance, comparable
from blizzarr.errors import BlizzarrError
from blizzarr.group import Group
from blizzarr.group_members import as_stored, members_and_errors
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.stores.requests import each_array

Node: TypeAlias = Array | Group


def diff(
    a: Node,
    b: Node,
    tolerance: Tolerance = EXACT,
    shown: int = 5,
    progress: Progress | None = None,
    workers: Workers | None = None,
) -> Comparison:
    """Compare two nodes and everything below them; what cannot be read is reported, and the rest is compared.

    - `progress`: called with bytes, as the elements of A have them in memory.
    """
    began = time.monotonic()
    names = [f"{node.store}/{node.path}" if node.path else str(node.store) for node in (a, b)]
    made = Comparison(names[0], names[1])
    sides = _nodes(a), _nodes(b)
    known = [{name: node.metadata for name, node in side.items() if isinstance(node, Node)} for side in sides]
    metadata = comparable_metadata(*known)
    lost = lost_in_one(*known)
    pairs: list[tuple[str, Array, Array]] = []
    for name in sorted({*sides[0], *sides[1]}):
        path = f"/{name}"
        one, other = (side.get(name) for side in sides)
        failures = [(side, node) for side, node in (("A", one), ("B", other)) if isinstance(node, BlizzarrError)]
        for side, error in failures:
            made.add(Difference("unreadable", path, f"{side}: {error}", None, error.key))
        if failures:
            continue
        if one is None or other is None:
            there = one if one is not None else other
            made.add(Difference("only-a" if other is None else "only-b", path, _what(there)))
        elif isinstance(one, Array) and isinstance(other, Array):
            made.arrays += 1
            pairs.append((name, one, other))
        elif isinstance(one, Group) and isinstance(other, Group):
            made.groups += 1
            _add_metadata(made, name, metadata)
            if name in lost:
                message = f"those of OME-Zarr 0.4 in {lost[name]}, where readers of v3 expect 0.5; check --repair helps"
                made.add(Difference("attributes", path, message))
        else:
            made.add(Difference("node-type", path, f"{_what(one)} against {_what(other)}"))
    advance = Tally(progress, sum(one.nbytes for _, one, other in pairs if one.shape == other.shape))

    def compare(pair: tuple[str, Array, Array]) -> tuple[Elements, list[Difference]] | None:
        name, one, other = pair
        if one.shape != other.shape:
            return None
        if not comparable(one.dtype, other.dtype):
            advance(one.nbytes)
            return None
        return compare_elements(f"/{name}", one, other, tolerance, shown, advance, workers)

    def held_bytes(pair: tuple[str, Array, Array]) -> int:
        return TEMPORARY * (pair[1].nbytes + pair[2].nbytes)

    results = each_array((a.store, b.store) if workers is None else (), compare, pairs, held_bytes)
    for (name, _, _), result in zip(pairs, results, strict=True):
        _add_metadata(made, name, metadata)
        if result is None:
            continue
        elements, unreadable = result
        made.elements += elements.compared
        made.unreadable += unreadable
        if elements.different:
            made.add(Difference("elements", f"/{name}", str(elements), elements))
    made.seconds = time.monotonic() - began
    return made


def _add_metadata(made: Comparison, name: str, metadata: Sequence[Mapping[str, ArrayMeta | GroupMeta]]) -> None:
    for difference in metadata_differences(f"/{name}", *(side[name] for side in metadata)):
        made.add(difference)


def _nodes(node: Node) -> dict[str, Node | BlizzarrError]:
    """Return the node and everything below it by path, with the error in place of what cannot be read."""
    nodes: dict[str, Node | BlizzarrError] = {"": node}
    if isinstance(node, Group):
        members, errors = members_and_errors(as_stored(node), None)
        nodes.update(members)
        nodes.update(errors)
    return nodes


def _what(node: object) -> str:
    return f"an array {node.shape} {node.metadata.dtype}" if isinstance(node, Array) else "a group"
