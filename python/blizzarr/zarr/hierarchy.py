"""The function ``zarr.create_hierarchy``: nodes from their metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import blizzarr
from blizzarr.formats import detect
from blizzarr.hierarchy.place import place_node
from blizzarr.model import GroupMeta
from blizzarr.model.names import ancestors
from blizzarr.zarr.array import Array
from blizzarr.zarr.creating import creating
from blizzarr.zarr.group import Group
from blizzarr.zarr.metadata import GroupMetadata
from blizzarr.zarr.storage.store_path import engine_place, join_paths, normalize_path


def create_hierarchy(*, store: Any, nodes: Mapping[str, Any], overwrite: bool = False) -> Iterator[tuple[str, Any]]:
    """Create arrays and groups from their metadata, by path, and the groups above them; return all of them.

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If something is there.
    """
    engine, root = engine_place(store, "", "a")
    named = {join_paths([root, normalize_path(path)]): node for path, node in nodes.items()}
    formats = {node.zarr_format for node in named.values()}
    if len(formats) > 1:
        raise ValueError(f"expected nodes of one zarr_format, found {sorted(formats)}")
    for group in {group for path in named for group in ancestors(path)} - set(named):
        if detect(engine, group) is None:
            named[group] = GroupMetadata(zarr_format=next(iter(formats)))
    for path in sorted(named, key=lambda path: path.count("/") + bool(path)):
        node = named[path]
        meta = node.to_engine() if isinstance(node, GroupMetadata) else node.engine
        with creating(engine):
            stored = place_node(engine, path, meta, overwrite=overwrite)
        if isinstance(stored, GroupMeta):
            yield path, Group(blizzarr.Group(engine, path, stored))
        else:
            yield path, Array(blizzarr.Array(engine, path, stored))
