"""Translating a node to another format."""

from __future__ import annotations

import json
from dataclasses import replace

from blizzarr.dtypes.value_text import value_text
from blizzarr.formats.dimension_names import ATTRIBUTE, nczarr_names
from blizzarr.formats.format import Format, Node
from blizzarr.formats.masked_value import MASKED, masked_value, masks_fill, masks_same, with_masked_value
from blizzarr.formats.ome import OmeChange
from blizzarr.model import ArrayMeta


def translate(
    meta: Node, form: Format, *, in_place: bool = False, ome: OmeChange | None = None
) -> tuple[Node, list[str]]:
    """Return the node in another format, and descriptions of what is not the same there.

    With `in_place`, elements that are not stored have the same value in both. The change `ome` is made, too.
    `Format.encode` raises an error if that format cannot express the result.

    Raise `MetadataError` if the format has no keys for its chunks.

    >>> from blizzarr.formats import format_named
    >>> from blizzarr.model import GroupMeta
    >>> translate(GroupMeta({"a": 1}, extra={"x": {"must_understand": False}}), format_named("v3"))[1]
    ['left out: x, which only other programs know']
    """
    notes = []
    if meta.extra:
        notes.append(f"left out: {', '.join(meta.extra)}, which only other programs know")
    if not isinstance(meta, ArrayMeta):
        group = replace(meta, format=form.name, consolidated=None, extra={}, source=None)
        return (group, notes) if ome is None else (ome.of(group), [*notes, *ome.notes])
    if ome is not None and ome.options.get("dimension_names", ()) is None:
        # Without names, xarray masks nothing.
        meta = replace(meta, dimension_names=None)
    if meta.dimension_names is None and meta.format == "v2":
        meta = replace(meta, dimension_names=nczarr_names(meta.extra, len(meta.shape)))
        if meta.dimension_names is not None:
            notes.append("the names of the dimensions in _NCZARR_ARRAY stay")
    attributes = meta.attributes
    names = meta.dimension_names
    if names is not None and attributes.get(ATTRIBUTE) == list(names) and form.has_dimension_names:
        attributes = {name: value for name, value in attributes.items() if name != ATTRIBUTE}
        notes.append(f"the attribute {ATTRIBUTE} becomes the names of the dimensions")
    if not meta.shape and masks_fill(form.name) and meta.format == "v3":
        # xarray requires the attribute of single elements, too, which have no dimension in v3.
        names = ()
    made = with_masked_value(replace(meta, attributes=attributes), form, in_place=in_place)
    notes += _fill_notes(meta, made, form)
    keys = form.chunk_keys(meta.chunk_keys)
    made = replace(made, format=form.name, chunk_keys=keys, dimension_names=names, extra={}, source=None)
    return (made, notes) if ome is None else (ome.of(made), [*notes, *ome.notes])


def _fill_notes(meta: ArrayMeta, made: ArrayMeta, form: Format) -> list[str]:
    """Return what becomes of the fill value, and of the value that xarray masks."""
    text = json.dumps(meta.dtype.fill_to_json(meta.fill_value))
    notes = []
    if meta.fill_undefined and not made.fill_undefined:
        notes.append(f"the fill value, which was null, becomes {text}")
    if made.fill_undefined and not meta.fill_undefined:
        notes.append(f"the fill value {text} becomes null, since xarray would mask it")
    if masks_fill(form.name) == masks_fill(meta.format):
        return notes
    before = masked_value(meta)
    lost = lost_mask(meta, replace(made, format=form.name))
    if lost is not None:
        notes.append(lost)
    elif before is not None and masks_fill(form.name) and not made.fill_undefined:
        notes.append(f"the attribute {MASKED}, which xarray masks, becomes the fill value")
    elif before is not None and MASKED in made.attributes and not masks_fill(form.name):
        notes.append(f"the fill value {text}, which xarray masks, becomes the attribute {MASKED}, too")
    elif before is None and MASKED in meta.attributes and MASKED not in made.attributes:
        notes.append(f"left out: the attribute {MASKED}, with which xarray could not open the array in {form.name}")
    return notes


def lost_mask(meta: ArrayMeta, made: ArrayMeta) -> str | None:
    """Return what xarray masks in the array that was made of another one, unless it masks the same."""
    if masks_same(meta, made):
        return None
    before, after = ("nothing" if value is None else value_text(value) for value in map(masked_value, (meta, made)))
    return f"xarray masks {after} instead of {before}, as {made.format} cannot say it"
