"""Zarr v1: one array per store, its documents ``meta`` and ``attrs`` beside its chunks.

https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html

There are no groups and no paths: each array has a store of its own. The path of a node is the place of that store in a
larger one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from blizzarr.errors import Problem
from blizzarr.formats.attributes import dump_attributes, with_own_document
from blizzarr.formats.dimension_names import with_names
from blizzarr.formats.document import Stored, dump, load
from blizzarr.formats.sibling_documents import WithoutGroups, only_keys
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice, Problems

_META: Final = "meta"
_ATTRIBUTES: Final = "attrs"
_SIGNS: Final = {"chunks", "compression", "compression_opts"}


class V1Format(WithoutGroups):
    """The format of arrays of Zarr v1."""

    name: ClassVar[str] = "v1"
    zarr_format: ClassVar[int | None] = 1
    has_null_fill: ClassVar[bool] = True
    has_field_orders: ClassVar[bool] = True
    default_compressor: ClassVar[str] = "blosc"
    documents: ClassVar[tuple[str, ...]] = (_META, _ATTRIBUTES)

    def node_keys(self, path: str) -> tuple[str, ...]:
        return (f"{path}/{_META}" if path else _META,)

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        return only_keys(ChunkKeys.v2("."), given)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | None:
        key, attributes_key = self.document_keys(path)
        given = documents.get(key)
        if given is None:
            return None
        from blizzarr.formats import v1_array

        problems = Problems(notices)
        raws = {_META: bytes(given)}
        document = load(raws[_META], problems)
        if attributes_key in documents:
            raws[_ATTRIBUTES] = bytes(documents[attributes_key])
        if not _is_meant(document, _ATTRIBUTES in raws):
            return None
        meta = None if document is None else v1_array.decode(document, problems)
        return with_own_document(meta, document, raws, key.removesuffix(_META), problems)

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        """Encode the documents of an array: ``attrs``, too, if there are no attributes, as specified."""
        from blizzarr.formats import v1_array

        key, attributes_key = self.document_keys(path)
        problems = Problems()
        if not isinstance(meta, ArrayMeta):
            problems.items.append(Problem("", "an array: v1 has no groups", "a group"))
            problems.raise_any(key=key)
            raise AssertionError
        stored = meta.source.raw if meta.format == self.name and isinstance(meta.source, Stored) else {}
        attributes = with_names(meta.attributes, meta.dimension_names, len(meta.shape), problems)
        document = v1_array.encode(meta, problems)
        problems.raise_any(key=key)
        unchanged = document is meta.source and _META in stored
        raw = stored[_META] if unchanged else _dump(document, key)
        raw_attributes = dump_attributes(attributes, attributes_key, stored.get(_ATTRIBUTES), _dump)
        made = {attributes_key: raw_attributes, key: raw}
        # Never store what could not be read again.
        self.decode(path, made)
        return made


V1: Final = V1Format()


def _is_meant(document: dict[str, Any] | None, beside_attributes: bool) -> bool:
    """Return whether a file called ``meta``, a common name, is the document of an array.

    It is if it has the format number, or the members that no other document has; and if it cannot be parsed, if there
    is a file ``attrs`` beside it.
    """
    if document is None:
        return beside_attributes
    number = document.get("zarr_format")
    return (number == 1 and type(number) is int) or document.keys() >= _SIGNS


def _dump(content: Mapping[str, Any], key: str) -> bytes:
    """Encode a document as zarr-python 1 did: ASCII, sorted names, indented by four, every number on its own line.

    Raise `MetadataError` if a value cannot be expressed in JSON.
    """
    # The checks of values, and their errors, are the same for all formats.
    plain = json.loads(dump(content, key))
    return json.dumps(plain, indent=4, sort_keys=True).encode("ascii")
