"""From a spec to an array in a store: found, held against what is demanded, created, replaced, or assumed."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from blizzarr import _native
from blizzarr.array import Array
from blizzarr.array.binding import same_chunks
from blizzarr.array.reshape import reshape
from blizzarr.caching import CachedStore, Since
from blizzarr.errors import BlizzarrError, SpecError
from blizzarr.formats import FORMATS as BY_NAME
from blizzarr.formats import Format, Found, encode, find_many, format_of
from blizzarr.hierarchy.documents import put
from blizzarr.hierarchy.place import place_node
from blizzarr.hierarchy.remove import remove_left_over, remove_node
from blizzarr.hierarchy.root_above import root_above
from blizzarr.indexing import Lowered
from blizzarr.json_values import dump, quote
from blizzarr.model import ArrayMeta
from blizzarr.spec.altered import altered
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.driver_names import FORMATS
from blizzarr.spec.drivers import DRIVERS, StoredDriver
from blizzarr.spec.element_type import Field
from blizzarr.spec.kvstore_node import KvNode
from blizzarr.spec.metadata import METADATA, MetadataConstraints
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.opened_place import bound, open_directory
from blizzarr.spec.recheck import Recheck, bound_at_open
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.status import (
    ArrayExistsError,
    ArrayNotFoundError,
    ConstraintError,
    failed_precondition,
    needs_directory,
)
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.generation import unwrapped
from blizzarr.tensorstore.limited_array import LimitedArray
from blizzarr.tensorstore.looked_at import LookedAt, looked_at
from blizzarr.tensorstore.settled import check, created
from blizzarr.tensorstore.staging import do_later
from blizzarr.tensorstore.stored_statistics import first_missing
from blizzarr.transactions import GenerationMismatchError, StagedStore, Transaction
from blizzarr.transactions.changes import place_in
from blizzarr.transactions.overlay import View

__all__ = ["StoredArray", "locate", "open_stored"]


@dataclass(frozen=True)
class StoredArray:
    """An array in a store, and the spec that it was opened with."""

    node: SpecNode
    """The spec, its resources bound."""
    array: Array
    """The array; what is read goes through the cache of the spec, if that has room."""
    metadata_since: float
    """Metadata that were last looked at before this moment, in seconds since 1970, must be looked at again."""
    known: LookedAt
    """What all that share the cache know of the metadata."""

    @property
    def assumed(self) -> bool:
        """Whether metadata are neither read nor written."""
        mode: OpenMode = self.node.options["mode"]
        return mode.assume_metadata

    @property
    def schema(self) -> Schema:
        """All that is known of the array, as it is stored."""
        return _schema_of(self.node, self.array.metadata)

    @property
    def part(self) -> Field | None:
        """What is seen of each element; None if it is one value, and all of it is."""
        return METADATA[self.node.driver].part(self.array.metadata, self.node.options)

    def refresh(self) -> None:
        """Take the shape as it is stored now."""
        moment = time.time()
        meta = self.look()[0]
        self.array._adopt(meta)
        self.known.are(meta, moment)

    def renew(self) -> None:
        """Take the shape as somebody who shares the cache has seen it, if that is new enough, else as it is stored."""
        meta = self.known.meta
        if meta is None or not self.known.suffices(self.metadata_since):
            self.refresh()
        elif meta is not self.array.metadata:
            self._check_compatible(meta)
            self.array._adopt(meta)

    def look(self) -> tuple[ArrayMeta, Found]:
        """The metadata as they are stored now, and their documents.

        Raises
        ------
        ConstraintError
            When the array is gone, or another is in its place: its chunks would mean something else.
        """
        array, forms = self.array, tuple(BY_NAME[name] for name in FORMATS[self.node.driver])
        (found,) = find_many(array.store, [array.path], forms)
        if isinstance(found, BlizzarrError):
            raise found
        if found is None or not isinstance(found.meta, ArrayMeta):
            key = _shown(array.store, format_of(array.metadata).node_keys(array.path)[0])
            raise ConstraintError(f"Metadata at {key} does not exist")
        self._check_compatible(found.meta)
        return found.meta, found

    def _check_compatible(self, meta: ArrayMeta) -> None:
        if not same_chunks(meta, self.array.metadata):
            new, old = map(self._compatible, (meta, self.array.metadata))
            kind = "N5" if self.node.driver == "n5" else "zarr"
            raise ConstraintError(f"Updated {kind} metadata {new} is incompatible with existing metadata {old}")

    def within(self, transaction: Transaction) -> StoredArray:
        """The same as a transaction will leave it."""
        array = self.array
        staged = array._in(StagedStore(transaction, array.store))
        return replace(self, array=staged, known=LookedAt())

    def reshape(self, decide: Callable[[tuple[int, ...]], tuple[int, ...]], metadata_only: bool) -> None:
        """Change the shape to what is decided of the one that is stored."""
        array = self.array

        def decided(stored: ArrayMeta) -> tuple[int, ...]:
            array._adopt(stored)
            return decide(stored.shape)

        binding = array._binding or array._bind()
        meta = reshape(
            array.store, array.path, array.metadata, binding, self.look, decided, metadata_only=metadata_only
        )
        array._adopt(meta)
        self.known.are(meta, time.time())

    def reshape_later(
        self, transaction: Transaction, decide: Callable[[tuple[int, ...]], tuple[int, ...]], metadata_only: bool
    ) -> None:
        """Change the shape when a transaction is committed, to what is decided of the one that is stored then."""
        array = self.array

        def apply(target: Store) -> None:
            stored = replace(self, array=array._in(target), known=LookedAt())
            key = format_of(array.metadata).node_keys(array.path)[0]
            with prefixed(f"Error writing {_shown(target, key)}"):
                stored.reshape(decide, metadata_only)

        do_later(transaction, array.store, array.path, array.metadata, apply)
        known = self.known
        transaction.future.add_done_callback(lambda _: known.forget())

    def refuse_missing(self, lowered: Lowered) -> None:
        """Refuse a selection when a chunk that it needs is not stored.

        Raises
        ------
        ArrayNotFoundError
            Then.
        """
        missing = first_missing(self.array, lowered)
        if missing is not None:
            index = ", ".join(map(str, missing[0]))
            key = _shown(self.array.store, missing[1])
            raise ArrayNotFoundError(f"chunk {{{index}}} stored at {key} is missing")

    def _compatible(self, meta: ArrayMeta) -> str:
        """What may not change as long as the array is open."""
        said = METADATA[self.node.driver].of(meta).to_json()
        return dump({name: value for name, value in said.items() if name not in _CHANGING})

    def said(self, minimal: bool = False) -> SpecNode:
        """The spec that opens it again; without the metadata if `minimal`."""
        meta = self.array.metadata
        kind = METADATA[self.node.driver]
        mode: OpenMode = self.node.options["mode"]
        options = {
            **kind.options_of(meta, self.node.options),
            "mode": OpenMode(open=True, assume_metadata=mode.assume_metadata),
            "metadata": _nothing(self.node) if minimal else kind.of(meta),
        }
        schema = _schema_of(self.node, meta)
        return altered(self.node, schema=Schema.of(schema.dtype, schema.rank), transform=None, options=options)


_REMEMBERED = 256
_schemas: OrderedDict[tuple[Any, ...], tuple[Any, Schema]] = OrderedDict()
"""The schemas of documents that were opened last; a document that is the same is the same object."""


def _schema_of(node: SpecNode, meta: ArrayMeta) -> Schema:
    """The schema of an array; not to be changed."""
    kind = METADATA[node.driver]
    if meta.source is None:
        return kind.schema_of(meta, node.options)
    key = node.driver, id(meta.source), meta.shape, *(node.options.get(name) for name in kind.options)
    found = _schemas.get(key)
    if found is None:
        # The document is kept, too, so that no other can have its identity.
        found = _schemas[key] = meta.source, kind.schema_of(meta, node.options)
        while len(_schemas) > _REMEMBERED:
            _schemas.popitem(last=False)
    return found[1]


_CHANGING = ("shape", "attributes", "dimension_names", "dimensions", "axes", "units", "resolution")


def _shown(store: Store, key: str) -> str:
    """A key as errors show it."""
    if isinstance(store, StagedStore | View):
        store = store.base
    store = unwrapped(store)
    return f"local file {quote(os.path.join(store.root, key))}" if isinstance(store, LocalStore) else quote(key)


class _Place(NamedTuple):
    """Where an array is looked for: a store, a path in it, and the formats that it may have there."""

    node: SpecNode
    kvstore: KvNode
    store: Store
    path: str
    forms: tuple[Format, ...]

    @property
    def constraints(self) -> MetadataConstraints:
        """What its metadata must be."""
        found: MetadataConstraints = self.node.options["metadata"]
        return found

    @property
    def key(self) -> str:
        """The document that tells that there is an array, as errors show it."""
        return _shown(self.store, self.forms[0].node_keys(self.path)[0])


def open_stored(node: SpecNode, transaction: Transaction | None = None) -> StoredArray:
    """The array that a bound spec means, as it is in a transaction.

    Examples
    --------
    >>> from blizzarr.spec.context import Context
    >>> from blizzarr.spec.spec import Spec
    >>> spec = Spec({"driver": "zarr3", "kvstore": "memory://"})
    >>> spec.update(dtype="int16", shape=[3], create=True, context=Context())
    >>> open_stored(spec.node).schema.domain
    { [0, 3*) }
    """
    mode: OpenMode = node.options["mode"]
    mode = mode if mode.names() else OpenMode(open=True)
    mode.check()
    makes = mode.create or mode.assume_metadata or mode.assume_cached_metadata
    missing = None if makes or node.kvstore is None else f"Metadata in {quote(node.kvstore.path)}"
    with needs_directory(missing):
        return _open_as(mode, locate(node, transaction))


def _open_as(mode: OpenMode, place: _Place) -> StoredArray:
    if mode.assume_metadata or mode.assume_cached_metadata:
        return _opened(place, _created(place), LookedAt())
    if mode.open:
        known = _looked_at(place)
        meta = _known_or_found(place, known)
        if meta is not None:
            _check(place, meta)
            if isinstance(place.store, StagedStore):
                _expect(place, place.store, meta)
            return _opened(place, meta, known)
        if not mode.create:
            raise ArrayNotFoundError(f"Metadata at {place.key} does not exist")
    return _create(place, mode)


def _create(place: _Place, mode: OpenMode) -> StoredArray:
    try:
        with prefixed(f"Error writing {place.key}"):
            meta = _created(place)
    except SpecError:
        # That there is one already comes first.
        if mode.delete_existing or _found(place) is None:
            raise
        raise ArrayExistsError(f"Error writing {place.key}") from None
    store = place.store
    if isinstance(store, StagedStore):

        def apply(target: Store) -> None:
            there = place._replace(store=target)
            if mode.delete_existing:
                _delete(there, meta)
            if not _put(there, meta):
                raise ArrayExistsError(f"Error writing {there.key}")

        do_later(store.transaction, store.base, place.path, meta, apply, anew=True)
        known = _looked_at(place._replace(store=store.base))
        store.transaction.future.add_done_callback(lambda _: known.forget())
        return _opened(place, meta, LookedAt())
    if mode.delete_existing:
        _delete(place, meta)
    if not _put(place, meta):
        # Somebody was faster.
        there = _found(place) if mode.open else None
        if there is None:
            raise ArrayExistsError(f"Error writing {place.key}")
        meta = there
        _check(place, meta)
    known = _looked_at(place)
    known.are(meta, time.time())
    return _opened(place, meta, known)


def _expect(place: _Place, store: StagedStore, meta: ArrayMeta) -> None:
    """Have a transaction fail when the metadata are not the same when it is committed."""

    def apply(target: Store) -> None:
        if _found(place._replace(store=target)) != meta:
            raise GenerationMismatchError(f"Error writing {place.key}: Metadata is inconsistent")

    do_later(store.transaction, store.base, place.path, meta, apply, checks=True)


def locate(node: SpecNode, transaction: Transaction | None = None) -> _Place:
    """Where a bound spec looks for its array."""
    if node.kvstore is None:
        raise SpecError('"kvstore" must be specified')
    store, path = open_directory(node.kvstore)
    forms = tuple(BY_NAME[name] for name in FORMATS[node.driver])
    if inner := node.options.get("node"):
        path = f"{path}/{inner}" if path else inner
    if any(form.entry_key is not None for form in forms):
        # Documents of this format are not where the path of the array leads.
        store, path = root_above(store, path) or (store, path)
    if transaction is not None:
        store = StagedStore(transaction, store)
    return _Place(node, node.kvstore, store, path, forms)


def _found(place: _Place) -> ArrayMeta | None:
    """What is stored, if it is an array."""
    (found,) = find_many(place.store, [place.path], place.forms)
    if isinstance(found, BlizzarrError):
        raise found
    if found is None:
        _refuse_unreadable(place)
        return None
    if not isinstance(found.meta, ArrayMeta):
        with failed_precondition():
            raise SpecError(
                f'Error reading {place.key}: Error parsing object member "node_type": Expected "array", '
                f'but received: "group"'
            )
    return found.meta


def _refuse_unreadable(place: _Place) -> None:
    """Refuse what has the name of a document and is none of an array, where nothing else has that name."""
    refuse: Any = getattr(place.constraints, "refuse", None)
    raw = None if refuse is None else place.store.get(place.forms[0].node_keys(place.path)[0])
    if raw is not None:
        with failed_precondition(), prefixed(f"Error reading {place.key}"):
            refuse(bytes(raw))


def _nothing(node: SpecNode) -> MetadataConstraints:
    """What is demanded of metadata when nothing is."""
    driver = DRIVERS[node.driver]
    assert isinstance(driver, StoredDriver), "others store nothing"
    return driver.nothing


def _looked_at(place: _Place) -> LookedAt:
    if isinstance(place.store, StagedStore):
        # What a transaction will leave is for nobody else to know.
        return LookedAt()
    return looked_at(bound(place.node, "cache_pool").value, (*place_in(place.store), place.path, place.node.driver))


def _known_or_found(place: _Place, known: LookedAt) -> ArrayMeta | None:
    """What is stored, as somebody who shares the cache has seen it, if that is new enough."""
    moment = time.time()
    if known.suffices(bound_at_open(place.node.options["recheck_cached_metadata"], moment)):
        return known.meta
    meta = _found(place)
    if meta is not None:
        known.are(meta, moment)
    return meta


def _check(place: _Place, meta: ArrayMeta) -> None:
    with failed_precondition():
        if place.constraints is _nothing(place.node) and place.node.schema.is_unset:
            _schema_of(place.node, meta)  # which has to be one that the driver knows
            return
        check(meta, place.constraints, place.node.schema, place.node.options)


def _created(place: _Place) -> ArrayMeta:
    with prefixed('Cannot create using specified "metadata" and schema'):
        return created(place.constraints, place.node.schema, place.node.options)


def _put(place: _Place, meta: ArrayMeta) -> bool:
    """Store the documents; False when there is an array already."""
    if place.forms[0].entry_key is not None:
        if _found(place) is not None:
            return False
        place_node(place.store, place.path, meta)
        return True
    documents = encode(meta, place.path)
    *others, last = documents
    if place.store.get(last) is not None:
        return False
    put(place.store, {}, {key: documents[key] for key in others})
    done = put(place.store, {}, {last: documents[last]})
    _publish(place.store)
    return done


def _delete(place: _Place, meta: ArrayMeta) -> None:
    """Remove what is there, and what an array that is gone may have left."""
    remove_node(place.store, place.path)
    remove_left_over(place.store, place.path, meta)


def _publish(store: Store) -> None:
    flush: Any = getattr(store, "flush", None)
    if flush is not None and not getattr(store, "shows_at_once", False):
        flush()


def _opened(place: _Place, meta: ArrayMeta, known: LookedAt) -> StoredArray:
    node = place.node
    pool = bound(node, "cache_pool").value
    store = place.store.base if isinstance(place.store, StagedStore) else place.store
    if pool.limit:
        store = CachedStore(store, pool, _since(node.options["recheck_cached_data"]))
    moment = bound_at_open(node.options["recheck_cached_metadata"], known.moment)
    threads = _threads(place)
    if threads is not None:
        return StoredArray(node, LimitedArray.of(store, place.path, meta, threads), moment, known)
    return StoredArray(node, Array(store, place.path, meta), moment, known)


def _threads(place: _Place) -> int | None:
    """How many threads may work on one request; None for as many as usual."""
    copying: int | None = bound(place.node, "data_copy_concurrency").value
    reading: int | None = None
    if "file_io_concurrency" in place.kvstore.resources:
        reading = bound(place.kvstore, "file_io_concurrency").value
    if copying is None and reading is None:
        return None
    # The same threads do both here.
    most = _native.threads() if copying is None else copying
    return most if reading is None else min(most, reading)


def _since(recheck: Recheck) -> Any:
    """The bound as the cache has it, which takes numbers for an age."""
    return recheck if isinstance(recheck, bool | str) else Since(recheck)
