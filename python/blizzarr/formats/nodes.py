"""Nodes in a store, whatever their format: read, write, list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from blizzarr.errors import BlizzarrError, NodeNotFoundError
from blizzarr.formats import v3
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join

__all__ = [
    "FORMATS",
    "Child",
    "Format",
    "child_names",
    "children",
    "chunk_prefix",
    "decode",
    "detect",
    "document_keys",
    "get_many",
    "node_prefix",
    "read_node",
    "write_node",
]

Node: TypeAlias = ArrayMeta | GroupMeta


class Store(Protocol):
    """The part of a store that metadata need."""

    def get(self, key: str, /) -> Any:
        """The value of a key, or `None`."""

    def set(self, key: str, value: bytes, /) -> None:
        """Replaces the value of a key, atomically."""

    def list_dir(self, prefix: str = "", /) -> tuple[Sequence[str], Sequence[str]]:
        """The keys and the prefixes directly below a prefix."""


class Format(Protocol):
    """The functions of a format's module."""

    name: str

    def document_keys(self, path: str, /) -> tuple[str, ...]: ...
    def decode(self, path: str, documents: Mapping[str, bytes], /) -> Node | None: ...
    def encode(self, meta: Any, path: str, /) -> dict[str, bytes]: ...
    def chunk_prefix(self, path: str, /) -> str: ...
    def node_prefix(self, path: str, /) -> str: ...
    def listing_prefix(self, path: str, /) -> str: ...
    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str], /) -> list[str]: ...


FORMATS: Final[dict[str, Format]] = {v3.name: v3}
"""The formats in the order in which they are looked for."""

_OTHERS: Final = {
    ".zarray": "a Zarr v2 array",
    ".zgroup": "a Zarr v2 group",
    ".zmetadata": "a Zarr v2 hierarchy",
    "meta": "a Zarr v1 array",
    "attributes.json": "an N5 node",
    "meta/": "a hierarchy of a Zarr v3 draft",
}
_SHOWN: Final = 6


class Child(NamedTuple):
    """A node directly below another one; when it cannot be read, `error` says why and `meta` is `None`."""

    name: str
    meta: Node | None
    error: BlizzarrError | None = None


def get_many(store: Store, keys: Sequence[str]) -> list[Any]:
    """The values under many keys, `None` for each that is missing, in one request where the store has one."""
    at_once = getattr(store, "get_many", None) if len(keys) > 1 else None
    return [store.get(key) for key in keys] if at_once is None else list(at_once(keys))


def detect(store: Store, path: str) -> Node | None:
    """The node at a path in whatever format, or `None`."""
    keys = document_keys(path)
    pairs = zip(keys, get_many(store, keys), strict=True)
    documents = {key: value for key, value in pairs if value is not None}
    return decode(path, documents) if documents else None


def decode(path: str, documents: Mapping[str, bytes]) -> Node | None:
    """The node that these documents make, in whatever format, or `None`."""
    for form in FORMATS.values():
        node = form.decode(path, documents)
        if node is not None:
            return node
    return None


def read_node(store: Store, path: str) -> Node:
    """The array or group at a path.

    Raises
    ------
    NodeNotFoundError
        When there is none; the text says what was looked for and what is there.
    MetadataError
        When its documents do not conform.
    """
    node = detect(store, path)
    if node is not None:
        return node
    raise NodeNotFoundError(
        f"no array or group here: looked for {' and '.join(document_keys(path))}; {_what_is_there(store, path)}",
        array=f"/{path}",
        store=str(store),
    )


def document_keys(path: str) -> tuple[str, ...]:
    """The keys where documents of the node at a path may be, in any format."""
    return tuple(key for form in FORMATS.values() for key in form.document_keys(path))


def _what_is_there(store: Store, path: str) -> str:
    """A sentence for somebody who looked in the wrong place."""
    prefix = f"{path}/" if path else ""
    try:
        keys, prefixes = store.list_dir(prefix)
    except BlizzarrError:
        return "this store cannot tell what is there instead"
    names = [key[len(prefix) :] for key in (*prefixes, *keys)]
    if not names:
        return "nothing is there" if not path else f"nothing is there, {_nearest(store, path)}"
    other = next((name for name in _OTHERS if name in names), None)
    if other is not None:
        return f"it looks like {foreign(names)} ({other} is there)"
    more = "" if len(names) <= _SHOWN else f" and {len(names) - _SHOWN} more"
    return f"there are {', '.join(names[:_SHOWN])}{more}"


def foreign(names: Collection[str]) -> str | None:
    """What a place with these names in it is in a format that is not read here.

    Examples
    --------
    >>> foreign([".zattrs", ".zgroup", "a"]), foreign(["zarr.json"])
    ('a Zarr v2 group, which this version does not read', None)
    """
    found = next((what for name, what in _OTHERS.items() if name in names), None)
    return None if found is None else f"{found}, which this version does not read"


def _nearest(store: Store, path: str) -> str:
    """The closest ancestor that is a node, with what is below it."""
    parent = path
    while parent:
        parent = parent.rpartition("/")[0]
        try:
            node = detect(store, parent)
        except BlizzarrError as error:
            return f"and /{parent} cannot be read: {error}"
        if isinstance(node, ArrayMeta):
            return f"and /{parent} is an array, which has nothing below it"
        if node is not None:
            prefix = f"{parent}/" if parent else ""
            names = [inner[len(prefix) :].rstrip("/") for inner in store.list_dir(prefix)[1]]
            more = "" if len(names) <= _SHOWN else f" and {len(names) - _SHOWN} more"
            return f"the group /{parent} has {', '.join(names[:_SHOWN]) or 'no members'}{more}"
    return "and none of the groups above it is either"


def write_node(store: Store, path: str, meta: Node) -> None:
    """Stores the documents of a node; an old node at this path is replaced in one step."""
    for key, value in FORMATS[meta.format].encode(meta, path).items():
        store.set(key, value)


def chunk_prefix(path: str, meta: ArrayMeta) -> str:
    """What the keys of this array's chunks begin with."""
    return FORMATS[meta.format].chunk_prefix(path)


def node_prefix(path: str, meta: Node) -> str:
    """What all keys of this node, and of the nodes below it, begin with."""
    return FORMATS[meta.format].node_prefix(path)


def child_names(store: Store, path: str) -> list[str]:
    """The names of what may be nodes directly below a group, in order: one listing, whatever the formats."""
    listings: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
    names: set[str] = set()
    for form in FORMATS.values():
        prefix = form.listing_prefix(path)
        if prefix not in listings:
            listings[prefix] = store.list_dir(prefix)
        names.update(form.child_names(path, *listings[prefix]))
    return sorted(names)


def children(store: Store, path: str) -> Iterator[Child]:
    """The nodes directly below a group, by name; a damaged one does not hide the others."""
    for name in child_names(store, path):
        try:
            meta = detect(store, join(path, name))
        except BlizzarrError as error:
            yield Child(name, None, error)
            continue
        if meta is not None:
            yield Child(name, meta)
