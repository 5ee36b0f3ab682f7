"""What one interoperability case is: an array document, and the part of the array that is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numcodecs
import numpy as np
from numpy.typing import NDArray

from interop.documents import Document, chunks_of, dtype_of, fill_of, format_of, tags_of
from interop.values import OBJECTS, draw, draw_objects, draw_small

Box = tuple[tuple[int, int], ...]
# Filters that would change most values; they keep what they have given once.
ARITHMETIC = frozenset({"delta", "fixedscaleoffset", "quantize", "bitround", "astype"})


@dataclass(frozen=True)
class Case:
    """One array: its document, and the box that is written into it (`None` is all of it)."""

    name: str
    document: Document
    box: Box | None = None
    quick: bool = False

    @cached_property
    def tags(self) -> frozenset[str]:
        """The words by which a peer declares what it cannot do."""
        return frozenset((*tags_of(self.document), *self._box_tags()))

    def _box_tags(self) -> Iterator[str]:
        edges = list(zip(self.written_box, self.document["shape"], chunks_of(self.document), strict=True))
        if any(start == stop for (start, stop), _, _ in edges):
            yield "nothing written"
        if edges and all(start % chunk and start // chunk < (stop - 1) // chunk for (start, stop), _, chunk in edges):
            yield "written across chunks"
        if edges and all(start % chunk and stop == size for (start, stop), size, chunk in edges):
            yield "written from within a chunk to the end"

    @property
    def format(self) -> str:
        return format_of(self.document)

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self.document)

    @property
    def written_box(self) -> Box:
        return self.box if self.box is not None else tuple((0, size) for size in self.document["shape"])

    @property
    def fill(self) -> NDArray[Any] | None:
        return fill_of(self.document)

    def values(self) -> NDArray[Any]:
        """What is written into the box."""
        shape = tuple(stop - start for start, stop in self.written_box)
        filters = [codec for codec in self.document.get("filters") or [] if isinstance(codec, dict)]
        objects = next((codec["id"] for codec in filters if codec["id"] in OBJECTS), None)
        if objects is not None:
            # The filter "categorize" is for fixed texts too.
            return draw_objects(objects, shape, self.name).astype(self.dtype)
        if any(codec["id"] in ARITHMETIC for codec in filters):
            return _through(filters, draw_small(self.dtype, shape, self.name))
        return draw(self.dtype, shape, self.name)

    def expected(self) -> NDArray[Any]:
        """What every reader must find: the fill value, and in the box the values."""
        shape = tuple(self.document["shape"])
        fill = self.fill if self.fill is not None else np.zeros((), self.dtype)
        whole = np.broadcast_to(fill, shape).copy()
        whole[tuple(slice(*edge) for edge in self.written_box)] = self.values()
        return whole


def _through(filters: list[dict[str, Any]], values: NDArray[Any]) -> NDArray[Any]:
    """Return what the filters make of values: that, they keep."""
    chain = [numcodecs.get_codec(dict(codec)) for codec in filters]
    encoded: Any = values
    for codec in chain:
        encoded = codec.encode(encoded)
    for codec in reversed(chain):
        encoded = codec.decode(encoded)
    return np.asarray(encoded).view(values.dtype).reshape(values.shape)


def every(numbered: Iterator[tuple[str, str, Document, Box | None]], quick: dict[str, int]) -> Iterator[Case]:
    """Make cases of rows of family, name, document and box; one of `quick[family]` is quick, the first among them."""
    seen: dict[str, int] = {}
    for family, name, document, box in numbered:
        number = seen.setdefault(family, 0)
        seen[family] += 1
        yield Case(f"{family}: {name}", document, box, quick=number % quick.get(family, 1) == 0)
