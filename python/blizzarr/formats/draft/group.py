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


def decode(document: dict[str, Any], name: str, problems: Problems) -> GroupMeta | None:
    """Decode the group of a document, of the format `name`; `None` if a problem was added."""
    before = len(problems.items)
    attributes = decode_attributes(document.get("attributes", MISSING), problems)
    # GDAL, which wrote zarr-python's spelling too, has a list of extensions also in groups.
    listed = name == Spelling.ZARR_PYTHON.value and document.get("extensions") == []
    unknown_members(document, ("attributes", "extensions") if listed else ("attributes",), problems)
    return GroupMeta(attributes, format=name, source=document) if len(problems.items) == before else None


def encode(meta: GroupMeta, name: str, problems: Problems) -> dict[str, Any]:
    """Encode the document of a group in the format `name`; add a problem for each part that it cannot express."""
    for member in meta.extra:
        problems.add(member, "no member that is unknown: the draft does not allow any", meta.extra[member])
    document = {"attributes": meta.attributes}
    if meta.source is None or meta.format != name:
        return document
    # Keep the order of the stored document, and the list that GDAL writes.
    return {**meta.source, **document}
