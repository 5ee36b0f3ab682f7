"""What an array is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType
from blizzarr.model.chunk_grid import RegularGrid
from blizzarr.model.chunk_keys import ChunkKeys

if TYPE_CHECKING:
    from blizzarr.transformers import StorageTransformer

__all__ = ["MAX_RANK", "ArrayMeta"]

MAX_RANK = 64
"""The most dimensions an array may have: what NumPy 2 can index."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayMeta:
    """An array without its data: everything that its documents say, in no format's terms.

    `chunk_grid` is the grid of stored objects: of shards, where there are shards.
    """

    shape: tuple[int, ...]
    dtype: DataType
    chunk_grid: RegularGrid
    chunk_keys: ChunkKeys
    fill_value: np.generic
    """A scalar of the data type, exact to the bit."""
    codecs: CodecChain
    attributes: dict[str, Any] = field(default_factory=dict)
    dimension_names: tuple[str | None, ...] | None = None
    storage_transformers: tuple[StorageTransformer, ...] = ()
    """Between the chunks and the store; the first is nearest to the array."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Members of the document that are unknown but may be ignored; kept when it is written again."""
    format: str = "v3"
    source: Mapping[str, Any] | None = field(default=None, repr=False)
    """The document that it came from; never changed."""
    fill_undefined: bool = False
    """Whether the documents leave open what unwritten elements are (a fill value of null); they read as `fill_value`,
    but nothing may be left unstored because it equals that: another reader may make something else of it."""

    def __eq__(self, other: object) -> bool:
        # What it came from does not matter, and fill values are equal when their bits are: NaN too.
        if not isinstance(other, ArrayMeta):
            return NotImplemented
        return self._compared() == other._compared()

    __hash__ = None  # type: ignore[assignment]

    def _compared(self) -> tuple[Any, ...]:
        return (
            self.shape,
            self.dtype,
            self.chunk_grid,
            self.chunk_keys,
            self.dtype.fill_identity(self.fill_value),
            self.fill_undefined,
            self.codecs,
            self.attributes,
            self.dimension_names,
            self.storage_transformers,
            self.extra,
        )

    @property
    def write_shape(self) -> tuple[int, ...]:
        """The shape of what one stored object holds: a shard, or a chunk where there are no shards."""
        return self.chunk_grid.chunk_shape

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The shape of the smallest part that can be read by itself: the innermost chunk."""
        return self.codecs.read_shape(self.chunk_grid.chunk_shape)

    @property
    def shard_shape(self) -> tuple[int, ...] | None:
        """The shape of a shard, or `None` when chunks are stored one by one."""
        return self.chunk_grid.chunk_shape if self.codecs.is_sharded else None

    @property
    def order(self) -> str:
        """``"F"`` when the elements of a chunk are stored first axis fastest, else ``"C"``."""
        return self.codecs.order

    def with_shape(self, shape: tuple[int, ...]) -> ArrayMeta:
        """The same array, resized; the rank stays."""
        return ArrayMeta(
            shape,
            self.dtype,
            self.chunk_grid,
            self.chunk_keys,
            self.fill_value,
            self.codecs,
            self.attributes,
            self.dimension_names,
            self.storage_transformers,
            self.extra,
            self.format,
            self.source,
            self.fill_undefined,
        )

    def with_attributes(self, attributes: Mapping[str, Any], source: Mapping[str, Any] | None = None) -> ArrayMeta:
        """The same array with these attributes instead, and with another document that it came from if one is given."""
        return ArrayMeta(
            self.shape,
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
