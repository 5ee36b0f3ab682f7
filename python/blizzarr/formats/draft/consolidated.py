"""Consolidated metadata in zarr-python's spelling of the draft, which itself has none.

The document is below a group ``consolidated`` that has no other purpose. It holds all documents by their keys,
including the entry point. Groups without a document are not in it, and are added here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from blizzarr.formats.consolidated import Consolidated
from blizzarr.formats.document import check_number, load
from blizzarr.formats.draft.keys import CONSOLIDATED, ENTRY, DraftKeys
from blizzarr.formats.format import Node
from blizzarr.model import ArrayMeta
from blizzarr.model.names import ancestors
from blizzarr.problems import MISSING, Notice, Problems, describe

_VERSION: Final = "zarr_consolidated_format"


def decode(raw: bytes, keys: DraftKeys, read: Callable[[str, dict[str, Any], Problems], Node | None]) -> Consolidated:
    """Return the nodes of a hierarchy by path.

    The document is parsed when the first node is accessed. Each node is decoded on access by `read`, from its kind
    ("array" or "group") and its own document.
    """

    def decode_node(path: str, stored: tuple[str, dict[str, Any]], problems: Problems) -> Node | None:
        kind, document = stored
        inner = Problems()
        node = read(kind, document, inner)
        problems.adopt(inner, f"metadata[{describe(keys.document(path, kind))}]")
        return node

    return Consolidated(lambda notices: _documents(raw, keys, notices), decode_node, keys.consolidated(), keys.name)


def _documents(raw: bytes, keys: DraftKeys, notices: list[Notice]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the kind of each node ("array" or "group") and its document, by path."""
    problems = Problems(notices)
    whole = load(raw, problems)
    problems.raise_any(key=keys.consolidated())
    assert whole is not None
    check_number(whole, _VERSION, 1, problems)
    metadata = whole.get("metadata", MISSING)
    if type(metadata) is not dict:
        problems.add("metadata", "an object", metadata)
        metadata = {}
    documents: dict[str, tuple[str, dict[str, Any]]] = {}
    for key, document in metadata.items():
        path = keys.node_of(key)
        if type(document) is not dict:
            problems.add(f"metadata[{describe(key)}]", "the document of a node", document)
        elif path is None and key != ENTRY:
            problems.add("metadata", "the keys of documents", key)
        elif path and path != CONSOLIDATED:
            # If there are an array and a group at one path, the array counts.
            kind = "array" if key == keys.document(path, "array") else "group"
            if kind == "array" or path not in documents:
                documents[path] = kind, document
    problems.raise_any(key=keys.consolidated(), document=whole)
    for path in list(documents):
        for above in ancestors(path)[1:]:
            documents.setdefault(above, ("group", {"attributes": {}}))
    return dict(sorted(documents.items()))


def encode(
    nodes: Mapping[str, Node],
    keys: DraftKeys,
    beside: Mapping[str, dict[str, Any]],
    document_of: Callable[[Node], dict[str, Any]],
) -> dict[str, Any]:
    """Encode the document with the metadata of all nodes, and with `beside`: the entry point and the root.

    Copies from such a document stay as they were, damaged or not.
    """
    if isinstance(nodes, Consolidated) and nodes.format == keys.name:
        stored = dict(nodes.documents)
    else:
        stored = {
            path: ("array" if isinstance(node, ArrayMeta) else "group", document_of(node))
            for path, node in sorted(nodes.items())
        }
    documents = {keys.document(path, kind): document for path, (kind, document) in stored.items()}
    return {_VERSION: 1, "metadata": {**beside, **documents}}
