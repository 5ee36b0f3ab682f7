"""The facts about arrays and groups, in the form that zarr-python prints them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

from blizzarr.printable import table

_UNITS: Final = "KMGTP"


@dataclass(kw_only=True, repr=False)
class GroupInfo:
    """The facts about a group.

    Examples
    --------
    >>> GroupInfo(_name="a", _zarr_format=3, _read_only=False, _store_type="MemoryStore")
    Name        : a
    Type        : Group
    Zarr format : 3
    Read-only   : False
    Store type  : MemoryStore
    """

    _name: str
    _type: str = "Group"
    _zarr_format: int
    _read_only: bool
    _store_type: str
    _count_members: int | None = None
    _count_arrays: int | None = None
    _count_groups: int | None = None

    def __repr__(self) -> str:
        labels = ("Name", "Type", "Zarr format", "Read-only", "Store type", "No. members", "No. arrays", "No. groups")
        return table(dict(zip(labels, (getattr(self, row.name) for row in fields(self)), strict=True)), 12)


@dataclass(kw_only=True, repr=False)
class ArrayInfo:
    """The facts about an array."""

    _type: str = "Array"
    _zarr_format: int
    _data_type: Any
    _fill_value: Any
    _shape: tuple[int, ...]
    _shard_shape: tuple[int, ...] | str | None = None
    _chunk_shape: tuple[int, ...] | str | None = None
    _order: str
    _read_only: bool
    _store_type: str
    _filters: tuple[Any, ...] = ()
    _serializer: Any = None
    _compressors: tuple[Any, ...] = ()
    _count_bytes: int | None = None
    _count_bytes_stored: int | None = None
    _count_chunks_initialized: int | None = None

    def __repr__(self) -> str:
        labels = (
            *("Type", "Zarr format", "Data type", "Fill value", "Shape", "Shard shape", "Chunk shape", "Order"),
            *("Read-only", "Store type", "Filters", "Serializer", "Compressors", "No. bytes", "No. bytes stored"),
        )
        rows = dict(zip(labels, (getattr(self, row.name) for row in fields(self)), strict=False))
        rows["No. bytes"] = _size(self._count_bytes)
        rows["No. bytes stored"] = _size(self._count_bytes_stored)
        if self._count_bytes is not None and self._count_bytes_stored:
            rows["Storage ratio"] = f"{self._count_bytes / self._count_bytes_stored:.1f}"
        rows["Chunks Initialized" if self._shard_shape is None else "Shards Initialized"] = (
            self._count_chunks_initialized
        )
        return table(rows, 19)


def _size(count: int | None) -> str | None:
    """Return a number of bytes, from a kibibyte on also in a larger unit.

    >>> _size(40), _size(3_145_728)
    ('40', '3145728 (3.0M)')
    """
    if count is None or count < 1024:
        return None if count is None else str(count)
    power = min((count.bit_length() - 1) // 10, len(_UNITS))
    return f"{count} ({count / 1024**power:.1f}{_UNITS[power - 1]})"
