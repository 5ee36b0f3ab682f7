"""Zarr v3: one document per node, ``zarr.json``, beside the node's children and chunks.

https://zarr-specs.readthedocs.io/en/latest/v3/core/

Opening the same document again, byte by byte, is remembered; see `decode`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from blizzarr.errors import LimitError, MetadataError
from blizzarr.formats import v3_group
from blizzarr.formats.beside import (
    check_names,
    chunk_prefix,
    entry_documents,
    groups_above,
    listing_prefix,
    names_below,
    node_prefixes,
)
from blizzarr.formats.copied_attributes import pack, unpack
from blizzarr.formats.document import dump, load
from blizzarr.formats.draft.entry import is_entry
from blizzarr.formats.remembering import Remembering
from blizzarr.formats.v3_resized import resized
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.model.names import name_problem
from blizzarr.problems import Problems

__all__ = [
    "child_names",
    "chunk_keys",
    "chunk_prefix",
    "decode",
    "default_compressor",
    "document_keys",
    "encode",
    "entry_documents",
    "entry_key",
    "groups_above",
    "has_dimension_names",
    "has_null_fill",
    "implicit_groups",
    "index_codecs",
    "listing_prefix",
    "name",
    "name_problem",
    "node_keys",
    "node_of",
    "node_prefixes",
    "zarr_format",
]

name: Final = "v3"
zarr_format: Final = 3
entry_key: Final = None
implicit_groups: Final = False
has_dimension_names: Final = True
has_null_fill: Final = False
index_codecs: Final = None
default_compressor: Final = "zstd"

_DOCUMENT: Final = "zarr.json"

_SMALL: Final = 2**14
"""How many bytes a document has at most that is remembered."""


def document_keys(path: str) -> tuple[str, ...]:
    """The keys of the documents that may belong to a node: one."""
    return (f"{path}/{_DOCUMENT}" if path else _DOCUMENT,)


node_keys = document_keys


def node_of(key: str) -> str | None:
    """The path of the node that a document with this key belongs to; `None` for other keys."""
    path, _, last = key.rpartition("/")
    return path if last == _DOCUMENT else None


def child_names(path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
    """The names of what may be children of a group, from a listing of its `listing_prefix`."""
    return names_below(path, prefixes, name_problem)


def chunk_keys(given: ChunkKeys | None) -> ChunkKeys:
    """The chunk key encoding of new arrays; those of other formats become the default with their separator."""
    if given is None:
        return ChunkKeys.default()
    return given if given.name in ("default", "v2") else ChunkKeys.default(given.separator)


def decode(path: str, documents: Mapping[str, bytes]) -> ArrayMeta | GroupMeta | None:
    """The node at a path; `None` when its document is not among these.

    Raises
    ------
    MetadataError
        With everything that is wrong with the document.
    LimitError
        When the document conforms but asks for too much.
    """
    key = f"{path}/zarr.json" if path else "zarr.json"
    raw = documents.get(key)
    if raw is None:
        return None
    if type(raw) is not bytes:
        raw = bytes(raw)
    try:
        if len(raw) > _SMALL:
            return _decode(raw, key)
        remembered = _remember(raw)
    except (MetadataError, LimitError) as error:
        error.key = key
        raise
    if remembered is None:
        return None
    meta, packed = remembered
    return meta.with_attributes(meta.attributes if packed is None else unpack(packed))


def _decoded(raw: bytes) -> tuple[ArrayMeta | GroupMeta, bytes | None] | None:
    meta = _decode(raw, None)
    return None if meta is None else _packed(meta)


def _packed(meta: ArrayMeta | GroupMeta) -> tuple[ArrayMeta | GroupMeta, bytes | None]:
    return meta, pack(meta.attributes)


_remember: Final = Remembering(_decoded)


def _decode(raw: bytes, key: str | None) -> ArrayMeta | GroupMeta | None:
    problems = Problems()
    document = load(raw, problems)
    if document is not None and is_entry(document):
        return None
    meta = None if document is None else v3_group.decode_node(document, problems, key or "zarr.json")
    problems.raise_any(key=key, document=document)
    assert meta is not None
    return meta


def encode(meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
    """The documents of a node, by key; they are stored in this order, the one without which there is no node last.

    Raises
    ------
    MetadataError
        When the node, or a value among its attributes, is nothing that could be read again.
    """
    key = document_keys(path)[0]
    problems = Problems()
    check_names(path, name_problem, problems)
    problems.raise_any(key=key)
    if isinstance(meta, ArrayMeta) and (known := resized(meta)) is not None:
        if len(known.raw) <= _SMALL:
            _remember.put(known.raw, _packed(known.meta))
        return {key: known.raw}
    raw = dump(v3_group.encode_node(meta), key)
    # Nothing is stored that could not be read again; and what is stored is often read again soon.
    decode(path, {key: raw})
    return {key: raw}
