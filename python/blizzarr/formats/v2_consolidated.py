"""Consolidated metadata of v2: one document, ``.zmetadata``.

It is not in the specification; zarr-python 2.3 began to write it. Its member `metadata` has the documents of all nodes
by their keys, including those of the group itself. Other members in it are ignored and kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from blizzarr.errors import MetadataError
from blizzarr.formats.consolidated import Consolidated, check_entry
from blizzarr.formats.document import check_number, dump, load
from blizzarr.formats.v2_node import ARRAY, ATTRIBUTES, CONSOLIDATED, GROUP, decode_below, name_problem, place
from blizzarr.problems import MISSING, Notice, Problems

_VERSION: Final = "zarr_consolidated_format"
_HINT = "what is in the store itself can still be read: open the group with use_consolidated=False"


def consolidated(raw: bytes, key: str) -> Consolidated:
    """Return the nodes in a document, which may be large and is not parsed before one of them is accessed."""
    return Consolidated(partial(_load, raw, key), decode_below, key, "v2")


def _load(raw: bytes, key: str, notices: list[Notice]) -> dict[str, dict[str, Any]]:
    """Parse the documents of each node, by the path of the node and the last part of their keys."""
    problems = Problems(notices)
    document = load(raw, problems, marked=True)
    nodes = {} if document is None else _check(document, problems)
    try:
        problems.raise_any(key=key, document=document)
    except MetadataError as error:
        error.add_note(_HINT)
        raise
    return nodes


def _check(document: Mapping[str, Any], problems: Problems) -> dict[str, dict[str, Any]]:
    # References in Parquet, as kerchunk makes them, have another member in its place.
    is_of_kerchunk = _VERSION not in document and "record_size" in document
    if not is_of_kerchunk and not check_number(document, _VERSION, 1, problems):
        return {}
    documents = document.get("metadata", MISSING)
    if type(documents) is not dict:
        problems.add("metadata", "an object", documents)
        return {}
    nodes: dict[str, dict[str, Any]] = {}
    for key, value in documents.items():
        path, _, last = key.rpartition("/")
        # The copies of the group's own documents are ignored.
        if last in (ARRAY, GROUP, ATTRIBUTES) and key != last:
            nodes.setdefault(path, {})[last] = value
            check_entry(
                path, partial(place, key), value, lambda above: f"{above}/{ARRAY}" in documents, name_problem, problems
            )
    # Attributes alone make no node.
    return {path: own for path, own in nodes.items() if ARRAY in own or GROUP in own}


def collect(own: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document for a group with these documents of its own, and these of the nodes below it by path."""
    documents = dict(own)
    for path, several in nodes.items():
        documents.update({f"{path}/{last}": document for last, document in several.items()})
    return {_VERSION: 1, "metadata": documents}


def with_own(raw: bytes, own: Mapping[str, Any], key: str) -> bytes:
    """Return a stored document with these copies of the group's own documents; the same bytes if it has them already.

    >>> group = {".zgroup": {"zarr_format": 2}, ".zattrs": {}}
    >>> with_own(b'{"metadata":{".zgroup":{"zarr_format":2}}}', group, ".zmetadata")
    b'{"metadata":{".zgroup":{"zarr_format":2}}}'
    """
    try:
        whole = json.loads(raw)
        documents = whole["metadata"]
        there = {last: documents.get(last, {} if last == ATTRIBUTES else document) for last, document in own.items()}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        # Accessing a node in it reports the damage, which must not prevent changing the group.
        return raw
    # Compared as text, which distinguishes 1 and 1.0.
    if dump(there, key) == dump(own, key):
        return raw
    return dump({**whole, "metadata": {**documents, **own}}, key)


def own_copies_differ(documents: Mapping[str, bytes]) -> bool:
    """Return whether the consolidated metadata among these documents of a group differ from the other documents.

    Only v2 has copies of the group's own documents; some readers use them in place of the documents.
    """
    last = {key.rpartition("/")[2]: value for key, value in documents.items()}
    if CONSOLIDATED not in last:
        return False
    try:
        copies = json.loads(last[CONSOLIDATED])["metadata"]
        own = {name: json.loads(last[name]) for name in (GROUP, ATTRIBUTES) if name in last}
    except (ValueError, RecursionError, LookupError, TypeError):
        # Damage is reported where the document is decoded.
        return False
    if not isinstance(copies, dict) or ARRAY in last:
        return False
    there = {name: copies[name] for name in (GROUP, ATTRIBUTES) if name in copies}
    # Missing attributes mean the same as empty ones.
    return {ATTRIBUTES: {}, **there} != {ATTRIBUTES: {}, **own}
