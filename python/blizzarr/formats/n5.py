"""N5: datasets whose document is ``attributes.json``, beside blocks in a directory for each index.

https://github.com/saalfeldlab/n5#file-system-specification

Groups of N5 are directories, with or without attributes, of which nothing tells them from others; so there are none
here. The path of a node is where in a store the dataset is.

Opening the same document again, byte by byte, is remembered.
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
"""What every library for N5 takes for a dataset."""


class N5Format(WithoutGroups):
    """The format of datasets of N5."""

    name: ClassVar[str] = "n5"
    zarr_format: ClassVar[int | None] = None
    has_dimension_names: ClassVar[bool] = True
    has_null_fill: ClassVar[bool] = False
    default_compressor: ClassVar[str] = "blosc"
    documents: ClassVar[tuple[str, ...]] = (_DOCUMENT,)

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        """The chunk key encoding of new arrays: the indices with a slash between them.

        Raises
        ------
        MetadataError
            When another separator is wanted.
        """
        return only_keys(ChunkKeys.v2("/"), given)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | None:
        """The array at a path; `None` when the document is that of a group, or something else of that name.

        Raises
        ------
        MetadataError
            With everything that is wrong with the document.
        """
        (key,) = self.node_keys(path)
        given = documents.get(key)
        if given is None:
            return None
        raw = bytes(given)
        return _remember(raw, key, notices)

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        """The document of an array.

        Raises
        ------
        MetadataError
            With everything that N5 cannot express; groups are the first.
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
            # Compared as text, which tells `true` from 1; the white space is whoever's wrote it.
            raw = meta.source.raw[_DOCUMENT]
        # Nothing is stored that could not be read again.
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
    """Whether a document is to be that of a dataset; one that nobody can read is when it has the words for it."""
    if document is None:
        return all(b'"%b"' % sign.encode() in raw for sign in _SIGNS)
    return all(sign in document for sign in _SIGNS)
