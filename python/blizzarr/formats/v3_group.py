"""Group documents of Zarr v3, and the consolidated metadata that are a member of them.

https://zarr-specs.readthedocs.io/en/latest/v3/core/#group-metadata
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from blizzarr.dtypes.fill_typed import named_tokens
from blizzarr.formats import v3_array
from blizzarr.formats.consolidated import Consolidated, check_entry
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import unusable
from blizzarr.problems import MISSING, Problems, decoder, describe, unknown_members

_MEMBERS: Final = frozenset(("zarr_format", "node_type", "attributes", "consolidated_metadata"))


def decode(document: dict[str, Any], problems: Problems, key: str) -> GroupMeta | None:
    """Decode the group of a document; `None` if a problem was added."""
    before = len(problems.items)
    attributes = v3_array.decode_attributes(document, problems)
    extra = v3_array.unknown_members(document, _MEMBERS, problems)
    below = None
    if "consolidated_metadata" in document:
        documents = _check_consolidated(document["consolidated_metadata"], problems)
        if documents is not None:
            below = Consolidated(documents, _decode_below, key, "v3")
    if len(problems.items) > before:
        return None
    return GroupMeta(attributes, below, extra, "v3", document)


@decoder
def decode_node(document: dict[str, Any], problems: Problems, key: str = "zarr.json") -> ArrayMeta | GroupMeta | None:
    """Decode the array or group of a document; `None` if a problem was added."""
    version = document.get("zarr_format", MISSING)
    if type(version) is not int or version != 3:
        problems.add("zarr_format", "3", version)
        # Other versions have other rules, so that checking the rest makes no sense.
        return None
    kind = document.get("node_type", MISSING)
    if kind == "array":
        inner = Problems()
        array = v3_array.decode(document, inner)
        if inner.items:
            from blizzarr.formats import v3_transitional

            older = v3_transitional.decode(document, problems.notices)
            if older is not None:
                return older
        problems.adopt(inner, "")
        return array
    if kind == "group":
        return decode(document, problems, key)
    problems.add("node_type", '"array" or "group"', kind)
    return None


def _decode_below(path: str, document: dict[str, Any], problems: Problems) -> ArrayMeta | GroupMeta | None:
    """Decode the copy of the node at this path in consolidated metadata; `None` if a problem was added."""
    inner = Problems()
    # The document is remembered, and users may change the attributes that they get.
    document = marshal.loads(marshal.dumps(document))
    if type(fill := document.get("fill_value")) in (float, list):
        # zarr-python 3.0.0 to 3.0.6 wrote bare tokens here, and their names in the document of the array itself.
        document = {**document, "fill_value": named_tokens(fill)}
    node = decode_node(document, inner)
    problems.adopt(inner, lambda: _path_of(path))
    return node


def encode(meta: GroupMeta) -> dict[str, Any]:
    """Encode the document of a group with its consolidated metadata; unknown members are kept."""
    document: dict[str, Any] = {"zarr_format": 3, "node_type": "group", "attributes": meta.attributes}
    if meta.consolidated is not None:
        document["consolidated_metadata"] = {
            "kind": "inline",
            "must_understand": False,
            "metadata": _encode_below(meta.consolidated),
        }
    document.update(meta.extra)
    if meta.source is None or meta.format != "v3":
        return document
    kept = {name: document[name] for name in meta.source if name in document}
    kept.update(document)
    if "attributes" not in meta.source and not meta.attributes:
        del kept["attributes"]
    return kept


def _encode_below(nodes: Mapping[str, ArrayMeta | GroupMeta]) -> dict[str, Any]:
    """Return the documents of the nodes below a group; copies from a document stay as they were, damaged or not."""
    if isinstance(nodes, Consolidated) and nodes.format == "v3":
        return dict(nodes.documents)
    return {path: encode_node(node) for path, node in sorted(nodes.items())}


def encode_node(meta: ArrayMeta | GroupMeta) -> dict[str, Any]:
    """Encode the document of an array or a group."""
    return v3_array.encode(meta) if isinstance(meta, ArrayMeta) else encode(meta)


def _path_of(path: str) -> str:
    """Return the JSON path of the copy of the node at this path."""
    return f"consolidated_metadata.metadata[{describe(path)}]"


def _check_consolidated(value: Any, problems: Problems) -> Mapping[str, Any] | None:
    """Return the documents in a `consolidated_metadata` member; `None` if there are none, or a problem was added."""
    if value is None:
        # Some releases of zarr-python wrote null for no consolidated metadata.
        return None
    where = "consolidated_metadata"
    if type(value) is not dict:
        problems.add(where, "an object", value)
        return None
    before = len(problems.items)
    if value.get("kind") != "inline":
        problems.add(f"{where}.kind", '"inline"', value.get("kind", MISSING))
    if value.get("must_understand") is not False:
        problems.add(f"{where}.must_understand", "false", value.get("must_understand", MISSING))
    unknown_members(value, ("kind", "must_understand", "metadata"), problems, where)
    documents = value.get("metadata", MISSING)
    if type(documents) is not dict:
        problems.add(f"{where}.metadata", "an object", documents)
        return None
    for path, document in documents.items():
        check_entry(
            path, partial(_path_of, path), document, lambda above: _is_array(documents.get(above)), unusable, problems
        )
    return documents if len(problems.items) == before else None


def _is_array(document: Any) -> bool:
    return type(document) is dict and document.get("node_type") == "array"
