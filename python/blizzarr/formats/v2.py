"""Zarr v2: documents beside the node's children and chunks; ``.zarray`` or ``.zgroup``, and ``.zattrs``.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html

Decoded documents are remembered. A document whose content has not changed is stored with the same bytes, so that
changing attributes touches only ``.zattrs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Final

from blizzarr.formats import v2_consolidated, v2_node
from blizzarr.formats.attributes import dump_attributes, with_own_document
from blizzarr.formats.consolidated import Consolidated
from blizzarr.formats.consolidation_mark import is_outdated
from blizzarr.formats.document import Stored, dump, load
from blizzarr.formats.remembered_nodes import Documents, RememberedNodes
from blizzarr.formats.sibling_documents import SiblingDocuments, check_names
from blizzarr.formats.v2_node import ARRAY, ATTRIBUTES, CONSOLIDATED, DOCUMENTS, GROUP, name_problem
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice, Problems


class V2Format(SiblingDocuments):
    """The format of nodes of Zarr v2."""

    name: ClassVar[str] = "v2"
    zarr_format: ClassVar[int | None] = 2
    has_null_fill: ClassVar[bool] = True
    has_field_orders: ClassVar[bool] = True
    default_compressor: ClassVar[str] = "blosc"
    documents: ClassVar[tuple[str, ...]] = DOCUMENTS

    def name_problem(self, name: str) -> str | None:
        return name_problem(name)

    def node_keys(self, path: str) -> tuple[str, ...]:
        return (f"{path}/{ARRAY}", f"{path}/{GROUP}") if path else (ARRAY, GROUP)

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        return ChunkKeys.v2() if given is None else ChunkKeys.v2(given.separator)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | GroupMeta | None:
        prefix = f"{path}/" if path else ""
        kind = ARRAY if prefix + ARRAY in documents else GROUP
        if kind == GROUP or prefix + GROUP in documents:
            kind_there = v2_node.kind_of(path, documents, [] if notices is None else notices, prefix)
            if kind_there is None:
                return None
            kind = kind_there
        raw, raw_attributes = documents[prefix + kind], documents.get(prefix + ATTRIBUTES)
        meta = (_arrays if kind == ARRAY else _groups)((raw, raw_attributes), prefix, notices)
        if type(meta) is not GroupMeta:
            return meta
        consolidated = documents.get(prefix + CONSOLIDATED)
        if consolidated is None or is_outdated(consolidated, raw):
            return meta
        below = v2_consolidated.consolidated(consolidated, prefix + CONSOLIDATED)
        assert type(meta.source) is Stored
        source = Stored(meta.source, {**meta.source.raw, CONSOLIDATED: consolidated})
        return replace(meta, consolidated=below, source=source)

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        """Encode a node; without a document of attributes if there are none, and there was none before."""
        prefix = self.chunk_prefix(path)
        kind = ARRAY if isinstance(meta, ArrayMeta) else GROUP
        problems = Problems()
        check_names(path, self.name_problem, problems)
        stored = v2_node.stored(meta)
        documents = v2_node.encode(meta, problems)
        new: dict[str, bytes] = {}
        if documents[ATTRIBUTES] or ATTRIBUTES in stored:
            new[ATTRIBUTES] = dump_attributes(documents[ATTRIBUTES], prefix + ATTRIBUTES, stored.get(ATTRIBUTES))
        if isinstance(meta, GroupMeta) and meta.consolidated is not None:
            new[CONSOLIDATED] = _encode_consolidated(meta, documents, prefix, problems)
        problems.raise_any(key=prefix + kind)
        unchanged = documents[kind] is meta.source and kind in stored
        new[kind] = stored[kind] if unchanged else dump(documents[kind], prefix + kind)
        made = {prefix + last: value for last, value in new.items()}
        # Never store what could not be read again. This also remembers the document, which is often read again soon.
        self.decode(path, made)
        return made


V2: Final = V2Format()


def _decode(kind: str, given: Documents, prefix: str, notices: list[Notice]) -> ArrayMeta | GroupMeta:
    """Decode the documents of a node whose keys have this prefix: the one that makes it, and that of attributes."""
    raw, raw_attributes = given
    assert raw is not None
    problems = Problems(notices)
    # A byte order mark is accepted, as by other readers of v2.
    document = load(raw, problems, marked=True)
    meta = None if document is None else v2_node.decode_bare(kind, document, problems)
    raws = {kind: raw} if raw_attributes is None else {kind: raw, ATTRIBUTES: raw_attributes}
    return with_own_document(meta, document, raws, prefix, problems)


_arrays: Final[RememberedNodes[ArrayMeta | GroupMeta]] = RememberedNodes(partial(_decode, ARRAY))
_groups: Final[RememberedNodes[ArrayMeta | GroupMeta]] = RememberedNodes(partial(_decode, GROUP))


def _encode_consolidated(
    meta: GroupMeta, documents: Mapping[str, Mapping[str, Any]], prefix: str, problems: Problems
) -> bytes:
    """Encode the consolidated metadata of a group; copies from a document stay as they were, damaged or not."""
    nodes, raw = meta.consolidated, v2_node.stored(meta).get(CONSOLIDATED)
    assert nodes is not None
    key = prefix + CONSOLIDATED
    kept = nodes if isinstance(nodes, Consolidated) and nodes.format == V2.name else None
    if kept is not None and raw is not None:
        return v2_consolidated.with_own(raw, documents, key)
    own = {last: document for last, document in documents.items() if document or last != ATTRIBUTES}
    below = v2_node.encode_below(nodes, problems) if kept is None else kept.documents
    return dump(v2_consolidated.collect(own, below), key)
