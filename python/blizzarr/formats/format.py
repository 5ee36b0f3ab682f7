"""What a format is: the methods that an instance of its class has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from blizzarr.errors import BlizzarrError
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice

__all__ = ["Child", "Format", "Found", "Node", "Store"]

Node: TypeAlias = ArrayMeta | GroupMeta


class Store(Protocol):
    """The part of a store that metadata need."""

    def get(self, key: str, /) -> Any:
        """The value of a key, or `None`."""

    def set(self, key: str, value: bytes, /) -> None:
        """Replaces the value of a key, atomically."""

    def list_dir(self, prefix: str = "", /) -> tuple[Sequence[str], Sequence[str]]:
        """The keys and the prefixes directly below a prefix."""


class Found(NamedTuple):
    """A node and the documents by key that make it; a group known only from its children has no documents."""

    meta: Node
    documents: dict[str, bytes]
    notices: Sequence[Notice] = ()
    """What is doubtful about the documents."""


class Child(NamedTuple):
    """A node directly below another one; when it cannot be read, `error` says why and `meta` is `None`."""

    name: str
    meta: Node | None
    error: BlizzarrError | None = None
    notices: Sequence[Notice] = ()
    """What is doubtful about the documents."""


class Format(Protocol):
    """The methods of a format. Paths have no slash at either end; the root's is empty."""

    @property
    def name(self) -> str:
        """What `ArrayMeta.format` and `GroupMeta.format` say."""

    @property
    def zarr_format(self) -> int | None:
        """The number that users know it by; the draft of v3 has that of v3, and what is not Zarr has none."""

    @property
    def entry_key(self) -> str | None:
        """The key of a document of the hierarchy as a whole, which `decode` needs too; `None` in most formats."""

    @property
    def implicit_groups(self) -> bool:
        """Whether what has nodes below it is a group without any document."""

    @property
    def has_dimension_names(self) -> bool:
        """Whether arrays have names of dimensions; where not, an attribute stands for them."""

    @property
    def has_null_fill(self) -> bool:
        """Whether a fill value may be null, which leaves open what unwritten elements are."""

    @property
    def default_compressor(self) -> str:
        """The codec that new arrays get unless told otherwise."""

    @property
    def index_codecs(self) -> tuple[str, ...] | None:
        """The codecs that the index of new shards gets; `None` for what the codec of shards chooses."""

    def node_keys(self, path: str, /) -> tuple[str, ...]:
        """The keys of the documents each of which makes a node; first that of an array, whose locks go by it."""

    def document_keys(self, path: str, /) -> tuple[str, ...]:
        """The keys of all documents that may belong to a node, beginning with `node_keys`."""

    def decode(self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None, /) -> Node | None:
        """Decode the node that these documents make; `None` when they make none of this format.

        What is doubtful about them is added to the list `notices`, if one is given; also when there is an error.

        Raises
        ------
        MetadataError
            The documents do not conform; the error has all problems.
        """

    def encode(self, meta: Any, path: str, /) -> dict[str, bytes]:
        """The documents of a node, in the order in which they are stored: the one that makes it a node is last.

        Documents that the node had and that are not among these are removed.

        Raises
        ------
        MetadataError
            With everything that this format cannot express.
        """

    def entry_documents(self) -> dict[str, bytes]:
        """What a hierarchy must have as a whole, by key, before it has nodes."""

    def groups_above(self, path: str, /) -> tuple[str, ...]:
        """The paths, outermost first, at which there must be groups so that a node can be at this one."""

    def chunk_prefix(self, path: str, /) -> str:
        """What the keys of an array's chunks begin with."""

    def node_prefixes(self, path: str, /) -> tuple[str, ...]:
        """Prefixes: every key of the node, and of nodes below it, has one of these, or is among `document_keys`."""

    def listing_prefix(self, path: str, /) -> str | None:
        """The prefix below which the children of a group show up in a listing; `None` where there are no groups."""

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str], /) -> list[str]:
        """The names of what may be children of a group, from such a listing; their documents tell whether they are."""

    def name_problem(self, name: str, /) -> str | None:
        """Why no node may have this name; `None` when one may."""

    def node_of(self, key: str, /) -> str | None:
        """The path of the node that a document with this key belongs to; `None` for other keys."""

    def chunk_keys(self, given: ChunkKeys | None, /) -> ChunkKeys:
        """The chunk key encoding of new arrays, where one is wanted (its separator counts), and where not.

        Raises
        ------
        MetadataError
            When this format has no such keys.
        """
