"""What there is to know about an array, and what of it is stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from blizzarr.array.stored import stored_bytes, stored_chunks
from blizzarr.dtypes import Kind
from blizzarr.model import ArrayMeta
from blizzarr.model.names import printable
from blizzarr.stores import Store

__all__ = ["ArrayInfo"]


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """The facts about an array; printed as a table.

    Those that take a look at all its chunks are None unless `Array.info_complete` was asked.
    """

    name: str
    store: str
    read_only: bool
    zarr_format: str
    data_type: str
    fill_value: Any
    shape: tuple[int, ...]
    dimension_names: tuple[str | None, ...] | None
    chunk_shape: tuple[int, ...]
    shard_shape: tuple[int, ...] | None
    order: str
    filters: tuple[str, ...]
    serializer: str
    compressors: tuple[str, ...]
    storage_transformers: tuple[str, ...]
    bytes: int | None
    """In memory; None for objects, whose size is not known."""
    bytes_stored: int | None = None
    chunks_stored: int | None = None
    """Stored objects: shards where there are shards."""

    @classmethod
    def of(cls, store: Store, path: str, metadata: ArrayMeta, *, complete: bool = False) -> ArrayInfo:
        """The facts about the array at a path; those that need all its chunks only if `complete`."""
        inner = metadata.codecs.serializer.inner()
        codecs = metadata.codecs if inner is None else inner[1]
        return cls(
            name="/" + path,
            store=str(store),
            read_only=bool(getattr(store, "read_only", False)),
            zarr_format=metadata.format,
            data_type=str(metadata.dtype),
            fill_value=metadata.fill_value,
            shape=metadata.shape,
            dimension_names=metadata.dimension_names,
            chunk_shape=metadata.chunk_shape,
            shard_shape=metadata.shard_shape,
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
        """The facts by name."""
        return asdict(self)

    def __repr__(self) -> str:
        rows: list[tuple[str, Any]] = [
            ("Name", self.name),
            ("Type", "Array"),
            ("Zarr format", self.zarr_format),
            ("Data type", self.data_type),
            ("Fill value", self.fill_value),
            ("Shape", self.shape),
        ]
        if self.dimension_names is not None:
            rows.append(("Dimensions", self.dimension_names))
        if self.shard_shape is not None:
            rows.append(("Shard shape", self.shard_shape))
        rows += [
            ("Chunk shape", self.chunk_shape),
            ("Order", self.order),
            ("Filters", ", ".join(self.filters) or "none"),
            ("Serializer", self.serializer),
            ("Compressors", ", ".join(self.compressors) or "none"),
        ]
        if self.storage_transformers:
            rows.append(("Transformers", ", ".join(self.storage_transformers)))
        rows += [
            ("Store", self.store),
            ("Read-only", self.read_only),
        ]
        if self.bytes is not None:
            rows.append(("Bytes", _size(self.bytes)))
        if self.bytes_stored is not None:
            rows.append(("Bytes stored", _size(self.bytes_stored)))
            if self.bytes_stored and self.bytes is not None:
                rows.append(("Ratio", f"{self.bytes / self.bytes_stored:.1f}"))
        if self.chunks_stored is not None:
            rows.append(("Shards stored" if self.shard_shape is not None else "Chunks stored", self.chunks_stored))
        return "\n".join(f"{name:<13}: {printable(str(value))}" for name, value in rows)


def _size(count: int) -> str:
    """Bytes, and from a kibibyte on also in a unit that people read.

    Examples
    --------
    >>> _size(40), _size(3_145_728)
    ('40', '3,145,728 (3.0 MiB)')
    """
    if count < 1024:
        return str(count)
    amount, units = count / 1024, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop(0)
    return f"{count:,} ({amount:.1f} {units[0]})"
