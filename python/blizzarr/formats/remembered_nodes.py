"""A cache of decoded documents: opening a document with the same bytes again does not decode it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar

from blizzarr.bounded_cache import BoundedCache
from blizzarr.errors import BlizzarrError
from blizzarr.formats.attributes import pack, unpack
from blizzarr.formats.document import Stored
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.problems import Notice

N = TypeVar("N", bound=ArrayMeta | GroupMeta)

_MOST: Final = 2**11

_UNKNOWN: Final[Any] = object()
_SMALL: Final = 2**14
"""The size in bytes of the largest document of many that are remembered."""
_LARGEST: Final = 2**22
"""The size in bytes of the largest document that is remembered; of those that are not small, only the last is."""


Documents: TypeAlias = tuple[bytes | None, ...]
"""The documents of a node, each at its place; `None` for one that there is not."""


def are_small(documents: Iterable[bytes | None]) -> bool:
    """Return whether what such documents say may be remembered for many nodes at a time."""
    return max(map(len, filter(None, documents)), default=0) <= _SMALL


def is_small(meta: ArrayMeta | GroupMeta) -> bool:
    """Return whether a node comes from such documents."""
    return isinstance(meta.source, Stored) and are_small(meta.source.raw.values())


class RememberedNodes(Generic[N]):
    """The nodes that `decode` makes of documents, or `None` for documents of no node; each call copies the attributes.

    The notices about documents are remembered with their node. Errors are not remembered; they get the prefix of the
    documents. Of documents longer than 16 KiB only the last is remembered, and of those longer than 4 MiB, or with a
    fallback data type, none.

    - `decode`: a function ``(documents, prefix, notices)`` that adds to the list `notices`. `prefix` is that of the
      keys of the documents, and empty if the result is remembered.

    >>> nodes = RememberedNodes(lambda documents, prefix, notices: GroupMeta({"length": [len(documents[0])]}))
    >>> nodes((b"abc",), "a/").attributes["length"].append(0)
    >>> nodes((b"abc",), "a/").attributes
    {'length': [3]}
    """

    def __init__(self, decode: Callable[[Documents, str, list[Notice]], N | None]) -> None:
        self._decode = decode
        self._kept: BoundedCache[Documents, tuple[N, bytes | None, Sequence[Notice]] | None] = BoundedCache(_MOST)

    def __call__(self, documents: Documents, prefix: str, notices: list[Notice] | None = None) -> N | None:
        """Return the node of the documents whose keys have this prefix; what is doubtful is added to `notices`."""
        known: tuple[N, bytes | None, Sequence[Notice]] | None = self._kept.get(documents, _UNKNOWN)
        if known is _UNKNOWN:
            length = max(map(len, filter(None, documents)), default=0)
            is_kept = length <= _LARGEST
            new: list[Notice] = []
            try:
                meta = self._decode(documents, "" if is_kept else prefix, new)
            except BlizzarrError as error:
                if is_kept and error.key is not None:
                    error.key = prefix + error.key
                raise
            finally:
                if notices is not None:
                    notices += new
            # Whether a fallback data type may be used depends on a setting, which may change.
            if not is_kept or (new and any(notice.kind == "fallback" for notice in new)):
                return meta
            known = None if meta is None else (meta, pack(meta.attributes), new)
            for large in list(self._kept) if length > _SMALL else ():
                if not are_small(large):
                    self._kept.pop(large, None)
            self._kept.keep(documents, known)
        elif notices is not None and known is not None and known[2]:
            notices += known[2]
        if known is None:
            return None
        meta, packed, _ = known
        own = meta.attributes if packed is None else unpack(packed)
        return meta.with_attributes(own)  # type: ignore[return-value]  # of the same class

    def forget(self) -> None:
        """Decode all documents anew from now on."""
        self._kept.clear()
