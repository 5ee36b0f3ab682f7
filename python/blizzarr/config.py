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
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, Literal

from blizzarr import _native
from blizzarr.durability import LEVELS, Durability


@dataclass(slots=True)
class Config:
    """The settings of this process. Change them by assignment, or with `set`, also for the length of a ``with`` block.

    Raises
    ------
    ValueError
        If a setting cannot have that value; no setting has changed then.
    """

    threads: int = 0
    """The number of threads that read and write chunks; 0 means one per core. While they wait for a disk there are
    more, up to 32, unless it is 1."""
    concurrent_requests: int = 0
    """The most requests to a remote store (see `blizzarr.stores.Store`) that are made at once, however small the
    chunks, as far as they fit into 256 MiB; never less than `threads`. 0 leaves it to the store: object stores and
    servers of HTTP get as many as they answer well, at most 256, and all others 32."""
    write_empty_chunks: bool = False
    """Store chunks that hold nothing but the fill value. By default they are deleted, as a missing chunk reads so."""
    chunk_bytes: int = 1 << 20
    """The size of chunks that ``chunks="auto"`` aims at, in bytes before compression."""
    shard_bytes: int = 64 << 20
    """The size of shards that ``shards="auto"`` aims at, in bytes before compression."""
    copy_bytes: int = 128 << 20
    """The most bytes of an array that `copy` holds in memory at a time, unless a single shard is larger. Encoding needs
    about as much again."""
    element_bytes: int = 64 << 20
    """The size in bytes of the largest elements of fixed length that are read or written. Without a limit, a document
    of a hundred bytes could ask for elements of 2 GiB."""
    allowed_codecs: tuple[str, ...] = ()
    """The names of codecs that must be allowed before they are used: ``("pickle",)``, because unpickling runs code of
    whoever wrote the data."""
    locking: Literal["required", "threads"] = "required"
    """The locks of writers, for directories that are opened without naming them: see `blizzarr.stores.LocalStore`."""
    use_fallback_data_types: bool = True
    """Read an array of an unknown data type as the fallback type in its document, with a warning (only in the draft of
    Zarr v3). Otherwise the array cannot be opened."""
    keep_foreign_files: bool = False
    """Allow removing and replacing arrays and groups that have files of other programs among theirs; these files stay.
    By default nothing at all is removed then."""
    reserved_names: bool = False
    """Allow creating nodes with names that Zarr v3 reserves, like ``__x``. Existing ones are always read."""
    durability: Durability = "none"
    """The durability of writes, unless a store or `durable` sets another one; see `blizzarr.durable`."""
    v1_order_as_documented: bool = False
    """Read chunks of Zarr v1 with ``"order": "F"`` in F order for all compressors. zarr-python 1, which wrote nearly
    all v1 data, did so with Blosc only; with other compressors its chunks are in C order, whatever the document says.
    """

    def __post_init__(self) -> None:
        positive = ("chunk_bytes", "shard_bytes", "copy_bytes", "element_bytes")
        for name, least in (("threads", 0), ("concurrent_requests", 0), *((name, 1) for name in positive)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise ValueError(f"expected {name} to be an integer of at least {least}, found {value!r}")
            object.__setattr__(self, name, int(value))
        for name in (field.name for field in fields(self) if field.type == "bool"):
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
            # `__init__` sets the fields one by one; they are checked after the last.
            object.__setattr__(self, name, value)

    if not TYPE_CHECKING:  # type checkers find missing names themselves

        def __getattr__(self, name: str) -> Any:
            from blizzarr.renamed import CONFIG, no_attribute

            raise no_attribute(self, f"{type(self).__name__!r} object", name, CONFIG)

    @property
    def requests_at_once(self) -> int:
        """The number of requests made at once to a remote store that does not tell how many it answers well."""
        return self.concurrent_requests or _REQUESTS

    def set(self, settings: Mapping[str, Any] | None = None, /, **named: Any) -> _Restore:
        """Change settings, by name or in a mapping. As the context of a ``with`` block, restore them at its end.

        Raises
        ------
        ValueError
            If there is no such setting, or it cannot have that value; no setting has changed then.

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
                from blizzarr.keywords import what_there_is
                from blizzarr.renamed import SETTINGS

                rest = f"; {SETTINGS[name]}" if name in SETTINGS else what_there_is(name, names)
                raise ValueError(f"there is no setting {name!r}{rest}")
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


_REQUESTS: Final = 32

_LAST: Final = fields(Config)[-1].name
"""The last setting, after which all of them are set."""

_ENGINE: Final[dict[str, Callable[[Any], None]]] = {
    "threads": _native.threads_set,
    "concurrent_requests": _native.requests_set,
    "durability": _native.durability_set,
}
"""Functions that pass settings on to the engine."""


class _Restore:
    """Restores, at the end of a ``with`` block, the settings that were changed for it."""

    def __init__(self, changed: Config, before: Mapping[str, Any]) -> None:
        self._changed = changed
        self._before = before

    def __repr__(self) -> str:
        rows = (f"{name}={getattr(self._changed, name)!r} (before: {value!r})" for name, value in self._before.items())
        return f"<settings: {', '.join(rows)}>"

    def __enter__(self) -> Config:
        return self._changed

    def __exit__(self, *_: object) -> None:
        self._changed._take(self._before)


config = Config()
"""The settings of this process."""
