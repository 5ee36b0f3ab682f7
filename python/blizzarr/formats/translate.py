"""Translating a node to another format."""

from __future__ import annotations

import json
from dataclasses import replace

from blizzarr.formats.dimension_names import ATTRIBUTE
from blizzarr.formats.format import Format, Node
from blizzarr.model import ArrayMeta

__all__ = ["translate"]


def translate(meta: Node, form: Format) -> tuple[Node, list[str]]:
    """Return the node in another format, and descriptions of what is not the same there.

    `Format.encode` raises an error if that format cannot express the result.

    Raises
    ------
    MetadataError
        The format has no keys for its chunks.

    Examples
    --------
    >>> from blizzarr.formats import format_named
    >>> from blizzarr.model import GroupMeta
    >>> translate(GroupMeta({"a": 1}, extra={"x": {"must_understand": False}}), format_named("v3"))[1]
    ['left out: x, which only other programs know']
    """
    notes = []
    if meta.extra:
        notes.append(f"left out: {', '.join(meta.extra)}, which only other programs know")
    if not isinstance(meta, ArrayMeta):
        return replace(meta, format=form.name, consolidated=None, extra={}, source=None), notes
    attributes = meta.attributes
    names = meta.dimension_names
    if names is not None and attributes.get(ATTRIBUTE) == list(names) and form.has_dimension_names:
        attributes = {name: value for name, value in attributes.items() if name != ATTRIBUTE}
        notes.append(f"the attribute {ATTRIBUTE} becomes the names of the dimensions")
    if meta.fill_undefined and not form.has_null_fill:
        becomes = json.dumps(meta.dtype.fill_to_json(meta.fill_value))
        notes.append(f"the fill value, which was null, becomes {becomes}")
    made = replace(
        meta,
        format=form.name,
        chunk_keys=form.chunk_keys(meta.chunk_keys),
        attributes=attributes,
        extra={},
        source=None,
        fill_undefined=meta.fill_undefined and form.has_null_fill,
    )
    return made, notes
