"""The facts about an array: its metadata, and how much of it is stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import prod
from typing import Any, Final

from blizzarr.array.stored import stored_bytes, stored_chunks
from blizzarr.dtypes import Kind
from blizzarr.dtypes.value_text import value_text
from blizzarr.model import ArrayMeta
from blizzarr.printable import table
from blizzarr.size_text import bytes_text
from blizzarr.stores import Store

_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """The facts about an array; printed as a table.

    Those for which all chunks are listed are None, unless it is made by `Array.info_complete`.
    """

    name: str
    store: str
    read_only: bool
    zarr_format: str
    data_type: str
    fill_value: Any
    shape: tuple[int, ...]
    dimension_names: tuple[str | None, ...] | None
    chunk_shape: tuple[Any, ...]
    """Along an axis whose chunks have several lengths, the list of these that `create_array` takes."""
    shard_shape: tuple[Any, ...] | None
    order: str
    filters: tuple[str, ...]
    serializer: str
    compressors: tuple[str, ...]
    storage_transformers: tuple[str, ...]
    bytes: int | None
    """The size of all elements in memory; None for objects, whose size is not known."""
    bytes_stored: int | None = None
    chunks_stored: int | None = None
    """The number of stored objects: shards if there are shards, otherwise chunks."""

    @classmethod
    def of(cls, store: Store, path: str, metadata: ArrayMeta, *, complete: bool = False) -> ArrayInfo:
        """Collect the facts about the array at a path; those for which chunks are listed only if `complete`."""
        codecs = metadata.codecs.innermost
        return cls(
            name="/" + path,
            store=str(store),
            read_only=bool(getattr(store, "read_only", False)),
            zarr_format=metadata.format,
            data_type=str(metadata.dtype),
            fill_value=metadata.fill_value,
            shape=metadata.shape,
            dimension_names=metadata.dimension_names,
            chunk_shape=tuple(metadata.read_grid.spelling),
            shard_shape=tuple(metadata.chunk_grid.spelling) if metadata.codecs.is_sharded else None,
            order=metadata.order,
            filters=tuple(map(repr, codecs.filters)),
            serializer=repr(codecs.serializer),
            compressors=tuple(map(repr, codecs.compressors)),
            storage_transformers=tuple(map(repr, metadata.storage_transformers)),
            bytes=None if metadata.dtype.kind is Kind.OBJECT else prod(metadata.shape) * metadata.dtype.itemsize,
            bytes_stored=stored_bytes(store, path, metadata) if complete else None,
            chunks_stored=sum(1 for _ in stored_chunks(store, path, metadata)) if complete else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts by name."""
        return asdict(self)

    def __repr__(self) -> str:
        rows = {
            "Name": self.name,
            "Type": "Array",
            "Zarr format": self.zarr_format,
            "Data type": self.data_type,
            "Fill value": value_text(self.fill_value),
            "Shape": self.shape,
            "Dimensions": self.dimension_names,
            "Shard shape": _lengths(self.shard_shape),
            "Chunk shape": _lengths(self.chunk_shape),
            "Order": self.order,
            "Filters": ", ".join(self.filters) or "none",
            "Serializer": self.serializer,
            "Compressors": ", ".join(self.compressors) or "none",
            "Transformers": ", ".join(self.storage_transformers) or None,
            "Store": self.store,
            "Read-only": self.read_only,
            "Bytes": _size(self.bytes),
            "Bytes stored": _size(self.bytes_stored),
            "Ratio": f"{self.bytes / self.bytes_stored:.1f}" if self.bytes is not None and self.bytes_stored else None,
            "Shards stored" if self.shard_shape is not None else "Chunks stored": self.chunks_stored,
        }
        return table(rows)


def _lengths(shape: tuple[Any, ...] | None) -> str | None:
    """Return the lengths of chunks as text, which is cut off if there are very many."""
    if shape is None:
        return None
    text = str(shape)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\N{HORIZONTAL ELLIPSIS}"


def _size(count: int | None) -> str | None:
    """Return a number of bytes, from a kibibyte on also in a larger unit."""
    if count is None:
        return None
    return str(count) if count < 1024 else f"{count:,} ({bytes_text(count)})"
