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

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

from blizzarr import _native
from blizzarr.durability import LEVELS, Durability

__all__ = ["Config", "config"]


@dataclass(slots=True)
class Config:
    """The settings of this process: change them by assignment, or with `set`, for the length of a ``with`` block too.

    Raises
    ------
    ValueError
        When a setting cannot have that value; nothing has changed then.
    """

    threads: int = 0
    """How many threads read and write chunks; 0 means one per core."""
    write_empty_chunks: bool = False
    """Whether chunks that hold nothing but the fill value are stored."""
    chunk_bytes: int = 1 << 20
    """The chunk size that ``chunks="auto"`` aims at, before compression."""
    shard_bytes: int = 64 << 20
    """The shard size that ``shards="auto"`` aims at, before compression."""
    copy_bytes: int = 128 << 20
    """How much of an array `copy` holds in memory at a time, at most, unless a single shard is larger. About as much
    again is needed to encode it."""
    element_bytes: int = 64 << 20
    """The longest elements of a fixed length that are read or written. Without a limit, a document of a hundred bytes
    could ask for elements of 2 GiB."""
    allowed_codecs: tuple[str, ...] = ()
    """Codecs that are used only if they are named here: ``("pickle",)``, because unpickling runs code of whoever wrote
    the data."""
    locking: Literal["required", "threads"] = "required"
    """Whom a writer excludes, in directories that are opened without saying: see `blizzarr.stores.LocalStore`."""
    use_fallback_data_types: bool = True
    """Whether an array of an unknown data type is read as the type that its document offers instead, with a warning
    (only in the draft of Zarr v3). Otherwise it cannot be opened."""
    keep_foreign_files: bool = False
    """Whether arrays and groups may be removed or replaced although files that are not Zarr's lie among theirs. Those
    files stay in any case; but unless this is set, nothing at all is removed if there are any."""
    durability: Durability = "none"
    """What survives a power cut, unless a store or `durable` says otherwise; see `blizzarr.durable`."""
    v1_order_as_documented: bool = False
    """Whether ``"order": "F"`` of Zarr v1 is taken at its word. zarr-python 1, which wrote nearly all v1 data, followed
    it with Blosc only: with other compressors, its chunks are in C order, whatever the document says."""

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
        object.__setattr__(self, "allowed_codecs", tuple(self.allowed_codecs))

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, _LAST):
            self.set({name: value})
        else:
            # It is being made.
            object.__setattr__(self, name, value)

    def set(self, settings: Mapping[str, Any] | None = None, /, **named: Any) -> _Restore:
        """Change settings by name, or those of a mapping; at the end of a ``with`` block, these are restored.

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
        before = {name: getattr(self, name) for name in values}
        self._take(values)
        return _Restore(self, before)

    def _take(self, values: Mapping[str, Any]) -> None:
        checked = replace(self, **values)
        for name in values:
            value = getattr(checked, name)
            if name in _ENGINE and value != getattr(self, name):
                _ENGINE[name](value)
            object.__setattr__(self, name, value)


_LAST: Final = fields(Config)[-1].name
"""The setting that is made last."""

_ENGINE: Final[dict[str, Callable[[Any], None]]] = {
    "threads": _native.threads_set,
    "durability": _native.durability_set,
}
"""What tells the engine of a setting that it has, too."""


class _Restore:
    """Puts back, at the end of a ``with`` block, the settings that were changed for it."""

    def __init__(self, changed: Config, before: Mapping[str, Any]) -> None:
        self._changed = changed
        self._before = before

    def __enter__(self) -> Config:
        return self._changed

    def __exit__(self, *_: object) -> None:
        self._changed._take(self._before)


config = Config()
"""The settings of this process."""
