"""What there is to know about an array, and what of it is stored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from math import prod
from typing import Any

from blizzarr.dtypes import Kind
from blizzarr.formats import chunk_prefix, chunk_store, document_keys, node_prefixes
from blizzarr.model import ArrayMeta
from blizzarr.model.chunk_keys import INDEX
from blizzarr.model.names import printable
from blizzarr.stores import Store
from blizzarr.stores.within import kept_within, refuse_out

__all__ = ["ArrayInfo", "stored_bytes", "stored_chunks"]


def stored_chunks(store: Store, path: str, metadata: ArrayMeta) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The keys of an array's chunks (shards, where there are) that are stored, with their positions in the grid.

    The keys are those in `chunk_store`. Those outside the array's shape too: an interrupted change of shape may have
    left some.
    """
    prefix = chunk_prefix(path, metadata)
    keys = metadata.chunk_keys
    head = prefix + (keys.head if metadata.shape else keys.scalar)
    pattern = _indices(keys.separator, len(metadata.shape))
    # The narrowest prefix that all of them have, so that documents and nodes beside them are not listed.
    below = prefix + keys.head if keys.head.endswith("/") and metadata.shape else prefix
    kept = kept_within(store)
    for key in chunk_store(store, path, metadata).list(below.rstrip("/")):
        found = pattern.fullmatch(key, len(head))
        if found is not None and key.startswith(head):
            yield key, tuple(map(int, found.groups()))
        elif kept is not None:
            refuse_out(kept, key)  # chunks behind it are not missing


@cache
def _indices(separator: str, rank: int) -> re.Pattern[str]:
    return re.compile(re.escape(separator).join([f"({INDEX})"] * rank))


def stored_bytes(store: Store, path: str, metadata: ArrayMeta) -> int:
    """The bytes of everything that is stored for an array: its documents and its chunks."""
    size = getattr(store, "size", None)
    total = 0
    prefixes = node_prefixes(path, metadata)
    keys = {key for prefix in prefixes for key in store.list(prefix.rstrip("/"))}
    for key in keys.union(document_keys(path, metadata)):
        if size is not None:
            total += size(key) or 0
        else:
            total += len(memoryview(store.get(key) or b""))
    return total


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
