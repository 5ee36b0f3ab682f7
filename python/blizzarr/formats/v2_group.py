"""Group documents of Zarr v2, ``.zgroup``.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#groups
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.formats.document import check_depth
from blizzarr.model import GroupMeta
from blizzarr.problems import MISSING, Problems

_MEMBERS: Final = frozenset(("zarr_format",))
_CONSOLIDATED: Final = "consolidated_metadata"
_NOTHING: Final[Mapping[str, Any]] = {}


def check_format(document: Mapping[str, Any], problems: Problems) -> bool:
    """Return whether a document has the format number 2; if not, add a problem.

    Other formats have other rules, so that checking the rest of such a document makes no sense.
    """
    version = document.get("zarr_format", MISSING)
    if type(version) is int and version == 2:
        return True
    problems.add("zarr_format", "2", version)
    return False


def other_members(document: Mapping[str, Any], known: frozenset[str], problems: Problems) -> Mapping[str, Any]:
    """Return the members that are not in the specification, which are ignored and kept."""
    if document.keys() <= known:
        return _NOTHING
    extra = {name: value for name, value in document.items() if name not in known}
    for name, value in extra.items():
        check_depth(value, name, problems)
    return extra


def decode(document: dict[str, Any], problems: Problems) -> GroupMeta | None:
    """Decode the group of a document, without attributes; `None` if a problem was added."""
    before = len(problems.items)
    if not check_format(document, problems):
        return None
    extra = other_members(document, _MEMBERS, problems)
    if _CONSOLIDATED in extra:
        # zarr-python 3 writes it into copies in .zmetadata; in a document, it would believe it.
        extra = {name: value for name, value in extra.items() if name != _CONSOLIDATED}
    return None if len(problems.items) > before else GroupMeta(extra=extra, format="v2", source=document)


def encode(meta: GroupMeta) -> Mapping[str, Any]:
    """Encode the document of a group, in the order of the one from which it came; that one if nothing changed."""
    document: dict[str, Any] = {"zarr_format": 2, **meta.extra}
    if meta.source is None or meta.format != "v2":
        return document
    if meta.source == document:
        return meta.source
    return {name: document[name] for name in (*meta.source, *document) if name in document}
