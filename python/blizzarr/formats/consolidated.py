"""Consolidated metadata: the metadata of a hierarchy in one document, decoded one node at a time.

The copies may be older than the documents; no format has a way to tell. Opening a group checks only names. A copy that
does not conform raises an error when its node is accessed, and does not affect other nodes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from blizzarr.errors import Problem
from blizzarr.formats.format import Node
from blizzarr.model.names import ancestors
from blizzarr.printable import printable
from blizzarr.problems import Notice, Problems, warn_of

Decode: TypeAlias = Callable[[str, Any, Problems], Node | None]
"""Decodes what is stored for the node at a path; problems have their path in the whole document."""
Load: TypeAlias = Callable[[list[Notice]], Mapping[str, Any]]
"""Parses the document into what is stored for each node, and adds notices to the list."""


class Consolidated(Mapping[str, Node]):
    """The nodes below a group, by path relative to it.

    - `documents`: the parsed documents by path, or a function that parses them when they are needed.
    - `decode`: the function that decodes one of them.
    - `key`: the key of the whole document, for errors.
    - `format`: the name of the format of the document.
    - `start`: the prefix of the paths in the document, which precedes the paths relative to the group.
    """

    def __init__(
        self, documents: Mapping[str, Any] | Load, decode: Decode, key: str, format: str, start: str = ""
    ) -> None:
        self._documents = documents
        self._decode = decode
        self._key = key
        self._nodes: dict[str, tuple[Node, list[Notice]]] = {}
        self._names: list[str] | None = None
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
        # Without decoding: a copy that does not conform counts, too.
        return path in self.documents

    def __repr__(self) -> str:
        return printable(f"Consolidated({', '.join(self)})")

    def __reduce__(self) -> tuple[object, ...]:
        # The nodes below a group are parsed by a function inside of another, which cannot be pickled.
        return Consolidated, (self.documents, self._decode, self._key, self.format, self._start)

    @property
    def document_name(self) -> str:
        """The last part of the key of the whole document."""
        return self._key.rpartition("/")[2]

    @property
    def documents(self) -> Mapping[str, Any]:
        """The parsed documents by path.

        Raise `MetadataError` if the document as a whole does not conform; only on the first access.
        """
        warn_of(self.load())
        assert isinstance(self._documents, Mapping)
        return self._documents

    def load(self) -> list[Notice]:
        """Parse the document if that was not done before, and return what is doubtful about it.

        Raise `MetadataError` if the document as a whole does not conform.
        """
        notices: list[Notice] = []
        documents = self._documents  # which another thread may parse meanwhile
        if not isinstance(documents, Mapping):
            self._documents = documents(notices)
        return notices

    def decode(self, path: str) -> tuple[Node, list[Notice]]:
        """Return the node at a path with what is doubtful about its documents, decoded on the first call.

        Raise `KeyError` if there is no copy of this node. Raise `MetadataError` if the copy, or the document as a
        whole, does not conform.
        """
        decoded = self._nodes.get(path)
        if decoded is None:
            document = self.documents[path]
            problems = Problems()
            node = self._decode(self._start + path, document, problems)
            problems.raise_any(key=self._key, document=document)
            assert node is not None, path
            decoded = self._nodes[path] = node, problems.notices
        return decoded

    def of_document(self, key: str) -> Consolidated:
        """Return the same with another key of the whole document, and with nodes of its own."""
        return Consolidated(self._documents, self._decode, key, self.format, self._start)

    def below(self, path: str) -> Consolidated:
        """Return the nodes below the group at this path, relative to that group."""
        start = f"{path}/"

        def inner(notices: list[Notice]) -> Mapping[str, Any]:
            if self._names is None:
                self._names = sorted(self.documents)
            # The character after the slash ends the range of what begins with the slash.
            names = self._names[bisect_left(self._names, start) : bisect_left(self._names, f"{path}0")]
            return {name[len(start) :]: self.documents[name] for name in names}

        return Consolidated(inner, self._decode, self._key, self.format, self._start + start)


def check_entry(
    path: str,
    where: Callable[[], str],
    document: Any,
    is_array: Callable[[str], bool],
    rule: Callable[[str], str | None],
    problems: Problems,
) -> None:
    """Add problems for a path that does not lead below the group, or is below an array, and for invalid documents.

    `where` makes the JSON path of the copy, `rule` the one for names of nodes.
    """
    wrong = next(filter(None, map(rule, path.split("/"))), None)
    if wrong is not None:
        problems.items.append(Problem(where(), "a path below this group", wrong))
        return
    if type(document) is not dict:
        problems.add(where(), "the document of a node", document)
    if any(map(is_array, ancestors(path)[1:])):
        problems.add(where(), "no node below an array", path)
