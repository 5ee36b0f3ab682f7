"""Verifying the stored chunks of an array: all are decoded, or with `fast` only sizes and shard indexes are checked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from blizzarr.array.binding import engine_handle
from blizzarr.checking.finding import KINDS, Finding
from blizzarr.config import config
from blizzarr.distributing import Workers, batches, spread
from blizzarr.errors import (
    ArchiveError,
    BlizzarrError,
    ChecksumError,
    ChunkError,
    ShardIndexError,
    UnsupportedOperationError,
)
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store
from blizzarr.stores.regular import is_no_file

_FIRST: Final = 64
"""The size of the first batch, before the time per object is known."""
_MOST: Final = 8192
_SECONDS: Final = 0.25
"""The approximate time between two progress reports."""


class Verified(NamedTuple):
    """The part of the report about some objects of an array."""

    findings: list[Finding]
    objects: int = 0
    bytes: int = 0
    chunks: int = 0
    left_out: int = 0
    followed: int = 0
    """The number of objects with zeros behind their encoded bytes."""
    first: BaseException | None = None
    """The finding about the first object with such zeros."""


def verify(
    store: Store,
    path: str,
    meta: ArrayMeta,
    positions: Sequence[tuple[int, ...]],
    *,
    fast: bool,
    advance: Callable[[int], None],
    workers: Workers | None = None,
) -> Verified:
    """Verify the objects at these grid positions of one array."""
    try:
        engine_handle(store, path, meta)
    except (BlizzarrError, LookupError) as error:
        message = error.reason if isinstance(error, BlizzarrError) else str(error)
        advance(len(positions))
        found = Finding("not-supported", f"/{path}", f"chunks cannot be decoded here: {message}")
        return Verified([found])
    # With workers, of the size of a part of a copy.
    each = config.copy_bytes // max(1, largest_bytes(meta))
    some = _timed(positions) if workers is None else batches(positions, max(1, min(_MOST, each)), workers)
    total = Verified([])
    for verified in spread(workers, partial(_verified, store, path, meta, fast), some, advance):
        total.findings.extend(verified.findings)
        total = Verified(
            total.findings,
            total.objects + verified.objects,
            total.bytes + verified.bytes,
            total.chunks + verified.chunks,
            total.left_out + verified.left_out,
            total.followed + verified.followed,
            total.first or verified.first,
        )
    if total.first is not None:
        total.findings.append(_surplus(meta, path, total.first, total.followed))
    return total


def largest_bytes(meta: ArrayMeta) -> int:
    """Return the size of the largest chunk or shard, with the usual size of elements of any length."""
    return math.prod(meta.largest) * meta.dtype.usual_bytes


Batch: TypeAlias = Sequence[tuple[int, ...]]
"""Positions in the grid."""


def _verified(
    store: Store, path: str, meta: ArrayMeta, fast: bool, batch: Batch, advance: Callable[[int], object]
) -> Verified:
    # A handle for elements of variable length may keep what it decodes: a new one for each batch frees that memory.
    handle = engine_handle(store, path, meta)
    places = np.array(batch, np.int64).reshape(len(batch), len(meta.shape))
    objects, _, size, chunks, errors, left_out, shared, (followed, first) = handle.verify(places, fast)
    findings = [_finding(meta, path, error) for error in errors]
    findings += [_sharing(path, meta, tuple(chunk), times) for chunk, times in shared]
    advance(len(batch))
    return Verified(findings, objects, size, chunks, left_out, followed, first)


def _timed(positions: Batch) -> Iterator[Batch]:
    """Yield batches that take about `_SECONDS` each, as the time until the next one is asked for tells."""
    start, count = 0, _FIRST
    while start < len(positions):
        began = time.monotonic()
        yield (batch := positions[start : start + count])
        start += len(batch)
        took = time.monotonic() - began
        count = min(_MOST, max(1, int(len(batch) * min(4.0, _SECONDS / max(took, 1e-6)))))


def _surplus(meta: ArrayMeta, path: str, first: BaseException, count: int) -> Finding:
    """Return the finding for all objects of an array with zeros behind what is encoded."""
    finding = _finding(meta, path, first)
    more = f", also in {count - 1:,} more" if count > 1 else ""
    return replace(finding, kind="surplus", message=finding.message + more, repairable=False)


def _finding(meta: ArrayMeta, path: str, error: BaseException) -> Finding:
    if not isinstance(error, BlizzarrError):
        # An interrupt, or a bug in a store or codec written in Python.
        raise error
    message = f"{error.codec}: {error.reason}" if error.codec else error.reason
    kind = _kind(meta, error)
    inner = () if error.chunk is None else error.chunk[len(meta.shape) :]
    # If the position has an inner chunk, the index of the shard could be read, and the other inner chunks be found.
    repairable = KINDS[kind].repairable and (isinstance(error, ChecksumError) or bool(inner))
    return Finding(kind, f"/{path}", message, error.key, error.chunk, error.codec, repairable, inner)


def _kind(meta: ArrayMeta, error: BlizzarrError) -> str:
    if not isinstance(error, ChunkError):
        if isinstance(error, UnsupportedOperationError):
            return "not-supported"
        if isinstance(error, ArchiveError):
            return "archive"
        return "no-file" if is_no_file(error) else "unreadable"
    if isinstance(error, ShardIndexError):
        return "shard-index"
    if meta.codecs.is_sharded:
        return "inner-chunk" if len(error.chunk or ()) > len(meta.shape) else "shard-index"
    return "checksum" if isinstance(error, ChecksumError) else "chunk"


def _sharing(path: str, meta: ArrayMeta, chunk: tuple[int, ...], times: int) -> Finding:
    keys = meta.chunk_keys
    key = (f"{path}/" if path else "") + keys.key(chunk)
    return Finding("shared", f"/{path}", f"{times:,} inner chunks are the bytes of others", key=key, chunk=chunk)
