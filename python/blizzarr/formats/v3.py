"""Zarr v3: one document per node, ``zarr.json``, beside the node's children and chunks.

https://zarr-specs.readthedocs.io/en/latest/v3/core/

Decoded documents are remembered; see `RememberedNodes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from blizzarr.formats import v3_array, v3_group
from blizzarr.formats.consolidated import Consolidated
from blizzarr.formats.document import Stored, dump, load
from blizzarr.formats.draft.entry import is_entry
from blizzarr.formats.remembered_nodes import Documents, RememberedNodes
from blizzarr.formats.sibling_documents import SiblingDocuments, check_names
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.model.names import reserved
from blizzarr.problems import Notice, Problems
from blizzarr.stores.conditional import Versioned

_DOCUMENT: Final = "zarr.json"


class V3Format(SiblingDocuments):
    """The format of nodes of Zarr v3."""

    name: ClassVar[str] = "v3"
    zarr_format: ClassVar[int | None] = 3
    has_dimension_names: ClassVar[bool] = True
    default_compressor: ClassVar[str] = "zstd"
    documents: ClassVar[tuple[str, ...]] = (_DOCUMENT,)

    def reserved(self, name: str) -> str | None:
        return reserved(name)

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        """Return the chunk key encoding of new arrays; others than v3's become the default with their separator."""
        if given is None:
            return ChunkKeys.default()
        return given if given.name in ("default", "v2") else ChunkKeys.default(given.separator)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | GroupMeta | None:
        prefix = f"{path}/" if path else ""
        raw = documents.get(prefix + _DOCUMENT)
        if raw is None:
            return None
        meta = _remember((raw if type(raw) is bytes else bytes(raw),), prefix, notices)
        if type(raw) is Versioned and meta is not None and meta.source is not None:
            meta = replace(meta, source=Stored(meta.source, {_DOCUMENT: raw}))
        if isinstance(meta, GroupMeta) and isinstance(meta.consolidated, Consolidated):
            # The one that is remembered has no prefix, and its nodes would be those of all.
            return meta.with_consolidated(meta.consolidated.of_document(prefix + _DOCUMENT))
        return meta

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        key = self.document_keys(path)[0]
        problems = Problems()
        check_names(path, self.name_problem, problems)
        problems.raise_any(key=key)
        raw = dump(v3_group.encode_node(meta), key)
        # Never store what could not be read again. This also remembers the document, which is often read again soon.
        self.decode(path, {key: raw})
        return {key: raw}


V3: Final = V3Format()


def _decode(documents: Documents, prefix: str, notices: list[Notice]) -> ArrayMeta | GroupMeta | None:
    (raw,) = documents
    assert raw is not None
    problems = Problems(notices)
    document = load(raw, problems)
    if document is not None and document.get("zarr_format") != 3 and is_entry(document):
        return None
    if document is not None and document.get("node_type") == "array":
        document = Stored(document, {_DOCUMENT: raw})
    meta = None if document is None else v3_group.decode_node(document, problems, prefix + _DOCUMENT)
    problems.raise_any(key=prefix + _DOCUMENT, document=document)
    assert meta is not None
    return meta


_remember: Final[RememberedNodes[ArrayMeta | GroupMeta]] = RememberedNodes(_decode)


def forget() -> None:
    """Decode the documents anew that were decoded before."""
    _remember.forget()
    v3_array.REMEMBERED.clear()


TAG: Final = "v3_implicit"
"""The value of `GroupMeta.format` for a group without a document."""


class _V3Implicit(V3Format):
    """The format of hierarchies with implicit groups, which the specification had until April 2024.

    https://github.com/zarr-developers/zarr-specs/pull/292

    Zarr v3 has none any more: a path without a document is not listed in a group, and nothing below it is found. Only
    if such a path is opened itself, and there is a node somewhere below it, it is read as a group, with a warning, and
    so are the paths in it that lead to nodes. Its format is `TAG`; nodes that are created in it have plain v3.
    """

    implicit_groups: ClassVar[bool] = True


V3_IMPLICIT: Final = _V3Implicit()
