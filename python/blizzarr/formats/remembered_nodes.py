"""A cache of decoded documents: opening a document with the same bytes again does not decode it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from blizzarr.bounded_cache import BoundedCache
from blizzarr.errors import BlizzarrError
from blizzarr.formats.copied_attributes import pack, unpack
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.problems import Notice

N = TypeVar("N", bound=ArrayMeta | GroupMeta)

_MOST: Final = 512

_SMALL: Final = 2**14
"""The size in bytes of the largest document that is remembered."""


class RememberedNodes(Generic[N]):
    """The nodes that `decode` makes of documents, or `None` for documents of no node; each call copies the attributes.

    The notices about a document are remembered with its node. Errors are not remembered; they get the key of the
    document. Documents longer than 16 KiB, and those with a fallback data type, are decoded each time.

    Parameters
    ----------
    decode
        A function ``(raw, key, notices)`` that adds to the list `notices`; `key` is `None` if the result is remembered.

    >>> nodes = RememberedNodes(lambda raw, key, notices: GroupMeta(attributes={"length": [len(raw)]}))
    >>> nodes(b"abc", "zarr.json").attributes["length"].append(0)
    >>> nodes(b"abc", "zarr.json").attributes
    {'length': [3]}
    """

    __slots__ = ("_decode", "_kept")

    def __init__(self, decode: Callable[[bytes, str | None, list[Notice]], N | None]) -> None:
        self._decode = decode
        self._kept: BoundedCache[bytes, tuple[N, bytes | None, Sequence[Notice]] | None] = BoundedCache(_MOST)

    def __call__(self, raw: bytes, key: str, notices: list[Notice] | None = None) -> N | None:
        """Return the node of a document; its notices are added to `notices`."""
        try:
            found = self._kept[raw]
            is_known = True
        except KeyError:
            is_known = False  # decoded below, so that its errors do not show this one
        if not is_known:
            is_small = len(raw) <= _SMALL
            new: list[Notice] = []
            try:
                meta = self._decode(raw, None if is_small else key, new)
            except BlizzarrError as error:
                error.key = key
                raise
            finally:
                if notices is not None:
                    notices += new
            # Whether a fallback data type may be used depends on a setting, which may change.
            if not is_small or any(notice.kind == "fallback" for notice in new):
                return meta
            found = _packed(meta, new)
            self._kept.keep(raw, found)
        elif notices is not None and found is not None and found[2]:
            notices += found[2]
        if found is None:
            return None
        known, packed, _ = found
        own = known.attributes if packed is None else unpack(packed)
        return known.with_attributes(own)  # type: ignore[return-value]  # of the same class

    def put(self, raw: bytes, meta: N, notices: Sequence[Notice] = ()) -> None:
        """Remember the node of a document that is known without decoding it."""
        if len(raw) <= _SMALL:
            self._kept.keep(raw, _packed(meta, notices))


def _packed(meta: N | None, notices: Sequence[Notice]) -> tuple[N, bytes | None, Sequence[Notice]] | None:
    return None if meta is None else (meta, pack(meta.attributes), notices)
