"""From a spec to a stored array: found and checked, created, replaced, or assumed."""

from __future__ import annotations

import time
from typing import Any

from blizzarr import _native
from blizzarr.caching import CachedStore, CachePool, Since
from blizzarr.errors import ArrayExistsError, ArrayNotFoundError, GenerationMismatchError, SpecError, StoreError
from blizzarr.model import ArrayMeta
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.field import Field
from blizzarr.spec.metadata import MetadataConstraints
from blizzarr.spec.open_mode import OpenMode, check_mode, modes_on
from blizzarr.spec.recheck import Recheck, bound_at_open
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.status import raise_failed_precondition, raise_no_directory
from blizzarr.stores import Store
from blizzarr.tensorstore.metadata_cache import KnownMetadata, known_metadata
from blizzarr.tensorstore.opened_array import OpenedArray
from blizzarr.tensorstore.staging import do_later
from blizzarr.tensorstore.stored_array import StoredArray
from blizzarr.tensorstore.stored_place import StoredPlace, locate
from blizzarr.transactions import StagedStore, Transaction


def open_stored(
    node: SpecNode, transaction: Transaction | None = None, kind: type[StoredPlace] = StoredPlace
) -> StoredArray:
    """Return the array that a bound spec describes, as it is in a transaction; `kind` finds and creates it.

    >>> from blizzarr.spec.context import Context
    >>> from blizzarr.spec.spec import Spec
    >>> spec = Spec({"driver": "zarr3", "kvstore": "memory://"})
    >>> spec.update(dtype="int16", shape=[3], create=True, context=Context())
    >>> open_stored(spec._node).schema.domain
    { [0, 3*) }
    """
    mode: OpenMode = node.options["mode"]
    if not mode.open:
        mode = mode if modes_on(mode) else OpenMode(open=True)
    if mode.delete_existing or mode.assume_metadata or mode.assume_cached_metadata:
        check_mode(mode)
    try:
        place = locate(node, transaction, kind)
        if mode.assume_metadata or mode.assume_cached_metadata:
            return _opened(place, place.described(), KnownMetadata())
        missing: ArrayNotFoundError | None = None
        if mode.open:
            known, moment = known_metadata(place.store, node.resources, *place.array), time.time()
            try:
                meta = known.recent(bound_at_open(node.options["recheck_cached_metadata"], moment))
                if meta is None and (meta := place.found()) is not None:
                    known.keep(meta, moment)
            except ArrayNotFoundError as error:
                # A document may have other arrays than the one that is wanted.
                if not mode.create:
                    raise
                meta, missing = None, error
            if meta is not None:
                field = _check(place, meta)
                if type(place.store) is StagedStore:
                    _expect(place, place.store, meta)
                return _opened(place, meta, known, moment, field)
            if not mode.create:
                raise ArrayNotFoundError(f"Metadata at {place.key} does not exist")
        return _add(place, mode, missing) if place.shares_document else _create(place, mode)
    except StoreError as error:
        makes = mode.create or mode.assume_metadata or mode.assume_cached_metadata
        raise_no_directory(error, None if makes or node.kvstore is None else node.kvstore.path)
        raise


def _add(place: StoredPlace, mode: OpenMode, missing: ArrayNotFoundError | None) -> StoredArray:
    """Add an array to a document; `missing` is the error if it has a similar array that does not quite match."""
    moment = time.time()
    try:
        meta = place.add(mode)
    except ArrayExistsError:
        if missing is None:
            raise
        raise missing from None
    known = known_metadata(place.store, place.node.resources, *place.array)
    known.keep(meta, moment)
    return _opened(place, meta, known, moment)


def _create(place: StoredPlace, mode: OpenMode) -> StoredArray:
    try:
        with prefixed(f"Error writing {place.key}"):
            meta = place.described()
    except SpecError:
        # That there is one already comes first.
        if mode.delete_existing or place.found() is None:
            raise
        raise ArrayExistsError(f"Error writing {place.key}") from None
    store = place.store
    if isinstance(store, StagedStore):

        def apply(target: Store) -> None:
            there = place._replace(store=target)
            if mode.delete_existing:
                there.remove(meta)
            if not there.create(meta):
                raise ArrayExistsError(f"Error writing {there.key}")

        do_later(store.transaction, store.base, place.path, meta, apply, anew=True)
        known = known_metadata(store.base, place.node.resources, *place.array)
        store.transaction.future.add_done_callback(lambda _: known.forget())
        return _opened(place, meta, KnownMetadata())
    if mode.delete_existing:
        place.remove(meta)
    if not place.create(meta):
        # Somebody was faster.
        there = place.found() if mode.open else None
        if there is None:
            raise ArrayExistsError(f"Error writing {place.key}")
        meta = there
        _check(place, meta)
    known = known_metadata(place.store, place.node.resources, *place.array)
    moment = time.time()
    known.keep(meta, moment)
    return _opened(place, meta, known, moment)


def _expect(place: StoredPlace, store: StagedStore, meta: ArrayMeta) -> None:
    """Let the commit of a transaction fail if the metadata have changed by then."""

    def apply(target: Store) -> None:
        if place._replace(store=target).found() != meta:
            raise GenerationMismatchError(f"Error writing {place.key}: Metadata is inconsistent")

    do_later(store.transaction, store.base, place.path, meta, apply, checks=True)


def _check(place: StoredPlace, meta: ArrayMeta) -> Field:
    """Return the selected part of the elements of an array, if the array meets the constraints."""
    node = place.node
    constraints: MetadataConstraints = node.options["metadata"]
    try:
        constraints.check(meta, node.schema, node.options)
        return constraints.field_of(meta, node.options)
    except SpecError as error:
        raise_failed_precondition(error)
        raise


def _opened(
    place: StoredPlace,
    meta: ArrayMeta,
    known: KnownMetadata,
    moment: float | None = None,
    field: Field | None = None,
) -> StoredArray:
    """Return the array, whose metadata were read or written at this moment; by default, now."""
    node = place.node
    store = place.store.base if type(place.store) is StagedStore else place.store
    mode: OpenMode = node.options["mode"]
    pool: CachePool = node.resources["cache_pool"].value
    if pool.native is not None:
        store = CachedStore(store, pool, _since(node.options["recheck_cached_data"]))
    copying = node.resources["data_copy_concurrency"].value["limit"]
    reading = place.kvstore.resources.get("file_io_concurrency", node.resources["data_copy_concurrency"]).value["limit"]
    threads = None
    if not copying == reading == "shared":
        # The same threads copy and read.
        most = _native.threads() if copying == "shared" else copying
        threads = most if reading == "shared" else min(most, reading)
    array = OpenedArray(store, place.path, meta)
    array.threads, array.watched = threads, not (mode.assume_metadata or mode.assume_cached_metadata)
    if field is None:
        field = place.constraints.field_of(meta, node.options)
    since = bound_at_open(node.options["recheck_cached_metadata"], moment)
    return StoredArray(node, array, since, known, type(place.constraints), field)


def _since(recheck: Recheck) -> Any:
    """Return the bound in the terms of the cache, where a number would be an age, not a moment."""
    return recheck if isinstance(recheck, bool | str) else Since(recheck)
