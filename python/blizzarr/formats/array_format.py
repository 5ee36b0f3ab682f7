"""A base class for formats of other packages: arrays that have one JSON document each, and no groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from blizzarr.formats.document import Stored, dump, load
from blizzarr.formats.sibling_documents import WithoutGroups, only_keys
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice, Problems

_EXPRESSED: Final = (
    "shape",
    "dtype",
    "chunk_grid",
    "chunk_keys",
    "dimension_names",
    "attributes",
    "storage_transformers",
)
"""The members of an array that its document has to express."""


class ArrayFormat(WithoutGroups, ABC):
    """A format of arrays, each with one JSON document; see `Format` for the meaning of each member.

    A subclass has a `name`, the name of the document, the chunk keys, and methods that translate a document into an
    array and back. Everything that a document does not express is an error where an array is encoded.
    """

    name: ClassVar[str]
    documents: ClassVar[tuple[str, ...]]
    """The last part of the key of the document, in a tuple."""
    keys: ClassVar[ChunkKeys]
    """The chunk keys of all arrays."""

    @abstractmethod
    def decode_array(self, document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
        """Return the array of a document, with `keys`; add all problems of the document, and return None if there are
        any.
        """

    @abstractmethod
    def encode_array(self, meta: ArrayMeta, problems: Problems) -> Mapping[str, Any]:
        """Return the document of an array; add a problem for each member that the format cannot express."""

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        return only_keys(self.keys, given)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | None:
        (key,) = self.node_keys(path)
        if key not in documents:
            return None
        raw, problems = bytes(documents[key]), Problems(notices)
        document = load(raw, problems)
        meta = None if document is None else self.decode_array(document, problems)
        problems.raise_any(key=key, document=document)
        assert meta is not None, "as there are no problems"
        assert document is not None
        return replace(meta, format=self.name, source=Stored(document, {self.documents[0]: raw}))

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        (key,) = self.node_keys(path)
        problems = Problems()
        if not isinstance(meta, ArrayMeta):
            problems.add("", f"an array: {self.name} has no groups", "a group")
            problems.raise_any(key=key)
            raise AssertionError
        document = self.encode_array(meta, problems)
        problems.raise_any(key=key)
        made = {key: dump(document, key)}
        # Never store what could not be read again, or would be read as something else.
        read = self.decode(path, made)
        assert read is not None, "as its document is given"
        for name in _EXPRESSED:
            expressed, given = getattr(read, name), getattr(meta, name)
            if expressed != given:
                problems.add(name, f"{expressed!r}, as documents of {self.name} express no other", repr(given))
        if read.dtype == meta.dtype and read.chunk_grid == meta.chunk_grid:
            # A codec may have an option that does not matter for elements of this type.
            steps = [array.codecs.steps(array.dtype, array.largest) for array in (read, meta)]
            if steps[0] != steps[1]:
                problems.add("codecs", f"{_named(read)}, as documents of {self.name} express no other", _named(meta))
            fills = [array.dtype.fill_to_json(array.fill_value) for array in (read, meta)]
            if fills[0] != fills[1]:
                problems.add("fill_value", f"{fills[0]}, as documents of {self.name} express no other", fills[1])
        problems.raise_any(key=key)
        return made


def _named(meta: ArrayMeta) -> list[Any]:
    return [codec.to_json() for codec in meta.codecs.all]
