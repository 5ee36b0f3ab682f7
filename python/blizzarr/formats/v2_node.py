"""Nodes of Zarr v2, decoded from two parsed documents: one that makes the node, and one with its attributes.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#logical-storage-paths

Documents are named here by the last part of their keys: ``.zarray``, ``.zgroup``, ``.zattrs``.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping
from typing import Any, Final

from blizzarr.formats.attributes import complete
from blizzarr.formats.dimension_names import names_in, with_names
from blizzarr.formats.document import Stored, check_depth, check_number, other_members
from blizzarr.formats.format import Node
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import unusable
from blizzarr.problems import Notice, Problems, decoder, describe

ARRAY: Final = ".zarray"
GROUP: Final = ".zgroup"
ATTRIBUTES: Final = ".zattrs"
CONSOLIDATED: Final = ".zmetadata"
"""Consolidated metadata, which are not in the specification; zarr-python, GDAL, NCZarr and xarray use them."""
DOCUMENTS: Final = (ARRAY, GROUP, ATTRIBUTES, CONSOLIDATED)
"""The last part of the key of each document that a node may have."""

_CONSOLIDATED: Final = "consolidated_metadata"


def name_problem(name: str) -> str | None:
    """Return the rule that a node name breaks; `None` if it is valid.

    Unlike in v3, a name may begin with two underscores, or consist of three dots.
    """
    return unusable(name, DOCUMENTS)


def place(key: str) -> str:
    """Return the JSON path, in consolidated metadata, of the document with this key."""
    return f"metadata[{describe(key)}]"


def kind_of(path: str, documents: Mapping[str, Any], notices: list[Notice], prefix: str = "") -> str | None:
    """Return the name of the document that makes the node at a path; `None` when none does.

    Of two, that of the array counts, and a notice is added.
    """
    array, group = f"{prefix}{ARRAY}" in documents, f"{prefix}{GROUP}" in documents
    if array and group:
        text = (
            f"/{path} is an array and a group: the array counts, as in other readers; remove the one of {ARRAY} and "
            f"{GROUP} that should not be there"
        )
        notices.append(Notice("two-nodes", text))
    return ARRAY if array else GROUP if group else None


@decoder
def decode_bare(kind: str, document: dict[str, Any], problems: Problems) -> Node | None:
    """Decode a node without its attributes; `None` if a problem was added."""
    if kind == GROUP:
        return _decode_group(document, problems)
    from blizzarr.formats import v2_array

    return v2_array.decode(document, problems)


def _decode_group(document: dict[str, Any], problems: Problems) -> GroupMeta | None:
    before = len(problems.items)
    if not check_number(document, "zarr_format", 2, problems):
        return None
    extra = other_members(document, frozenset(("zarr_format",)), problems)
    if _CONSOLIDATED in extra:
        # zarr-python 3 writes it into copies in .zmetadata; in a document, it would believe it.
        extra = {name: value for name, value in extra.items() if name != _CONSOLIDATED}
    return None if len(problems.items) > before else GroupMeta(extra=extra, format="v2", source=document)


def decode_below(path: str, documents: Mapping[str, Any], problems: Problems) -> Node | None:
    """Decode the node at a path in consolidated metadata; `None` if a problem was added."""
    kind = kind_of(path, documents, problems.notices) or GROUP
    inner = Problems()
    meta = decode_bare(kind, documents[kind], inner)
    problems.adopt(inner, lambda: place(f"{path}/{kind}"))
    attributes, nested = documents.get(ATTRIBUTES, {}), Problems()
    if not check_depth(attributes, "", nested):
        problems.adopt(nested, place(f"{path}/{ATTRIBUTES}"))
        return None
    if meta is None:
        return None
    # Users may change the attributes of the node: the parsed document must not change with them.
    return complete(meta, marshal.loads(marshal.dumps(attributes)), meta.source)


def stored(meta: Node) -> Mapping[str, bytes]:
    """Return the bytes of the documents from which a node came, as far as they are known."""
    return meta.source.raw if meta.format == "v2" and isinstance(meta.source, Stored) else {}


def encode(meta: Node, problems: Problems) -> dict[str, Mapping[str, Any]]:
    """Return the documents of a node as JSON values; the one that makes the node is last.

    Adds a problem for each member that v2 cannot express.
    """
    if isinstance(meta, ArrayMeta):
        from blizzarr.formats import v2_array

        return {ATTRIBUTES: _attributes(meta, problems), ARRAY: v2_array.encode(meta, problems)}
    return {ATTRIBUTES: meta.attributes, GROUP: _encode_group(meta)}


def _encode_group(meta: GroupMeta) -> Mapping[str, Any]:
    """Encode the document of a group, in the order of the one from which it came; that one if nothing changed."""
    document: dict[str, Any] = {"zarr_format": 2, **meta.extra}
    if meta.source is None or meta.format != "v2":
        return document
    if meta.source == document:
        return meta.source
    return {name: document[name] for name in (*meta.source, *document) if name in document}


def _attributes(meta: ArrayMeta, problems: Problems) -> dict[str, Any]:
    rank, names = len(meta.shape), meta.dimension_names
    raw = None if names is None else stored(meta).get(ATTRIBUTES)
    if raw is not None and names_in(json.loads(raw), rank) == names:
        # The names came from the attribute; if that has been changed or removed since, the change counts.
        return meta.attributes
    return with_names(meta.attributes, names, rank, problems)


def encode_below(nodes: Mapping[str, Node], problems: Problems) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the documents of the nodes below a group as JSON values, for its consolidated metadata."""
    made = {}
    for path, node in sorted(nodes.items()):
        inner = Problems()
        documents = encode(node, inner)
        if node.format != "v2":
            inner.add("", "a node of v2, as all in such a document are", node.format)
        if not documents[ATTRIBUTES]:
            del documents[ATTRIBUTES]
        problems.adopt(inner, place(path))
        made[path] = documents
    return made
