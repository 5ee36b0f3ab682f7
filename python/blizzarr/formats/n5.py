"""N5: datasets whose document is ``attributes.json``, beside blocks in a directory for each index.

https://github.com/saalfeldlab/n5#file-system-specification

Groups of N5 are directories with or without attributes, which cannot be told from other directories; so this format has
no groups. The path of a node is the place of the dataset in its store.

Decoded documents are remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from blizzarr.errors import Problem
from blizzarr.formats.document import dump, load
from blizzarr.formats.remembered_nodes import RememberedNodes
from blizzarr.formats.stored import Stored
from blizzarr.formats.without_groups import WithoutGroups, only_keys
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice, Problems

__all__ = ["N5", "N5Format"]


_DOCUMENT: Final = "attributes.json"
_SIGNS: Final = ("dimensions", "dataType")
"""The members by which every N5 library recognises a dataset."""


class N5Format(WithoutGroups):
    """The format of datasets of N5."""

    name: ClassVar[str] = "n5"
    zarr_format: ClassVar[int | None] = None
    has_dimension_names: ClassVar[bool] = True
    has_null_fill: ClassVar[bool] = False
    has_field_orders: ClassVar[bool] = False
    default_compressor: ClassVar[str] = "blosc"
    documents: ClassVar[tuple[str, ...]] = (_DOCUMENT,)

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        """Return the chunk key encoding of new arrays: the indices with a slash between them.

        Raises
        ------
        MetadataError
            Another separator was requested.
        """
        return only_keys(ChunkKeys.v2("/"), given)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | None:
        """Decode the array at a path; `None` if the document is not that of a dataset.

        Raises
        ------
        MetadataError
            The document does not conform; the error has all problems.
        """
        (key,) = self.node_keys(path)
        given = documents.get(key)
        if given is None:
            return None
        raw = bytes(given)
        return _remember(raw, key, notices)

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        """Encode the document of an array.

        Raises
        ------
        MetadataError
            N5 cannot express the node, like any group; the error has all problems.
        """
        from blizzarr.formats import n5_array

        (key,) = self.node_keys(path)
        problems = Problems()
        if not isinstance(meta, ArrayMeta):
            problems.items.append(Problem("", "an array: groups of N5 are directories without a document", "a group"))
            problems.raise_any(key=key)
            raise AssertionError
        document = n5_array.encode(meta, problems)
        problems.raise_any(key=key)
        raw = dump(document, key)
        if meta.format == self.name and isinstance(meta.source, Stored) and dump(meta.source, key) == raw:
            # Compared as text, which distinguishes `true` from 1; the stored white space is kept.
            raw = meta.source.raw[_DOCUMENT]
        # Never store what could not be read again.
        self.decode(path, {key: raw})
        return {key: raw}


N5: Final = N5Format()


def _decode(raw: bytes, key: str | None, notices: list[Notice]) -> ArrayMeta | None:
    from blizzarr.formats import n5_array

    problems = Problems(notices)
    document = load(raw, problems, attributes=True)
    if not _is_meant(document, raw):
        return None
    meta = None if document is None else n5_array.decode(document, problems)
    problems.raise_any(key=key, document=document)
    assert meta is not None
    assert document is not None
    return replace(meta, source=Stored(document, {_DOCUMENT: raw}))


_remember: Final[RememberedNodes[ArrayMeta]] = RememberedNodes(_decode)


def _is_meant(document: dict[str, Any] | None, raw: bytes) -> bool:
    """Return whether a document is that of a dataset; if it cannot be parsed, whether it contains the member names."""
    if document is None:
        return all(b'"%b"' % sign.encode() in raw for sign in _SIGNS)
    return all(sign in document for sign in _SIGNS)
