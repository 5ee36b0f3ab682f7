"""The nodes that documents describe, each document decoded once: opening the same one again, byte by byte, is cheap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from blizzarr.errors import LimitError, MetadataError
from blizzarr.formats.copied_attributes import pack, unpack
from blizzarr.kept import Kept
from blizzarr.model import ArrayMeta, GroupMeta

__all__ = ["RememberedNodes"]

N = TypeVar("N", bound=ArrayMeta | GroupMeta)

_MOST: Final = 512

_SMALL: Final = 2**14
"""How many bytes a document has at most that is remembered."""


class RememberedNodes(Generic[N]):
    """What `decode` makes of a document, or `None` where that is of no node; each time with attributes of its own.

    Errors get the key of the document, which `decode` is told only where the document is too long to be remembered.

    Examples
    --------
    >>> nodes = RememberedNodes(lambda raw, key: GroupMeta(attributes={"length": [len(raw)]}))
    >>> nodes(b"abc", "zarr.json").attributes["length"].append(0)
    >>> nodes(b"abc", "zarr.json").attributes
    {'length': [3]}
    """

    __slots__ = ("_decode", "_kept")

    def __init__(self, decode: Callable[[bytes, str | None], N | None]) -> None:
        self._decode = decode
        self._kept: Kept[bytes, tuple[N, bytes | None] | None] = Kept(_MOST)

    def __call__(self, raw: bytes, key: str) -> N | None:
        try:
            found = self._kept[raw]
        except KeyError:
            is_small = len(raw) <= _SMALL
            try:
                meta = self._decode(raw, None if is_small else key)
            except (MetadataError, LimitError) as error:
                error.key = key
                raise
            if not is_small:
                return meta
            found = _packed(meta)
            self._kept.keep(raw, found)
        if found is None:
            return None
        known, packed = found
        own = known.attributes if packed is None else unpack(packed)
        return known.with_attributes(own)  # type: ignore[return-value]  # of the same class

    def put(self, raw: bytes, meta: N) -> None:
        """Say what the node of a document is."""
        if len(raw) <= _SMALL:
            self._kept.keep(raw, _packed(meta))

    def cache_clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()


def _packed(meta: N | None) -> tuple[N, bytes | None] | None:
    return None if meta is None else (meta, pack(meta.attributes))
