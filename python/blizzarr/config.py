"""Settings of this process.

Examples
--------
>>> from blizzarr.config import config
>>> with config.set(chunk_bytes=8 << 20):
...     config.chunk_bytes
8388608
>>> config.chunk_bytes
1048576
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from blizzarr import _native
from blizzarr.durability import LEVELS, Durability

__all__ = ["Config", "config"]


@dataclass(slots=True)
class Config:
    """The settings; change them with `set`, for good or for the length of a ``with`` block."""

    threads: int = 0
    """Threads that read and write chunks; 0 means one per core."""
    write_empty_chunks: bool = False
    """Whether chunks that hold nothing but the fill value are stored."""
    chunk_bytes: int = 1 << 20
    """What ``chunks="auto"`` aims at, before compression."""
    shard_bytes: int = 64 << 20
    """What ``shards="auto"`` aims at, before compression."""
    copy_bytes: int = 128 << 20
    """How much of an array `copy` holds in memory at a time, at most, unless a single shard is larger; about as much
    again is needed to encode it."""
    element_bytes: int = 64 << 20
    """How long elements of a fixed length may be that are read or written: a document of a hundred bytes can ask for
    elements of 2 GiB."""
    allowed_codecs: tuple[str, ...] = ()
    """Codecs that are only used when named here: ``("pickle",)``, whose data run the code of whoever wrote them."""
    locking: Literal["required", "threads"] = "required"
    """Whom writers exclude in directories that are opened without saying so: see `blizzarr.stores.LocalStore`."""
    use_fallback_data_types: bool = True
    """Whether arrays whose data type is not known are read as the one that their document offers instead, with a
    warning; in the draft of Zarr v3. If not, they cannot be opened."""
    keep_foreign_files: bool = False
    """Whether arrays and groups are removed and replaced though files that are not ours lie among theirs. They stay in
    either case; but unless this is set, nothing is removed where there are any."""
    durability: Durability = "none"
    """What survives a power cut where neither a store nor `durable` says it; see `blizzarr.durable`."""
    v1_order_as_documented: bool = False
    """Whether ``"order": "F"`` of Zarr v1 is taken at its word. zarr-python 1, which wrote about all there is of it,
    followed it with Blosc only: with other compressors its chunks are in C order whatever their document says."""

    def __post_init__(self) -> None:
        sizes = ("chunk_bytes", "shard_bytes", "copy_bytes", "element_bytes")
        for name, least in (("threads", 0), *((name, 1) for name in sizes)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"expected {name} to be an integer of at least {least}, found {value!r}")
        for name in (
            "write_empty_chunks",
            "use_fallback_data_types",
            "keep_foreign_files",
            "v1_order_as_documented",
        ):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ValueError(f"expected {name} to be True or False, found {value!r}")
        if self.durability not in LEVELS:
            raise ValueError(f"expected durability to be one of {', '.join(LEVELS)}, found {self.durability!r}")
        if self.locking not in ("required", "threads"):
            raise ValueError(f"expected locking to be 'required' or 'threads', found {self.locking!r}")
        if isinstance(self.allowed_codecs, str) or not all(isinstance(name, str) for name in self.allowed_codecs):
            raise ValueError(f"expected allowed_codecs to be names like ('pickle',), found {self.allowed_codecs!r}")
        self.allowed_codecs = tuple(self.allowed_codecs)

    def set(self, settings: Mapping[str, Any] | None = None, /, **named: Any) -> _Restore:
        """Change settings now, by name or all of a mapping; used in a ``with`` statement, they are put back at its end.

        Examples
        --------
        >>> with config.set({"threads": 2}, write_empty_chunks=True):
        ...     config.threads, config.write_empty_chunks
        (2, True)
        """
        values = {**(settings or {}), **named}
        names = [field.name for field in fields(self)]
        for name in values:
            if name not in names:
                raise ValueError(f"expected one of the settings {', '.join(names)}, found {name!r}")
        before = replace(self)
        self._take(replace(self, **values))
        return _Restore(self, before)

    def _take(self, other: Config) -> None:
        if other.threads != self.threads:
            _native.threads_set(other.threads)
        if other.durability != self.durability:
            _native.durability_set(other.durability)
        for field in fields(self):
            setattr(self, field.name, getattr(other, field.name))


class _Restore:
    """Puts settings back at the end of a ``with`` block."""

    def __init__(self, changed: Config, before: Config) -> None:
        self._changed = changed
        self._before = before

    def __enter__(self) -> Config:
        return self._changed

    def __exit__(self, *_: object) -> None:
        self._changed._take(self._before)


config = Config()
"""The settings of this process."""
