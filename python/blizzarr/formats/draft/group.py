"""Group documents of the draft: attributes, and nothing else.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#group-metadata
"""

from __future__ import annotations

from typing import Any

from blizzarr.formats.draft.array import decode_attributes
from blizzarr.formats.draft.extension import unknown_members
from blizzarr.formats.draft.spelling import Spelling
from blizzarr.model import GroupMeta
from blizzarr.problems import MISSING, Problems

__all__ = ["decode", "encode"]


def decode(document: dict[str, Any], name: str, problems: Problems) -> GroupMeta | None:
    """The group that a document describes, of the format `name`; `None` when a problem was added."""
    before = len(problems.items)
    attributes = decode_attributes(document.get("attributes", MISSING), problems)
    # GDAL, which wrote zarr-python's spelling too, has a list in groups that is only in arrays.
    listed = name == Spelling.ZARR_PYTHON.value and document.get("extensions") == []
    unknown_members(document, ("attributes", "extensions") if listed else ("attributes",), problems)
    return GroupMeta(attributes, format=name, source=document) if len(problems.items) == before else None


def encode(meta: GroupMeta, name: str, problems: Problems) -> dict[str, Any]:
    """The document of a group in the format `name`; what it cannot say is added to `problems`."""
    for member in meta.extra:
        problems.add(member, "no member that is unknown: the draft does not allow any", meta.extra[member])
    document = {"attributes": meta.attributes}
    if meta.source is None or meta.format != name:
        return document
    # What was read is all that there is: the attributes, and perhaps that list.
    return {**meta.source, **document}
