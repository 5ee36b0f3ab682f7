"""A cache of what follows from a document, as long as the document is in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from blizzarr.bounded_cache import BoundedCache
from blizzarr.json_values import within_64_bits
from blizzarr.model import ArrayMeta
from blizzarr.spec.stored_document import encoded

__all__ = ["Remembered"]

T = TypeVar("T")

_MOST: Final = 256


class Remembered(Generic[T]):
    """A function of the document and the shape of an array, with its last results.

    Documents are told apart by identity: arrays that were read from the same bytes have the same one, which nobody
    changes. A shape may be newer than the document.
    """

    def __init__(self, make: Callable[[Mapping[str, Any], tuple[int, ...]], T]) -> None:
        self._make = make
        # With the document, so that no other one gets its identity.
        self._kept: BoundedCache[tuple[int, tuple[int, ...]], tuple[Mapping[str, Any], T]] = BoundedCache(_MOST)

    def of(self, meta: ArrayMeta) -> T:
        """The result for an array."""
        document = encoded(meta) if meta.source is None else meta.source
        key = id(document), meta.shape
        kept = self._kept.get(key)
        if kept is not None:
            return kept[1]
        result = self._make(within_64_bits(document), meta.shape)
        self._kept.keep(key, (document, result))
        return result
