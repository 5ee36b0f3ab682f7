"""The metadata of a whole hierarchy inside one document, decoded one node at a time.

The copies may be older than the documents that they were made from; nothing in any format tells. Opening a group
checks only their names. A node whose copy does not conform is an error when that node is asked for, and hides no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.problems import Notice, Problems, warn_of

__all__ = ["Consolidated", "Decode", "Load"]

Node: TypeAlias = ArrayMeta | GroupMeta
Decode: TypeAlias = Callable[[str, Any, Problems], Node | None]
"""Makes a node of a path and what is stored for it, or adds problems, with their place in the whole document."""
Load: TypeAlias = Callable[[list[Notice]], Mapping[str, Any]]
"""Parses what is stored for each node, and adds what is doubtful about it to the list."""


class Consolidated(Mapping[str, Node]):
    """The nodes below a group, by path relative to it.

    Parameters
    ----------
    documents
        What is stored for each node, parsed; or a function that parses it when it is needed.
    decode
        What makes a node of that.
    key
        The key of the document that they are in, for errors.
    format
        The name of the format of that document.
    start
        What the paths in the document begin with, before those relative to the group.
    """

    __slots__ = ("_decode", "_documents", "_key", "_nodes", "_start", "format")

    def __init__(
        self, documents: Mapping[str, Any] | Load, decode: Decode, key: str, format: str, start: str = ""
    ) -> None:
        self._documents = documents
        self._decode = decode
        self._key = key
        self._nodes: dict[str, tuple[Node, list[Notice]]] = {}
        self._start = start
        self.format = format

    def __getitem__(self, path: str) -> Node:
        node, notices = self.decode(path)
        if notices:
            warn_of(notices)
        return node

    def __iter__(self) -> Iterator[str]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def __contains__(self, path: object) -> bool:
        # Without decoding it: also what does not conform is there.
        return path in self.documents

    def __repr__(self) -> str:
        return f"Consolidated({', '.join(self)})"

    @property
    def document_name(self) -> str:
        """The last part of the key of the document that they are in."""
        return self._key.rpartition("/")[2]

    @property
    def documents(self) -> Mapping[str, Any]:
        """What is stored for each node, parsed.

        Raises
        ------
        MetadataError
            When the document as a whole does not conform, and was not looked at before.
        """
        warn_of(self.load())
        assert isinstance(self._documents, Mapping)
        return self._documents

    def load(self) -> list[Notice]:
        """Parse the document if that was not done before, and return what is doubtful about it.

        Raises
        ------
        MetadataError
            The document as a whole does not conform.
        """
        notices: list[Notice] = []
        if not isinstance(self._documents, Mapping):
            self._documents = self._documents(notices)
        return notices

    def decode(self, path: str) -> tuple[Node, list[Notice]]:
        """Return the node at a path with what is doubtful about its documents, decoded on the first call.

        Raises
        ------
        KeyError
            There is no copy of this node.
        MetadataError
            The copy, or the document as a whole, does not conform.
        """
        found = self._nodes.get(path)
        if found is None:
            document = self.documents[path]
            problems = Problems()
            node = self._decode(self._start + path, document, problems)
            problems.raise_any(key=self._key, document=document)
            assert node is not None, path
            found = self._nodes[path] = node, problems.notices
        return found

    def below(self, path: str) -> Consolidated:
        """The nodes below the group at this path, relative to that group."""
        start = f"{path}/"
        inner = {name[len(start) :]: document for name, document in self.documents.items() if name.startswith(start)}
        return Consolidated(inner, self._decode, self._key, self.format, self._start + start)
