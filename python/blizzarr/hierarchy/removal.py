"""Records of removals, by which chunks that an interrupted removal left behind are recognised.

Documents are removed before chunks, because an array without some of its chunks would read as the fill value there. But
only the documents say which names are those of chunks: `0.0` may be the file of another program. If a node cannot be
removed in one step (at the root of a directory, around files of other programs, in stores of other kinds), a record of
its chunks' names is stored before the documents are removed, and removed after the last chunk. Whoever removes or
replaces the rest goes on by the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from blizzarr.errors import StoreError
from blizzarr.formats import FORMATS, Format, chunk_prefix
from blizzarr.formats.document import load
from blizzarr.model import ArrayMeta, ChunkKeys
from blizzarr.model.chunk_keys import INDEX
from blizzarr.problems import Problems
from blizzarr.stores import Store

REMOVAL: Final = "blizzarr-removal.txt"
"""The key of the record below the path of the node. Unlike documents, it is not synchronised to the device."""

_SEPARATORS: Final = ("/", ".")
_HEADS: Final = ("", "c", "c/", "c.")
_SCALARS: Final = ("0", "c", "c0")
_RANK: Final = 64
_ANY: Final = -1
"""A rank that stands for any rank and any separator."""


class Chunks(NamedTuple):
    """The names of an array's chunks."""

    prefix: str
    """The prefix of the array's chunks."""
    head: str
    separator: str
    scalar: str
    rank: int

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of the names below the prefix."""
        if self.rank == _ANY:
            return re.compile(rf"c(?:{INDEX})?(?:[/.]{INDEX})*")
        return ChunkKeys("", self.separator, self.head, self.scalar).pattern(self.rank)


def usual(prefix: str) -> Chunks:
    """Return the names of chunks without a document: never a bare number, which may be a file of another program."""
    return Chunks(prefix, "c", "/", "c", _ANY)


def removal_key(path: str) -> str:
    """Return the key of the record of a node."""
    return f"{path}/{REMOVAL}" if path else REMOVAL


def chunks_of(arrays: Mapping[str, ArrayMeta]) -> list[Chunks]:
    """Return the names of the chunks of these arrays, without arrays that have storage transformers."""
    chunks = []
    for path, meta in arrays.items():
        if not meta.storage_transformers:
            keys = meta.chunk_keys
            chunks.append(Chunks(chunk_prefix(path, meta), keys.head, keys.separator, keys.scalar, len(meta.shape)))
    return chunks


class Removed(NamedTuple):
    """The content of a record."""

    forms: tuple[Format, ...]
    """The formats of the nodes that are removed."""
    chunks: tuple[Chunks, ...]
    """The names of their chunks."""


def record(store: Store, path: str, removed: Removed) -> bool:
    """Store the record of a node that is about to be removed; return False if there was no room for it."""
    key = removal_key(path)
    above = key.removesuffix(REMOVAL)
    arrays = [list(one._replace(prefix=_relative(one.prefix, above))) for one in removed.chunks]
    names = [form.name for form in removed.forms]
    value = json.dumps({"blizzarr_removal": 1, "formats": names, "chunks": arrays}).encode()
    # A removal that makes room on a full disk must not fail for want of room.
    with suppress(StoreError):
        store.set(key, value)
        return True
    return False


def read(store: Store, path: str, keys: Iterable[str], prefixes: Iterable[str]) -> Removed:
    """Return what the record of a node, and the records among these keys, say; records of others are ignored.

    The keys are all that are stored below the prefixes.
    """
    forms: dict[str, Format] = {}
    chunks: list[Chunks] = []
    records = [key for key in keys if key.rpartition("/")[2] == REMOVAL]
    if not removal_key(path).startswith(tuple(prefixes)):
        records.insert(0, removal_key(path))
    for key in records:
        raw = store.get(key)
        removed = None if raw is None else _understood(bytes(raw), key.removesuffix(REMOVAL))
        if removed is not None:
            forms.update((form.name, form) for form in removed.forms)
            chunks += removed.chunks
    return Removed(tuple(forms.values()), tuple(chunks))


def _understood(raw: bytes, above: str) -> Removed | None:
    try:
        value: Any = load(raw, Problems())
        if value["blizzarr_removal"] != 1:
            return None
        forms = tuple(FORMATS[name] for name in value["formats"])
        chunks = [Chunks(*one) for one in value["chunks"] if _is_chunks(one)]
        return Removed(forms, tuple(one._replace(prefix=_absolute(one.prefix, above)) for one in chunks))
    except (ValueError, KeyError, TypeError):
        # Records are written atomically, so this is a file of another program.
        return None


def _relative(prefix: str, above: str) -> str:
    """Return a prefix as a record has it: below that of the node, or, in the draft, below the root."""
    return prefix[len(above) :] if prefix.startswith(above) else "/" + prefix


def _absolute(prefix: str, above: str) -> str:
    return prefix[1:] if prefix.startswith("/") else above + prefix


def _is_chunks(entry: Any) -> bool:
    """Return whether an entry names chunks: the file may be of another program, and what it names is removed."""
    prefix, head, separator, scalar, rank = entry
    return (
        type(prefix) is str
        and head in _HEADS
        and separator in _SEPARATORS
        and scalar in _SCALARS
        and type(rank) is int
        and _ANY <= rank <= _RANK
    )
