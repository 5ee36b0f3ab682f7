"""The metadata of a whole hierarchy inside the document of its root, decoded one node at a time.

https://zarr-specs.readthedocs.io/en/latest/v3/core/#additional-fields

The copies may be older than the documents that they were made from; nothing in the format tells. Opening a group
checks only their names. A node whose copy does not conform is an error when that node is asked for, and hides no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from blizzarr.errors import MetadataError, Problem
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import name_problem
from blizzarr.problems import MISSING, Problems, describe

__all__ = ["Consolidated", "check"]

Node: TypeAlias = ArrayMeta | GroupMeta


class Consolidated(Mapping[str, Node]):
    """The nodes below a group, by path relative to it.

    Parameters
    ----------
    documents
        The parsed document of each node.
    decode
        What makes a node of a document.
    key
        The key of the document that they are in, for errors.
    """

    __slots__ = ("_decode", "_documents", "_key", "_nodes")

    def __init__(
        self, documents: Mapping[str, Any], decode: Callable[[dict[str, Any], Problems], Node | None], key: str
    ) -> None:
        self._documents = documents
        self._decode = decode
        self._key = key
        self._nodes: dict[str, Node] = {}

    def __getitem__(self, path: str) -> Node:
        node = self._nodes.get(path)
        if node is None:
            document = self._documents[path]
            problems = Problems()
            node = self._decode(document, problems)
            place = _place(path)
            problems.items = [Problem(f"{place}.{problem.path}", *problem[1:]) for problem in problems.items]
            problems.raise_any(key=self._key, document=document)
            if node is None:
                raise MetadataError(key=self._key, problems=[Problem(place, "an array or a group", "neither")])
            self._nodes[path] = node
        return node

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)

    def __repr__(self) -> str:
        return f"Consolidated({', '.join(self)})"

    @property
    def documents(self) -> Mapping[str, Any]:
        """The parsed documents, as they were stored."""
        return self._documents

    def below(self, path: str) -> Consolidated:
        """The nodes below the group at this path, relative to that group."""
        start = f"{path}/"
        inner = {name[len(start) :]: document for name, document in self._documents.items() if name.startswith(start)}
        return Consolidated(inner, self._decode, self._key)


def _place(path: str) -> str:
    return f"consolidated_metadata.metadata[{describe(path)}]"


def check(value: Any, problems: Problems) -> Mapping[str, Any] | None:
    """The documents in a `consolidated_metadata` member; `None` when there are none, or a problem was added."""
    if value is None:
        # Not in the specification, but some releases of zarr-python wrote it for "none".
        return None
    place = "consolidated_metadata"
    if type(value) is not dict:
        problems.add(place, "an object", value)
        return None
    before = len(problems.items)
    if value.get("kind") != "inline":
        problems.add(f"{place}.kind", '"inline"', value.get("kind", MISSING))
    if value.get("must_understand") is not False:
        problems.add(f"{place}.must_understand", "false", value.get("must_understand", MISSING))
    for name in value:
        if name not in ("kind", "must_understand", "metadata"):
            problems.add(f"{place}.{name}", "no such member", value[name])
    documents = value.get("metadata", MISSING)
    if type(documents) is not dict:
        problems.add(f"{place}.metadata", "an object", documents)
        return None
    for path, document in documents.items():
        _check_entry(path, document, documents, problems)
    return documents if len(problems.items) == before else None


def _check_entry(path: str, document: Any, documents: Mapping[str, Any], problems: Problems) -> None:
    """A path that leads below the group, and a document there; not below an array."""
    where = _place(path)
    names = path.split("/")
    for name in names:
        problem = name_problem(name)
        if problem is not None:
            problems.items.append(Problem(where, "a path below this group", problem))
            return
    if type(document) is not dict:
        problems.add(where, "the document of a node", document)
    for depth in range(1, len(names)):
        parent = documents.get("/".join(names[:depth]))
        if type(parent) is dict and parent.get("node_type") == "array":
            problems.add(where, "no node below an array", path)
