"""The place of an array in a store: it is found, created and removed there.

Metadata as they were last read are shared by everything that is opened with one cache. They last as long as something
that was opened with them does, or, where the cache has room, as the cache.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import ref

from blizzarr.errors import ConstraintError, SpecError
from blizzarr.fork import ForkedLock
from blizzarr.formats import Format, encode, find_one, made_of
from blizzarr.hierarchy.documents import put
from blizzarr.hierarchy.place import place_node
from blizzarr.hierarchy.remove import remove_left_over, remove_node
from blizzarr.hierarchy.root_above import root_above
from blizzarr.model import ArrayMeta
from blizzarr.problems import warn_of
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.context import BoundResource
from blizzarr.spec.drivers import DRIVERS, StoredDriver
from blizzarr.spec.metadata import MetadataConstraints
from blizzarr.spec.open_kvstore import open_kvstore
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.spec_node import KvNode, SpecNode
from blizzarr.stores import Store
from blizzarr.stores.requests import publish
from blizzarr.transactions import StagedStore, Transaction, overlay
from blizzarr.transactions.overlay import View, place_in


def shown(store: Store, key: str) -> str:
    return overlay.shown(store.base if isinstance(store, StagedStore | View) else store, key)


class StoredPlace(NamedTuple):
    """A store, a path in it, and the formats that an array may have there."""

    node: SpecNode
    kvstore: KvNode
    store: Store
    path: str
    forms: tuple[Format, ...]
    selection: tuple[str, ...] = ()
    """What tells arrays of one document apart."""

    @property
    def constraints(self) -> MetadataConstraints:
        return self.node.options["metadata"]

    @property
    def shares_document(self) -> bool:
        """True if arrays are created in a document that other arrays may have made; `add` does so."""
        return False

    def add(self, mode: OpenMode) -> ArrayMeta:
        """Add the array that the spec describes to the stored document, or to a new one.

        Raise `ArrayExistsError` if the document has the array.
        """
        raise NotImplementedError

    def described(self) -> tuple[ArrayMeta, dict[str, bytes]]:
        """Return the array that the spec describes, and its documents, without looking at the store."""
        with prefixed('Cannot create using specified "metadata" and schema'):
            meta = self.constraints.create(self.node.schema, self.node.options)
            documents = encode(meta, self.path)
            return made_of(documents, meta, self.path), documents

    @property
    def key(self) -> str:
        """The document that tells that there is an array, as errors show it."""
        return shown(self.store, self.forms[0].node_keys(self.path)[0])

    def found(self) -> ArrayMeta | None:
        """Return the stored metadata, or None if there is no array."""
        node = find_one(self.store, self.path, self.forms)
        if node is None:
            raw = self.store.get(self.forms[0].node_keys(self.path)[0])
            if raw is not None:
                # The key of the document holds something that is not the document of an array.
                with prefixed(f"Error reading {self.key}", ConstraintError):
                    self.constraints.refuse(bytes(raw))
            return None
        if node.notices:
            warn_of(node.notices)
        if not isinstance(node.meta, ArrayMeta):
            raise ConstraintError(f'Error reading {self.key}: expected the "node_type" "array", found "group"')
        return node.meta

    def create(self, meta: ArrayMeta, documents: dict[str, bytes]) -> bool:
        """Store the documents; return False if there is an array already."""
        if self.forms[0].entry_key is not None:
            if self.found() is not None:
                return False
            place_node(self.store, self.path, meta)
            return True
        *others, last = documents
        if self.store.get(last) is not None:
            return False
        put(self.store, {}, {key: documents[key] for key in others})
        done = put(self.store, {}, {last: documents[last]})
        publish(self.store)
        return bool(done)

    def remove(self, meta: ArrayMeta) -> None:
        """Remove the array, and what an earlier array may have left."""
        remove_node(self.store, self.path)
        remove_left_over(self.store, self.path, meta)


def locate(
    node: SpecNode, transaction: Transaction | None = None, kind: type[StoredPlace] = StoredPlace
) -> StoredPlace:
    """Return the place in which a bound spec looks for its array."""
    if node.kvstore is None:
        raise SpecError('"kvstore" must be specified')
    store, path = open_kvstore(node.kvstore, directory=True)
    driver = DRIVERS[node.driver]
    assert isinstance(driver, StoredDriver), "others store nothing"
    forms = driver.forms or driver.formats_of(node)
    if inner := node.options.get("node"):
        path = f"{path}/{inner}" if path else inner
    if forms[0].entry_key is not None:
        # Documents of this format are not where the path of the array leads.
        store, path = root_above(store, path) or (store, path)
    if transaction is not None:
        store = StagedStore(transaction, store)
    return kind(node, node.kvstore, store, path, forms)


class KnownMetadata:
    """The metadata of one array, and the moment when they were read, in seconds since 1970."""

    # Each method reads `_known` only once, as another thread may replace it.
    _known: tuple[ArrayMeta, float] | None = None

    @property
    def meta(self) -> ArrayMeta | None:
        """The metadata; None if nobody has read them."""
        known = self._known
        return None if known is None else known[0]

    def recent(self, since: float) -> ArrayMeta | None:
        """Return the metadata if they were read at this moment or later."""
        known = self._known
        return known[0] if known is not None and known[1] >= since else None

    def keep(self, meta: ArrayMeta, moment: float) -> None:
        """Keep metadata that were read or written at this moment, unless later ones are known."""
        known = self._known
        if known is None or known[1] <= moment:
            self._known = meta, moment

    def forget(self) -> None:
        """Drop the metadata, so that the next user reads them."""
        self._known = None


_SHARING: Final = ForkedLock()


_Key: TypeAlias = tuple[str, ...]
_Known: TypeAlias = dict[_Key, Any]
"""Metadata by the identity of an array: of a pool with room they are kept, otherwise there are weak references."""


def known_metadata(place: StoredPlace) -> KnownMetadata:
    """Return the last known metadata of the array at a place, for all that share the cache of its spec."""
    if type(place.store) is StagedStore:
        # Others must not see the metadata of a transaction.
        return KnownMetadata()
    key = (*place_in(place.store), place.path, place.node.driver, *place.selection)
    resource = place.node.resources["cache_pool"]
    assert isinstance(resource, BoundResource), "the node is bound"
    known: _Known = resource.shared
    with _SHARING.lock:
        entry = known.get(key)
        metadata: KnownMetadata | None = entry() if type(entry) is ref else entry
        if metadata is None:
            metadata = KnownMetadata()
            known[key] = ref(metadata, partial(_forget, known, key)) if resource.value.native is None else metadata
        return metadata


def _forget(known: _Known, key: _Key, reference: ref[KnownMetadata]) -> None:
    with _SHARING.lock:
        if known.get(key) is reference:
            del known[key]
