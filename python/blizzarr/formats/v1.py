"""Zarr v1: one array per store, its documents ``meta`` and ``attrs`` beside its chunks.

https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html

There are no groups and no paths. A store that holds several such arrays in different directories is several stores; the
path of a node here is where in the larger store the smaller one is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from blizzarr.errors import MetadataError, Problem
from blizzarr.formats import v1_array
from blizzarr.formats.attributes import dump_attributes, load_attributes
from blizzarr.formats.beside import chunk_prefix, entry_documents, node_prefixes
from blizzarr.formats.dimension_names import names_in, with_names
from blizzarr.formats.document import dump, load
from blizzarr.formats.stored import Stored
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
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
    "node_keys",
    "node_of",
    "node_prefixes",
    "zarr_format",
]

name: Final = "v1"
zarr_format: Final = 1
entry_key: Final = None
implicit_groups: Final = False
has_dimension_names: Final = False
has_null_fill: Final = True
index_codecs: Final = None
default_compressor: Final = "blosc"

_META: Final = "meta"
_ATTRIBUTES: Final = "attrs"


def node_keys(path: str) -> tuple[str, ...]:
    """The key of the document that makes an array."""
    return (chunk_prefix(path) + _META,)


def document_keys(path: str) -> tuple[str, ...]:
    """The keys of the documents of an array."""
    prefix = chunk_prefix(path)
    return prefix + _META, prefix + _ATTRIBUTES


def node_of(key: str) -> str | None:
    """The path of the array that a document with this key belongs to; `None` for other keys."""
    path, _, last = key.rpartition("/")
    return path if last in (_META, _ATTRIBUTES) else None


def groups_above(path: str) -> tuple[str, ...]:
    """The paths at which there must be groups: none, as there are no groups."""
    return ()


def listing_prefix(path: str) -> None:
    """Where children show up in a listing: nowhere, as there are no groups."""


def child_names(path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
    """The names of children of a group: there are none."""
    return []


def chunk_keys(given: ChunkKeys | None) -> ChunkKeys:
    """The chunk key encoding of new arrays: the indices with a period between them.

    Raises
    ------
    MetadataError
        When another separator is wanted.
    """
    wanted = ChunkKeys.v2(".")
    if given is not None and given.name == wanted.name and given != wanted:
        raise MetadataError(problems=[Problem("chunk_key_encoding.separator", '"."', repr(given.separator))])
    return wanted


def decode(path: str, documents: Mapping[str, bytes]) -> ArrayMeta | None:
    """The array at a path; `None` when there is no ``meta``, or a file of that name which is something else.

    Raises
    ------
    MetadataError
        With everything that is wrong with the documents.
    """
    key, attributes_key = document_keys(path)
    given = documents.get(key)
    if given is None:
        return None
    raw, raw_attributes = bytes(given), documents.get(attributes_key)
    problems = Problems()
    document = load(raw, problems)
    if document is None or document.get("zarr_format") != 1 or type(document["zarr_format"]) is not int:
        if document is None and raw_attributes is not None:
            # Anybody may have a file called meta, but hardly together with one called attrs.
            problems.raise_any(key=key)
        return None
    meta = v1_array.decode(document, problems)
    problems.raise_any(key=key, document=document)
    raws = {_META: raw}
    attributes: dict[str, Any] = {}
    if raw_attributes is not None:
        raws[_ATTRIBUTES] = bytes(raw_attributes)
        attributes = load_attributes(raws[_ATTRIBUTES], problems)
        problems.raise_any(key=attributes_key)
    assert meta is not None
    names = names_in(attributes, len(meta.shape))
    return replace(meta, attributes=attributes, dimension_names=names, source=Stored(document, raws))


def encode(meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
    """The documents of an array; ``attrs`` too where there are no attributes, as the specification wants it.

    Raises
    ------
    MetadataError
        With everything that v1 cannot express; groups are the first.
    """
    key, attributes_key = document_keys(path)
    problems = Problems()
    if not isinstance(meta, ArrayMeta):
        problems.items.append(Problem("", "an array: v1 has no groups", "a group"))
        problems.raise_any(key=key)
        raise AssertionError
    stored = meta.source.raw if meta.format == name and isinstance(meta.source, Stored) else {}
    attributes = with_names(meta.attributes, meta.dimension_names, len(meta.shape), problems)
    document = v1_array.encode(meta, problems)
    problems.raise_any(key=key)
    raw = dump(document, key)
    if _META in stored and dump(load(stored[_META], Problems()) or {}, key) == raw:
        raw = stored[_META]
    made = {attributes_key: dump_attributes(attributes, attributes_key, stored.get(_ATTRIBUTES)), key: raw}
    # Nothing is stored that could not be read again.
    decode(path, made)
    return made
