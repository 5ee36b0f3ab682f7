"""The protocol of formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from blizzarr.errors import BlizzarrError
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice

Node: TypeAlias = ArrayMeta | GroupMeta


class StoredNode(NamedTuple):
    """A node and the documents by key that make it; a group known only from its children has no documents."""

    meta: Node
    documents: dict[str, bytes]
    notices: Sequence[Notice] = ()
    """The notices about the documents."""


class Child(NamedTuple):
    """A node directly below another one; when it cannot be read, `error` says why and `meta` is `None`."""

    name: str
    meta: Node | None
    error: BlizzarrError | None = None
    notices: Sequence[Notice] = ()
    """The notices about the documents."""


class Format(Protocol):
    """The methods of a format. Paths have no slash at either end; the root's is empty."""

    @property
    def name(self) -> str:
        """The name, as in `ArrayMeta.format` and `GroupMeta.format`."""

    @property
    def part(self) -> str:
        """What tells an array from the others in the same document; empty in formats whose documents have one array."""

    @property
    def zarr_format(self) -> int | None:
        """The number in ``zarr_format=``: 3 for the draft of v3 as well, `None` for formats other than Zarr."""

    @property
    def entry_key(self) -> str | None:
        """The key of the entry document of a hierarchy, which `decode` also needs; `None` in formats without one."""

    @property
    def implicit_groups(self) -> bool:
        """True if a path with nodes below it is a group even without a document."""

    @property
    def has_dimension_names(self) -> bool:
        """True if array documents have dimension names; otherwise an attribute holds them."""

    @property
    def has_null_fill(self) -> bool:
        """True if a fill value may be null, which leaves unwritten elements undefined."""

    @property
    def has_field_orders(self) -> bool:
        """True if each field of a struct may have a byte order of its own."""

    @property
    def default_compressor(self) -> str | None:
        """The name of the default compressor of new arrays; `None` if they have none."""

    @property
    def index_codecs(self) -> tuple[str, ...] | None:
        """The index codecs of new shards; `None` for the default of the sharding codec."""

    def of(self, meta: Any, /) -> Format:
        """Return the format that decodes this node again: another one where a document has several arrays."""

    def node_keys(self, path: str, /) -> tuple[str, ...]:
        """Return the keys of the documents each of which makes a node; the first, an array's, names its locks."""

    def document_keys(self, path: str, /) -> tuple[str, ...]:
        """Return the keys of all documents that may belong to a node, beginning with `node_keys`."""

    def decode(self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None, /) -> Node | None:
        """Decode the node that these documents make; `None` when they make none of this format.

        What is doubtful about them is added to the list `notices`, if one is given; also when there is an error.

        Raise `MetadataError` if the documents do not conform; the error has all problems.
        """

    def encode(self, meta: Any, path: str, /) -> dict[str, bytes]:
        """Encode the documents of a node, in the order in which to store them: the one that makes the node is last.

        Documents that the node had before and that are not among these are to be removed.

        Raise `MetadataError` if this format cannot express the node; the error has all problems.
        """

    def entry_documents(self) -> dict[str, bytes]:
        """Return the documents, by key, that a hierarchy must have before it has nodes."""

    def groups_above(self, path: str, /) -> tuple[str, ...]:
        """Return the paths, outermost first, that must be groups for a node to be at this path."""

    def chunk_prefix(self, path: str, /) -> str:
        """Return the prefix of the keys of an array's chunks."""

    def node_prefixes(self, path: str, /) -> tuple[str, ...]:
        """Return prefixes of which each key of the node and of nodes below it has one, except its `document_keys`."""

    def listing_prefix(self, path: str, /) -> str | None:
        """Return the prefix to list for the children of a group; `None` in formats without groups."""

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str], /) -> list[str]:
        """Return the names in such a listing that children may have; their documents tell whether they are nodes."""

    def name_problem(self, name: str, /) -> str | None:
        """Return why no node may have this name; `None` if it may."""

    def reserved(self, name: str, /) -> str | None:
        """Return why no new node should get this name, though nodes that have it are read; `None` if it may."""

    def node_of(self, key: str, /) -> str | None:
        """Return the path of the node to which a document with this key belongs; `None` for other keys."""

    def chunk_keys(self, given: ChunkKeys | None, /) -> ChunkKeys:
        """Return the chunk key encoding of new arrays: `given` in terms of this format, or the default for `None`.

        Raise `MetadataError` if this format has no such keys.
        """
