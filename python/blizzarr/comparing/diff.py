"""Comparing two nodes and everything below them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from blizzarr.array import Array
from blizzarr.comparing.comparison import Comparison, Difference, Elements, element_text
from blizzarr.comparing.elements import TEMPORARY, compare_elements
from blizzarr.distributing import Progress, Tally, Workers
from blizzarr.dtypes import DataType
from blizzarr.equality import EXACT, Tolerance, comparable
from blizzarr.errors import BlizzarrError
from blizzarr.formats.dimension_names import ATTRIBUTE, names_in
from blizzarr.formats.masked_value import follows_xarray, masked_value, masks_fill, masks_same, without_masked
from blizzarr.formats.ome import axis_names, one_version, with_new_ome
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


# Comparing the metadata of two nodes: their meaning as differences, their layout as notes.

Nodes: TypeAlias = Mapping[str, ArrayMeta | GroupMeta]


def comparable_metadata(a: Nodes, b: Nodes) -> tuple[Nodes, Nodes]:
    """Return the metadata of two hierarchies by path; where the formats differ, OME-Zarr has one version in both."""
    paths = [path for path in a.keys() & b.keys() if masks_fill(a[path].format) != masks_fill(b[path].format)]
    if not paths:
        return a, b
    made = dict(a), dict(b)
    for nodes, one, other in ((a, *made), (b, *made[::-1])):
        axes, attributes = axis_names(nodes), one_version(nodes)
        for path in paths:
            node = one[path]
            if path in attributes:
                one[path] = node.with_attributes(attributes[path])
            elif isinstance(node, ArrayMeta) and not masks_fill(node.format) and path in axes:
                there = other[path]
                if (
                    isinstance(there, ArrayMeta)
                    and there.dimension_names is None
                    and node.dimension_names == axes[path]
                ):
                    # Only the axes of the image tell them there.
                    one[path] = replace(node, dimension_names=None)
    return made


def lost_in_one(a: Nodes, b: Nodes) -> dict[str, str]:
    """Return the side, A or B, of each node with metadata of OME-Zarr that readers find only on the other side."""
    return {
        path: name
        for name, nodes, others in (("A", a, b), ("B", b, a))
        for path in with_new_ome(nodes)
        if path in others and masks_fill(others[path].format)
    }


def metadata_differences(path: str, a: ArrayMeta | GroupMeta, b: ArrayMeta | GroupMeta) -> Iterator[Difference]:
    """Yield the differences between the metadata of two arrays or two groups."""
    if isinstance(a, ArrayMeta) and isinstance(b, ArrayMeta):
        # Names that are all null say what no names do.
        unnamed = (None,) * len(a.shape)
        if a.shape != b.shape:
            yield Difference("shape", path, f"{a.shape} against {b.shape}; elements were not compared")
        if _values(a.dtype) != _values(b.dtype):
            yield Difference("data-type", path, f"{a.dtype} against {b.dtype}")
        else:
            yield from _fill_values(path, a, b)
        if (a.dimension_names or unnamed) != (b.dimension_names or unnamed):
            yield Difference("dimension-names", path, f"{_names(a)} against {_names(b)}")
    yield from _attributes(path, a, b)
    if a.format != b.format:
        yield Difference("format", path, f"{a.format} against {b.format}")
    if isinstance(a, ArrayMeta) and isinstance(b, ArrayMeta):
        yield from _layouts(path, a, b)


def _values(dtype: DataType) -> DataType:
    """Return the type of the values: how the fields of a struct order their bytes is a matter of storage."""
    return dtype if dtype.is_native else DataType.parse(dtype.numpy)


def _fill_values(path: str, a: ArrayMeta, b: ArrayMeta) -> Iterator[Difference]:
    """Compare the fill values; if the formats differ in the place of what xarray masks, that instead."""
    if _same_convention(a, b):
        values, what = [None if side.fill_undefined else side.fill_value for side in (a, b)], ""
    elif follows_xarray(a) or follows_xarray(b):
        if masks_same(a, b):
            return
        values, what = [masked_value(side) for side in (a, b)], "that xarray masks: "
    else:
        # Null is written as what it reads as where the format has no null.
        values, what = [a.fill_value, b.fill_value], ""
    dtype = _values(a.dtype)
    identities = [None if value is None else dtype.fill_identity(value) for value in values]
    if identities[0] != identities[1]:
        yield Difference("fill-value", path, f"{what}{element_text(values[0])} against {element_text(values[1])}")


def _same_convention(a: ArrayMeta | GroupMeta, b: ArrayMeta | GroupMeta) -> bool:
    """Return whether xarray finds the value that it masks in the same place in both."""
    return masks_fill(a.format) == masks_fill(b.format)


def _names(meta: ArrayMeta) -> str:
    names = meta.dimension_names
    return "none" if names is None else f"({', '.join(name if name is not None else 'none' for name in names)})"


def _attributes(path: str, a: ArrayMeta | GroupMeta, b: ArrayMeta | GroupMeta) -> Iterator[Difference]:
    one, other = _own_attributes(a), _own_attributes(b)
    if not _same_convention(a, b) and isinstance(a, ArrayMeta) and follows_xarray(a):
        # What it says is compared with the fill values.
        one, other = without_masked(one), without_masked(other)
    both = sorted(one.keys() & other.keys())
    differing = {
        "only in A": sorted(one.keys() - other.keys()),
        "only in B": sorted(other.keys() - one.keys()),
        # As text, in which a number is not a truth value, and not a number is itself.
        "differ": [name for name in both if _text(one[name]) != _text(other[name])],
    }
    parts = [f"{what}: {', '.join(map(repr, names))}" for what, names in differing.items() if names]
    if parts:
        yield Difference("attributes", path, "; ".join(parts))


def _own_attributes(meta: ArrayMeta | GroupMeta) -> Mapping[str, Any]:
    """The attributes, without the one that has the names of the dimensions where a format has no other place."""
    if not isinstance(meta, ArrayMeta) or names_in(meta.attributes, len(meta.shape)) != (meta.dimension_names or ()):
        return meta.attributes
    return {name: value for name, value in meta.attributes.items() if name != ATTRIBUTE}


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _layouts(path: str, a: ArrayMeta, b: ArrayMeta) -> Iterator[Difference]:
    if a.read_grid.edges != b.read_grid.edges:
        yield Difference("layout", path, f"chunks: {a.chunks_text} against {b.chunks_text}")
    if (a.shards_text is None) != (b.shards_text is None) or (
        a.shards_text and a.chunk_grid.edges != b.chunk_grid.edges
    ):
        yield Difference("layout", path, f"shards: {a.shards_text or 'none'} against {b.shards_text or 'none'}")
    if a.codecs.to_json() != b.codecs.to_json():
        yield Difference("layout", path, "codecs: not the same")
    if (one := len(a.storage_transformers)) != (other := len(b.storage_transformers)):
        yield Difference("layout", path, f"storage transformers: {one or 'none'} against {other or 'none'}")
