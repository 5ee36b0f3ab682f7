"""Comparing the metadata of two nodes: their meaning as differences, their layout as notes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from blizzarr.comparing.comparison import Difference, element_text
from blizzarr.dtypes import DataType
from blizzarr.formats.dimension_names import ATTRIBUTE, names_in
from blizzarr.formats.masked_value import follows_xarray, masked_value, masks_fill, masks_same, without_masked
from blizzarr.formats.ome import axis_names, one_version, with_new_ome
from blizzarr.model import ArrayMeta, GroupMeta

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
