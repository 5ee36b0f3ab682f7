"""From a spec to a stored array: found and checked, created, replaced, or assumed."""

from __future__ import annotations

import time
from typing import Any

from blizzarr import _native
from blizzarr.caching import CachedStore, Since
from blizzarr.errors import ArrayExistsError, ArrayNotFoundError, GenerationMismatchError, SpecError, StoreError
from blizzarr.model import ArrayMeta
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.context import value_of
from blizzarr.spec.open_mode import OpenMode
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
from blizzarr.transactions.naming import place_in


def open_stored(
    node: SpecNode, transaction: Transaction | None = None, kind: type[StoredPlace] = StoredPlace
) -> StoredArray:
    """Return the array that a bound spec describes, as it is in a transaction; `kind` finds and creates it.

    Examples
    --------
    >>> from blizzarr.spec.context import Context
    >>> from blizzarr.spec.spec import Spec
    >>> spec = Spec({"driver": "zarr3", "kvstore": "memory://"})
    >>> spec.update(dtype="int16", shape=[3], create=True, context=Context())
    >>> open_stored(spec._node).schema.domain
    { [0, 3*) }
    """
    mode: OpenMode = node.options["mode"]
    if not mode.open:
        mode = mode if mode._names() else OpenMode(open=True)
    mode._check()
    try:
        return _open_as(mode, locate(node, transaction, kind))
    except StoreError as error:
        makes = mode.create or mode.assume_metadata or mode.assume_cached_metadata
        raise_no_directory(error, None if makes or node.kvstore is None else node.kvstore.path)
        raise


def _open_as(mode: OpenMode, place: StoredPlace) -> StoredArray:
    if mode.assume_metadata or mode.assume_cached_metadata:
        return _opened(place, place.described(), KnownMetadata())
    missing: ArrayNotFoundError | None = None
    if mode.open:
        known = _known_metadata(place)
        try:
            meta = _known_or_found(place, known)
        except ArrayNotFoundError as error:
            # A document may have other arrays than the one that is wanted.
            if not mode.create:
                raise
            meta, missing = None, error
        if meta is not None:
            _check(place, meta)
            if type(place.store) is StagedStore:
                _expect(place, place.store, meta)
            return _opened(place, meta, known)
        if not mode.create:
            raise ArrayNotFoundError(f"Metadata at {place.key} does not exist")
    return _add(place, mode, missing) if place.shares_document else _create(place, mode)


def _add(place: StoredPlace, mode: OpenMode, missing: ArrayNotFoundError | None) -> StoredArray:
    """Add an array to a document; `missing` is the error if it has a similar array that does not quite match."""
    moment = time.time()
    try:
        meta = place.add(mode)
    except ArrayExistsError:
        if missing is None:
            raise
        raise missing from None
    known = _known_metadata(place)
    known.keep(meta, moment)
    return _opened(place, meta, known)


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
        known = _known_metadata(place._replace(store=store.base))
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
    known = _known_metadata(place)
    known.keep(meta, time.time())
    return _opened(place, meta, known)


def _expect(place: StoredPlace, store: StagedStore, meta: ArrayMeta) -> None:
    """Let the commit of a transaction fail if the metadata have changed by then."""

    def apply(target: Store) -> None:
        if place._replace(store=target).found() != meta:
            raise GenerationMismatchError(f"Error writing {place.key}: Metadata is inconsistent")

    do_later(store.transaction, store.base, place.path, meta, apply, checks=True)


def _known_metadata(place: StoredPlace) -> KnownMetadata:
    if type(place.store) is StagedStore:
        # Metadata of a transaction must not be seen by others.
        return KnownMetadata()
    return known_metadata(place.node.resources, (*place_in(place.store), *place.array))


def _known_or_found(place: StoredPlace, known: KnownMetadata) -> ArrayMeta | None:
    """Return the stored metadata, from the cache if that is recent enough."""
    moment = time.time()
    if known.suffices(bound_at_open(place.node.options["recheck_cached_metadata"], moment)):
        return known.meta
    meta = place.found()
    if meta is not None:
        known.keep(meta, moment)
    return meta


def _check(place: StoredPlace, meta: ArrayMeta) -> None:
    node = place.node
    try:
        node.options["metadata"].check(meta, node.schema, node.options)
    except SpecError as error:
        raise_failed_precondition(error)
        raise


def _opened(place: StoredPlace, meta: ArrayMeta, known: KnownMetadata) -> StoredArray:
    node = place.node
    pool = value_of(node.resources, "cache_pool")
    store = place.store.base if type(place.store) is StagedStore else place.store
    mode: OpenMode = node.options["mode"]
    if pool.native is not None:
        store = CachedStore(store, pool, _since(node.options["recheck_cached_data"]))
    moment = bound_at_open(node.options["recheck_cached_metadata"], known.moment)
    is_assumed = mode.assume_metadata or mode.assume_cached_metadata
    array = OpenedArray(store, place.path, meta)
    array.threads, array.watched = _threads(place), not is_assumed
    return StoredArray(node, array, moment, known, type(node.options["metadata"]))


def _threads(place: StoredPlace) -> int | None:
    """Return the limit on the threads of one request; None for the default."""
    copying = value_of(place.node.resources, "data_copy_concurrency")["limit"]
    reading = "shared"
    if "file_io_concurrency" in place.kvstore.resources:
        reading = value_of(place.kvstore.resources, "file_io_concurrency")["limit"]
    if copying == reading == "shared":
        return None
    # The same threads do both here.
    most = _native.threads() if copying == "shared" else int(copying)
    return most if reading == "shared" else min(most, int(reading))


def _since(recheck: Recheck) -> Any:
    """Return the bound in the terms of the cache, where a number would be an age, not a moment."""
    return recheck if isinstance(recheck, bool | str) else Since(recheck)
