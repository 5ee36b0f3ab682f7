"""Copying one array, with progress, and going on after an interruption."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.array import Array
from blizzarr.config import config
from blizzarr.copying.elements import Lost, cells_for, copy_elements, larger_element, regions_for, report_unverified
from blizzarr.copying.progress import ORIGIN, Record, fingerprint
from blizzarr.copying.regions import Cell, Regions
from blizzarr.copying.stored import copy_stored, same_layout, stored_objects
from blizzarr.creation.describe import describe_array
from blizzarr.creation.elements import check_convertible
from blizzarr.creation.like import like
from blizzarr.distributing import Workers
from blizzarr.dtypes import DataType
from blizzarr.errors import BlizzarrError, NodeExistsError, NodeTypeError
from blizzarr.formats import (
    chunk_prefix,
    chunk_store,
    detect,
    encode,
    format_of,
    lost_mask,
    made_of,
    translate,
    with_masked_value,
)
from blizzarr.hierarchy.place import place_node
from blizzarr.model import ArrayMeta
from blizzarr.stores import LocalStore, MemoryStore, Store
from blizzarr.stores.place import lasting_place_of
from blizzarr.stores.wrapper import unwrapped

Source: TypeAlias = Array | npt.NDArray[Any]
Advance: TypeAlias = Callable[[int], None]
"""Called with the number of bytes, as in memory, that were copied since the last call."""


@dataclass(frozen=True, slots=True)
class ArrayCopy:
    """The copy of one array: the source, the place of the copy, and its metadata."""

    source: Source
    store: Store
    path: str
    metadata: ArrayMeta
    lost_mask: str | None = None
    """A description of what xarray masks in the copy, if it is not what it masks in the source."""

    @classmethod
    def plan(cls, source: Source, store: Store, path: str, options: dict[str, Any]) -> ArrayCopy:
        """Return the copy with these options of `create_array`; nothing is stored.

        Raise `MetadataError` if the format of the copy cannot express something; `problems` lists everything. Raise
        `TypeError` if the elements cannot be converted to its data type.
        """
        attributes = options.get("attributes")
        arguments = like(source, {name: value for name, value in options.items() if name != "attributes"})
        metadata = describe_array(**arguments | {"attributes": attributes})
        dtype_of_source = source.metadata.dtype if isinstance(source, Array) else DataType.parse(source.dtype)
        check_convertible(dtype_of_source, metadata.dtype)
        lost = None
        if isinstance(source, Array):
            same = source.metadata.format == metadata.format
            # The chunk keys of the copy are chosen already; the format may not have those of the source.
            keyed = replace(source.metadata, chunk_keys=metadata.chunk_keys)
            if options.get("dimension_names", ()) is None:
                keyed = replace(keyed, dimension_names=None)
            old = source.metadata if same else translate(keyed, format_of(metadata))[0]
            assert isinstance(old, ArrayMeta)
            lost = lost_mask(keyed, old)
            # Attributes are taken as they are stored: they may be such that users could not set them here.
            filled = with_masked_value(old, format_of(metadata), metadata.dtype)
            taken = metadata.attributes if attributes is not None else filled.attributes
            names = metadata.dimension_names if "dimension_names" in options else old.dimension_names
            metadata = replace(metadata, extra=old.extra, attributes=taken, dimension_names=names)
        return cls(source, store, path, made_of(encode(metadata, path), metadata, path), lost)

    @property
    def held_bytes(self) -> int:
        """The bytes that the whole array takes up in memory while it is copied."""
        return math.prod(self.source.shape) * larger_element(self.source, self.metadata)

    @property
    def interrupted(self) -> bool:
        """True if a copy to the same place was begun and not finished."""
        return Record(self.store, self.path).read() is not None

    def run(
        self,
        advance: Advance,
        *,
        resume: bool = False,
        overwrite: bool = False,
        lost: Lost | None = None,
        workers: Workers | None = None,
    ) -> Array:
        """Copy the array, or go on with a copy that was interrupted.

        With `lost`, chunks that cannot be decoded are left as the fill value; it is called once with each error.

        Raise `NodeExistsError` or `NodeTypeError` if something else is there, and not `overwrite`. With `resume`, raise
        `ConflictError` if the source has changed since the copy began, or the copy was begun with other options.
        """
        target = Array(self.store, self.path, self.metadata)
        facts = {
            ORIGIN: fingerprint(self._origin()),
            "memory limit (config.copy_bytes, --memory)": config.copy_bytes,
            "skip_damaged": lost is not None,
        }
        record = Record(self.store, self.path, facts)
        positions, regions, cells, mark = self._steps(target, skips=lost is not None)
        steps = cells if positions is None else positions
        done = 0
        if resume and self._is_complete(record):
            advance(self.source.nbytes)
            return target
        # Before anything is copied, so that a resumed copy finds changes from now on.
        state = source_state(self.source, positions)
        # A copy that has come upon damage has other steps than one that skips it, which begins again.
        restarts = lost is not None and record.is_of(lambda: self._steps(target, skips=False)[3])
        here = detect(self.store, self.path) if resume and not restarts else None
        if here is not None:
            count = regions.count if steps is None else len(steps)
            done = record.done(mark, state, count, {self.path: self.metadata})
        if done == 0 and (here is None or encode(here, self.path) != encode(self.metadata, self.path)):
            self._begin(record, mark, state, resume=resume, overwrite=overwrite)
        if positions is not None:
            assert isinstance(self.source, Array)
            total, count = self.source.nbytes, max(1, len(positions))
            advance(total * done // count)

            def stored(number: int, came: int) -> None:
                record.write(mark, state, number)
                advance(total * number // count - total * (number - came) // count)

            copy_stored(self.source, target, positions, done, stored, workers)
            if not positions:
                advance(total)
        else:
            chosen = regions if cells is None else map(regions.region, cells)
            advance(sum(_bytes(region, target) for region in islice(chosen, done)))

            def copied(number: int, came: int) -> None:
                record.write(mark, state, number)
                advance(came)

            once = None if lost is None else _once(lost)
            copy_elements(self.source, target, regions, cells, done, copied, once, workers)
            if once is not None and isinstance(self.source, Array):
                report_unverified(self.source, once)
            if cells is not None:
                advance(self.source.nbytes - sum(_bytes(regions.region(cell), target) for cell in cells))
        record.finish()
        return target

    def _steps(self, target: Array, *, skips: bool) -> tuple[list[Cell] | None, Regions, list[Cell] | None, str]:
        """Return the positions of objects to copy as they are, or the regions and the cells of them; and a mark."""
        positions = None
        # Stored objects would be copied with their damage.
        if not skips and isinstance(self.source, Array) and same_layout(self.source.metadata, self.metadata):
            positions = stored_objects(self.source)
        regions = regions_for(self.source, target)
        cells = cells_for(self.source, regions, self.metadata) if positions is None else None
        parts: Any = regions.region_shape if cells is None else (regions.region_shape, cells)
        # What a copy that skips damage has left out, one that does not must not take for copied.
        return positions, regions, cells, self._mark(positions, ("skip damaged", parts) if skips else parts)

    def _begin(self, record: Record, mark: str, state: str | None, *, resume: bool, overwrite: bool) -> None:
        """Store the record and the document of the empty array."""
        interrupted = record.read() is not None and detect(self.store, self.path) is not None
        if interrupted and not (resume or overwrite):
            raise record.refusal()
        place_node(
            self.store,
            self.path,
            self.metadata,
            overwrite=overwrite or interrupted,
            before=lambda: record.write(mark, state, 0),
            copied=True,
        )

    def _is_complete(self, record: Record) -> bool:
        here = detect(self.store, self.path)
        if here is None:
            return False
        if not isinstance(here, ArrayMeta):
            raise NodeTypeError("expected an interrupted copy of an array, found a group", array=f"/{self.path}")
        if record.read() is not None:
            return False
        if here.format != self.metadata.format or encode(here, self.path) != encode(self.metadata, self.path):
            raise NodeExistsError(
                "expected an interrupted or complete copy, found another array; overwrite=True replaces it",
                array=f"/{self.path}",
                store=str(self.store),
            )
        return True

    def _origin(self) -> tuple[str | None, str] | None:
        # Some stores have no place that another process could recognise; it can still finish the copy.
        one = self.source
        return (lasting_place_of(one.store), one.path) if isinstance(one, Array) else None

    def _mark(self, positions: list[tuple[int, ...]] | None, steps: Any) -> str:
        source: Any = str(self.source.dtype), self.source.shape
        if isinstance(self.source, Array):
            meta = self.source.metadata
            source = (*source, *(self._origin() or ()), meta.chunk_grid.spelling, meta.codecs.to_json())
        documents = encode(self.metadata, "")
        target = [document.decode() for document in documents.values()]
        return fingerprint(source, target, steps if positions is None else positions)


def _once(lost: Lost) -> Lost:
    """Return a function that tells of each chunk only once: several regions may need it."""
    reported: set[tuple[str | None, tuple[int, ...] | None]] = set()

    def tell(error: BlizzarrError) -> None:
        if (error.key, error.chunk) not in reported:
            reported.add((error.key, error.chunk))
            lost(error)

    return tell


def _bytes(region: tuple[slice, ...], target: Array) -> int:
    return math.prod(part.stop - part.start for part in region) * target.dtype.itemsize


def source_state(source: Array | npt.NDArray[Any], positions: list[tuple[int, ...]] | None) -> str | None:
    """Return a digest of the source's documents and of the size and time of each stored object; None for NumPy arrays.

    Directories and stores in memory have sizes and times (or versions) without reading anything; for other stores only
    the documents count. `positions` are the positions of the stored objects, if they have been listed already.
    """
    digest = hashlib.sha256()
    if not isinstance(source, Array):
        file = getattr(source, "filename", None) if isinstance(source, np.memmap) else None
        return None if file is None else hashlib.sha256(_stamp(os.fspath(file))).hexdigest()[:32]
    meta = source.metadata
    for key, document in sorted(encode(meta, source.path).items()):
        digest.update(key.encode() + b"\0" + document)
    stamp = _stamps(chunk_store(source.store, source.path, meta))
    if stamp is not None:
        prefix = chunk_prefix(source.path, meta)
        for position in stored_objects(source) or [] if positions is None else positions:
            key = prefix + meta.chunk_keys.key(position)
            digest.update(key.encode() + b"\0" + stamp(key))
    return digest.hexdigest()[:32]


def _stamps(store: Store) -> Callable[[str], bytes] | None:
    """Return a function from keys to bytes that change with the value; None if the store would have to read values."""
    store = unwrapped(store)
    if isinstance(store, MemoryStore):
        version = store.version
        return lambda key: version(key) or b""
    if isinstance(store, LocalStore):
        # Not `version`, which also changes with the owner of a file, and is missing for files that were just written.
        path_of = store.path_of
        return lambda key: _stamp(path_of(key))
    return None


def _stamp(file: str) -> bytes:
    try:
        status = os.stat(file)
    except OSError:  # nothing there, or what is an error of the store where it is read
        return b""
    return f"{status.st_size} {status.st_mtime_ns}".encode()
