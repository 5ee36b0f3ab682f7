"""Sorting keys: which are chunks of which array, and what the others are.

A key belongs to the innermost node whose prefix it has. It is a chunk of an array if it is the array's chunk key for a
position within its grid. No reader finds other keys that look like chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from blizzarr.checking.finding import Finding
from blizzarr.checking.nodes import Nodes
from blizzarr.checking.survey import Survey
from blizzarr.formats import PROGRESS, array_keys, chunk_prefix, chunk_store, unfinished
from blizzarr.hierarchy.removal import REMOVAL
from blizzarr.model import ArrayMeta
from blizzarr.model.names import innermost
from blizzarr.size_text import count_text
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.confined import OUT
from blizzarr.stores.wrapper import unwrapped
from blizzarr.transformers import ArrayKeys, original_key
from blizzarr.upgrading.run import KEY as UPGRADE

Position = tuple[int, ...]

_CHUNK: Final = re.compile(r"(?:(?P<place>.+?)/)?(?:c(?:[./]?[0-9]+(?:[./][0-9]+)*)?|[0-9]+(?:[./][0-9]+)+|0)")
"""Keys that look like chunks of any array. A bare number could be anything, so only ``0`` counts."""
_BARE: Final = ("c", "0")
"""Names of chunks that prove nothing if they lie beside the document of a group."""
_RECORDS: Final = {
    PROGRESS: "a copy to this place was interrupted, or goes on; the same copy with resume=True (--resume) finishes it",
    REMOVAL: "a removal was interrupted; whatever replaces it (overwrite=True, --overwrite, mode='w') goes on with it",
    UPGRADE: "an upgrade was interrupted; the same upgrade goes on. Other findings may come from it",
}


class Owners:
    """A function from keys to the path of the node that owns them, or `None`; remembered per directory."""

    def __init__(self, owners: Mapping[str, str]) -> None:
        self._owners = owners
        self._known: dict[str, str | None] = {}

    def __call__(self, key: str) -> str | None:
        directory = key[: key.rfind("/") + 1]
        if directory not in self._known:
            prefix = innermost(key, self._owners)
            self._known[directory] = None if prefix is None else self._owners[prefix]
        return self._known[directory]


@dataclass(slots=True)
class Sorted:
    """All keys, sorted."""

    owner_of: Owners
    chunks: dict[str, list[Position]] = field(default_factory=dict)
    """The grid positions of the stored chunks, by path of the array."""
    outside: dict[str, list[str]] = field(default_factory=dict)
    """The keys (in the chunk store) of chunks outside the grid, by path of the array."""


def sort_keys(store: Store, surveyed: Survey, nodes: Nodes, findings: list[Finding]) -> Sorted:
    """Sort all keys, and add a finding for each that is neither a document nor a chunk inside its array."""
    arrays = {path: _Array.of(path, meta) for path, meta in nodes.arrays().items()}
    owners: dict[str, str] = {}
    for path in (*nodes.metas, *nodes.unreadable):
        meta = nodes.metas.get(path)
        prefixes = [chunk_prefix(path, meta)] if meta is not None else [form.chunk_prefix(path) for form in nodes.forms]
        for prefix in prefixes:
            owners[prefix] = path
    entries = {form.entry_key for form in nodes.forms}
    find_owner = Owners(owners)
    made = Sorted(find_owner)
    strays: list[tuple[str, str | None]] = []
    is_local = isinstance(unwrapped(store), LocalStore)
    is_link = getattr(unwrapped(store), "is_link", None)  # of zip files
    for key in surveyed.keys:
        if key in nodes.keys or key in entries:
            continue
        owner = find_owner(key)
        owned_by = None if owner is None else arrays.get(owner)
        if owned_by is None:
            if owner not in nodes.unreadable or key.rpartition("/")[2] in _RECORDS:
                strays.append((key, owner))
        elif is_local and owned_by.is_in_the_way(key):
            findings.append(_in_the_way(key, owned_by, "a file"))
        elif is_link is not None and owned_by.is_in_the_way(key) and is_link(key):
            findings.append(_in_the_way(key, owned_by, "a symbolic link, which is not followed"))
        elif not owned_by.meta.storage_transformers:
            owned_by.sort(key, made, findings)
    for path, array in arrays.items():
        made.chunks.setdefault(path, [])
        if array.meta.storage_transformers:
            for key in chunk_store(store, path, array.meta).list(array.keys.prefix.rstrip("/")):
                if key not in nodes.keys and key not in entries and find_owner(key) == path:
                    array.sort(key, made, findings)
    _sort_strays(strays, findings)
    # A store that cannot delete keeps the record of a finished copy.
    findings[:] = [one for one in findings if one.kind != "unfinished" or not _is_finished(store, one.key or "")]
    _sort_others(store, surveyed, nodes, arrays, find_owner, findings)
    return made


@dataclass(slots=True)
class _Array:
    """An array, and the patterns of its chunk names."""

    path: str
    meta: ArrayMeta
    keys: ArrayKeys
    grid: tuple[int, ...]
    loose: re.Pattern[str]
    """Matches chunk names, also with leading zeros."""
    other: re.Pattern[str]
    """Matches chunk names in other chunk key encodings."""

    @classmethod
    def of(cls, path: str, meta: ArrayMeta) -> _Array:
        rank, keys = len(meta.shape), meta.chunk_keys
        loose = re.escape(keys.head) + re.escape(keys.separator).join(["[0-9]+"] * rank)
        return cls(
            path,
            meta,
            array_keys(path, meta),
            meta.chunk_grid.shape(meta.shape),
            re.compile(loose if rank else re.escape(keys.scalar)),
            re.compile(r"c|0" if not rank else rf"(?:c[./]?)?[0-9]+(?:[./][0-9]+){{{rank - 1}}}"),
        )

    def is_inside(self, position: Position) -> bool:
        return all(index < count for index, count in zip(position, self.grid, strict=True))

    def is_in_the_way(self, key: str) -> bool:
        """Return whether chunks would be in a directory with the name of this key."""
        below = (self.keys.position(key + "/0" * count) for count in range(1, len(self.grid) + 1))
        return any(position is not None and self.is_inside(position) for position in below)

    def sort(self, key: str, made: Sorted, findings: list[Finding]) -> None:
        """Add a key of this array to `made`, or a finding about it."""
        position = self.keys.position(key)
        if position is not None:
            if self.is_inside(position):
                made.chunks.setdefault(self.path, []).append(position)
                return
            made.outside.setdefault(self.path, []).append(key)
            counts = " x ".join(f"{count:,}" for count in self.grid)
            message = f"the array of shape {self.meta.shape} has {counts} chunks"
            findings.append(Finding("outside", f"/{self.path}", message, key=key, chunk=position, repairable=True))
            return
        name = key[len(self.keys.prefix) :]
        if self.loose.fullmatch(name):
            message = f"chunks have keys without zeros in front, like {self.keys.name((0,) * len(self.grid))}"
            findings.append(Finding("chunk-key", f"/{self.path}", message, key=key))
        elif self.other.fullmatch(name):
            message = f"expected chunks with keys like {self.keys.name((0,) * len(self.grid))}, found {name}"
            findings.append(Finding("chunk-encoding", f"/{self.path}", message, key=key))
        else:
            findings.append(_stray(key, f"/{self.path}"))


def _is_finished(store: Store, key: str) -> bool:
    """True if this is the record of a copy that is complete."""
    path, _, name = key.rpartition("/")
    return name == PROGRESS and unfinished(store, path) is None


def _in_the_way(key: str, array: _Array, what: str) -> Finding:
    """Return the finding for what is in the place of a directory of chunks, all of which are errors to read."""
    return Finding("unreadable", f"/{array.path}", f"expected a directory of chunks, found {what}", key=key)


def _stray(key: str, path: str) -> Finding:
    record = _RECORDS.get(key.rpartition("/")[2])
    if record is not None:
        return Finding("unfinished", path, record, key=key)
    return Finding("foreign", path, "neither a document nor a chunk", key=key)


def _sort_strays(strays: Iterable[tuple[str, str | None]], findings: list[Finding]) -> None:
    """Add findings for keys that no array owns; keys that look like chunks are data without a document."""
    data: dict[str, list[str]] = {}
    for key, owner in strays:
        match = _CHUNK.fullmatch(key)
        array_path = "" if match is None else match["place"] or ""
        if match is None or (
            key.rpartition("/")[2] in _BARE and owner == array_path and "/" not in key[len(array_path) + 1 :]
        ):
            findings.append(_stray(key, f"/{key.rpartition('/')[0]}"))
        else:
            data.setdefault(array_path, []).append(key)
    for array_path, keys in data.items():
        message = f"{count_text(len(keys), 'object')} with keys like chunks, and no document of an array"
        findings.append(Finding("no-document", f"/{array_path}", message, key=keys[0]))


def _sort_others(
    store: Store,
    surveyed: Survey,
    nodes: Nodes,
    arrays: Mapping[str, _Array],
    find_owner: Owners,
    findings: list[Finding],
) -> None:
    """Add findings for names that are no keys: errors in place of chunks or documents, otherwise foreign files."""
    for name, what in (*surveyed.others.items(), *dict.fromkeys(surveyed.directories, "a directory").items()):
        path = find_owner(name)
        array = None if path is None else arrays.get(path)
        key = None if array is None else original_key(chunk_store(store, array.path, array.meta), name, store)
        position = None if array is None or key is None else array.keys.position(key)
        if position is not None and array is not None and array.is_inside(position):
            message = f"expected a file, found {what}"
            findings.append(Finding("no-file", f"/{array.path}", message, key=name, chunk=position))
        # In v3 a node may be named like a document of v2, and the reverse.
        elif name not in nodes.metas and (node_path := _node_of(name, nodes)) is not None:
            findings.append(Finding("no-file", f"/{node_path}", f"expected a document, found {what}", key=name))
        elif name in surveyed.others and array is not None and array.is_in_the_way(name):
            findings.append(_in_the_way(name, array, what))
        elif name in surveyed.others:
            # There may be chunks behind a link that leads out of the root; they cannot be checked.
            kind = "unreadable" if what == OUT else "foreign"
            findings.append(Finding(kind, f"/{path or ''}", what, key=name))
    for name, why in surveyed.unreadable.items():
        owner = find_owner(name) or ""
        findings.append(Finding("unreadable", f"/{owner}", f"cannot list the directory: {why}", key=name))


def _node_of(key: str, nodes: Nodes) -> str | None:
    """Return the path of the node whose document has this key; the root's for the document of the whole hierarchy."""
    if any(key == form.entry_key for form in nodes.forms):
        return ""
    return next((path for form in nodes.forms if (path := form.node_of(key)) is not None), None)
