"""Checking with a manifest of checksums: recording one, or comparing the data with one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias, Unpack

from blizzarr.checking.check import Options, look
from blizzarr.checking.finding import Finding, Severity
from blizzarr.checking.quarantine import outermost
from blizzarr.checking.report import Checksums, Report
from blizzarr.distributing import Progress
from blizzarr.errors import PathError
from blizzarr.formats import array_keys, chunk_prefix, node_of
from blizzarr.model import ArrayMeta
from blizzarr.model.names import innermost
from blizzarr.recording import Difference, compare, read_manifest, record, write_manifest
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.os_paths import os_path
from blizzarr.stores.place import is_inside, place_of
from blizzarr.stores.wrapper import unwrapped

Arrays: TypeAlias = Mapping[str, ArrayMeta]
"""The metadata of arrays, by path."""

_MESSAGES = {
    "changed": "its checksum is not the one that was recorded",
    "missing": "was there when the checksums were recorded",
    "new": "was not there when the checksums were recorded",
}


def check_and_record(store: Store, path: str, file: str | os.PathLike[str], **options: Unpack[Options]) -> Report:
    """Check a node, and record the checksums of all its objects in a file unless something is damaged.

    Raise `PathError` if the file would lie inside the data.
    """
    file = os.fsdecode(file)
    _refuse_inside(store, path, file)

    def recorded(report: Report, _: Arrays, second: Progress) -> Checksums:
        if report.count(Severity.ERROR):
            return Checksums(file, "not recorded")
        manifest = record(store, path, second, options.get("workers"))
        write_manifest(file, manifest)
        return Checksums(file, "recorded", len(manifest.digests), manifest.recorded)

    return _checked(store, path, recorded, **options)


def check_against(store: Store, path: str, file: str | os.PathLike[str], **options: Unpack[Options]) -> Report:
    """Check a node, and compare its objects with the checksums in a manifest.

    Raise `MetadataError` if the file is not a manifest, or is truncated. Raise `ConflictError` if the manifest was
    recorded for another node.
    """
    file = os.fsdecode(file)
    manifest = read_manifest(file)

    def compared(report: Report, arrays: Arrays, second: Progress) -> Checksums:
        reported = {finding.key for finding in report.of_kind("unreadable", "no-file")}
        prefixes = {chunk_prefix(array_path, meta): array_path for array_path, meta in arrays.items()}
        report.add(
            _finding(difference, path, arrays, prefixes)
            for difference in compare(store, path, manifest, second, options.get("workers"))
            if difference.kind != "unreadable" or difference.key not in reported
        )
        return Checksums(file, "compared", len(manifest.digests), manifest.recorded)

    return _checked(store, path, compared, **options)


def _checked(
    store: Store, path: str, checksums: Callable[[Report, Arrays, Progress], Checksums], **options: Unpack[Options]
) -> Report:
    """Check a node, and then its checksums, which are the second half of the progress."""
    began = time.monotonic()
    halves = _Halves(options.get("progress"))
    options["progress"] = halves.first
    report, inventory = look(store, path, **options)
    arrays = inventory.nodes.arrays()
    # The rest lists every key: that of a million chunks is 130 MB.
    del inventory
    report.manifest = checksums(report, arrays, halves.second)
    report.seconds = time.monotonic() - began
    return report


def _finding(difference: Difference, start: str, arrays: Arrays, prefixes: Mapping[str, str]) -> Finding:
    """Turn a difference from a manifest, which names a key, into a finding, which names a node and a chunk."""
    key, error, chunk = difference.key, difference.error, None
    path = node_of(key)
    if path is None and (prefix := innermost(key, prefixes)) is not None:
        path = prefixes[prefix]
        chunk = array_keys(path, arrays[path]).position(key)
    message = _MESSAGES[difference.kind] if error is None else error.reason
    return Finding(difference.kind, f"/{start if path is None else path}", message, key, chunk)


def _refuse_inside(store: Store, path: str, file: str) -> None:
    """Raise `PathError` if the manifest would lie inside the data: it would be a foreign file, lost with them."""
    if "\0" in file:
        raise PathError(f"expected the name of a file, found NUL in {file!r}")
    local = unwrapped(store)
    data = local
    if isinstance(local, LocalStore) and local.links == "follow":
        data = LocalStore(outermost(local.root / os_path(path)))
    location = place_of(data)
    if location.startswith("file:") and is_inside(file, os_path(location.removeprefix("file:"))):
        raise PathError(f"expected a file outside of the data for the manifest, found {file!r}", store=str(store))


class _Halves:
    """One progress callback for two tasks that run one after the other."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._chunks = 0

    def first(self, done: int, total: int) -> None:
        self._chunks = total
        if self._progress is not None:
            self._progress(done, 2 * total)

    def second(self, done: int, total: int) -> None:
        # The second half counts as much as the first, so that the sum never decreases.
        if self._progress is not None and total:
            self._progress(self._chunks + self._chunks * done // total, 2 * self._chunks)
