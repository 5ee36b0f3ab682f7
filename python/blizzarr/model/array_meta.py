"""The metadata of an array, in terms of no format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType
from blizzarr.dtypes.value_text import value_repr
from blizzarr.json_values import alike
from blizzarr.model.chunk_grid import ChunkGrid, RegularGrid
from blizzarr.model.chunk_keys import ChunkKeys

if TYPE_CHECKING:
    from blizzarr.transformers import StorageTransformer


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArrayMeta:
    """An array without its elements: everything that its documents say, in terms of no format.

    `chunk_grid` is the grid of stored objects: of shards if there are shards, otherwise of chunks.
    """

    shape: tuple[int, ...]
    dtype: DataType
    chunk_grid: ChunkGrid
    chunk_keys: ChunkKeys
    fill_value: np.generic
    """A scalar of the data type, exact to the bit."""
    codecs: CodecChain
    attributes: dict[str, Any] = field(default_factory=dict)
    dimension_names: tuple[str | None, ...] | None = None
    storage_transformers: tuple[StorageTransformer, ...] = ()
    """The transformers between the chunks and the store; the first is nearest to the array."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Unknown members of the document that may be ignored; they are kept when it is written again."""
    format: str = "v3"
    source: Mapping[str, Any] | None = field(default=None, repr=False)
    """The document that the metadata came from; never changed."""
    fill_undefined: bool = False
    """True if the document has a fill value of null. Unwritten elements read as `fill_value`, but chunks that equal it
    are stored all the same, because other readers may choose another value."""

    def __eq__(self, other: object) -> bool:
        # `source` does not matter, and fill values are equal if their bits are, also those of NaN.
        if not isinstance(other, ArrayMeta):
            return NotImplemented
        return self._compared() == other._compared() and alike(self.attributes, other.attributes)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (f"{part.name}={value_repr(getattr(self, part.name))}" for part in fields(self) if part.repr)
        return f"ArrayMeta({', '.join(shown)})"

    def _compared(self) -> tuple[Any, ...]:
        return (
            self.shape,
            self.dtype,
            self.chunk_grid,
            self.chunk_keys,
            self.dtype.fill_identity(self.fill_value),
            self.fill_undefined,
            self.codecs,
            self.dimension_names,
            self.storage_transformers,
            self.extra,
        )

    if not TYPE_CHECKING:  # type checkers find missing names themselves

        def __getattr__(self, name: str) -> Any:
            from blizzarr.renamed import METADATA, no_attribute

            raise no_attribute(self, f"{type(self).__name__!r} object", name, METADATA)

    @property
    def write_shape(self) -> tuple[int, ...]:
        """The shape of a stored object: of a shard, or of a chunk if there are no shards.

        Raise `UnsupportedOperationError` if they have several shapes, which `chunk_grid` knows.
        """
        return self.chunk_grid.chunk_shape

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The shape of the smallest part that can be read by itself, the innermost chunk; see `write_shape`."""
        return self.codecs.read_shape(self.chunk_grid.chunk_shape if not self.codecs.is_sharded else self.largest)

    @property
    def shard_shape(self) -> tuple[int, ...] | None:
        """The shape of a shard; None if chunks are stored one by one. See `write_shape`."""
        return self.chunk_grid.chunk_shape if self.codecs.is_sharded else None

    @property
    def largest(self) -> tuple[int, ...]:
        """The shape of the largest stored object, for planning; others may be smaller."""
        return self.chunk_grid.inside(self.shape)

    @property
    def read_grid(self) -> ChunkGrid:
        """The grid of the smallest parts that can be read by themselves: of inner chunks if there are shards."""
        return RegularGrid(self.chunk_shape) if self.codecs.is_sharded else self.chunk_grid

    @property
    def chunks_text(self) -> str:
        """The shape of a chunk as text; of a grid with several the lengths along each axis."""
        return self.read_grid.text

    @property
    def shards_text(self) -> str | None:
        """The shape of a shard as text, in the same way; None without shards."""
        return self.chunk_grid.text if self.codecs.is_sharded else None

    @property
    def order(self) -> Literal["C", "F"]:
        """``"F"`` if chunks are stored with the first axis varying fastest, otherwise ``"C"``."""
        return self.codecs.order

    def with_shape(self, shape: tuple[int, ...]) -> ArrayMeta:
        """Return the array with another shape of the same rank, and with the chunks that this needs."""
        if type(self.chunk_grid) is RegularGrid or shape == self.shape:
            return self.with_attributes(self.attributes, shape=shape)
        # Shards consist of whole inner chunks.
        units = self.codecs.read_shape((1,) * len(shape), nested=False)
        return replace(self, shape=shape, chunk_grid=self.chunk_grid.resized(shape, units))

    def with_attributes(
        self,
        attributes: Mapping[str, Any],
        source: Mapping[str, Any] | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> ArrayMeta:
        """Return the array with these attributes; also with `source`, the document that it came from, and `shape`."""
        # Not `replace`, which takes twice as long: whoever opens an array again or appends to one comes here.
        return ArrayMeta(
            self.shape if shape is None else shape,
            self.dtype,
            self.chunk_grid,
            self.chunk_keys,
            self.fill_value,
            self.codecs,
            dict(attributes),
            self.dimension_names,
            self.storage_transformers,
            self.extra,
            self.format,
            self.source if source is None else source,
            self.fill_undefined,
        )
