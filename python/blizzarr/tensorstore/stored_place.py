"""The place of an array in a store: it is found, created and removed there.

Metadata as they were last read are shared by everything that is opened with one cache. They last as long as something
that was opened with them does, or, where the cache has room, as the cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import ref

from blizzarr.errors import ArrayExistsError, ConstraintError, GenerationMismatchError, SpecError
from blizzarr.fork import ForkedLock
from blizzarr.formats import Format, chunk_prefix, document_keys, encode, find_one, made_of
from blizzarr.hierarchy.changing import changing
from blizzarr.hierarchy.documents import put
from blizzarr.hierarchy.place import place_node
from blizzarr.hierarchy.remove import remove_left_over, remove_node
from blizzarr.hierarchy.root_above import root_above
from blizzarr.model import ArrayMeta
from blizzarr.problems import warn_of
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.context import BoundResource
from blizzarr.spec.drivers import DRIVERS, StoredDriver
from blizzarr.spec.open_kvstore import open_kvstore
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.spec_node import SpecNode
from blizzarr.stores import Store
from blizzarr.stores.requests import is_remote, publish
from blizzarr.transactions import Operation, StagedStore, Transaction, changes_in, overlay
from blizzarr.transactions.overlay import View, place_in


def shown(store: Store, key: str) -> str:
    return overlay.shown(store.base if isinstance(store, StagedStore | View) else store, key)


class StoredPlace(NamedTuple):
    """A store, a path in it, and the formats that an array may have there."""

    node: SpecNode
    store: Store
    path: str
    forms: tuple[Format, ...]
    selection: tuple[str, ...] = ()
    """What tells arrays of one document apart."""

    def described(self) -> tuple[ArrayMeta, dict[str, bytes]]:
        """Return the array that the spec describes, and its documents, without looking at the store."""
        with prefixed('Cannot create using specified "metadata" and schema'):
            meta = self.node.options["metadata"].create(self.node.schema, self.node.options)
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
                    self.node.options["metadata"].refuse(bytes(raw))
            return None
        if node.notices:
            warn_of(node.notices)
        if not isinstance(node.meta, ArrayMeta):
            raise ConstraintError(f'Error reading {self.key}: expected the "node_type" "array", found "group"')
        return node.meta

    def expect(self, store: StagedStore, meta: ArrayMeta) -> None:
        """Let the commit of a transaction, whose store this place has, fail if the metadata have changed by then."""

        def apply(target: Store) -> None:
            if self._replace(store=target).found() != meta:
                raise GenerationMismatchError(f"Error writing {self.key}: Metadata is inconsistent")

        do_later(store.transaction, store.base, self.path, meta, apply, checks=True)

    def made(self, mode: OpenMode, known: KnownMetadata) -> tuple[ArrayMeta, bool]:
        """Create the array that the spec describes; return its metadata, and whether somebody else was faster.

        Raise `ArrayExistsError` if there is one, and it must not be opened.
        """
        try:
            with prefixed(lambda: f"Error writing {self.key}"):
                meta, documents = self.described()
        except SpecError:
            # That there is one already comes first.
            if mode.delete_existing or self.found() is None:
                raise
            raise self._exists() from None
        store, there = self.store, None
        if isinstance(store, StagedStore):

            def apply(target: Store) -> None:
                place = self._replace(store=target)
                if not place.create(mode, meta, documents):
                    raise place._exists()

            do_later(store.transaction, store.base, self.path, meta, apply, anew=True)
            return meta, False
        if not self.create(mode, meta, documents):
            # Somebody was faster.
            there = self.found() if mode.open else None
            if there is None:
                raise self._exists()
        known.keep(there or meta, time.time())
        return there or meta, there is not None

    def _exists(self) -> ArrayExistsError:
        advice = "something is here already; open=True opens an array, delete_existing=True replaces it"
        return ArrayExistsError(f"Error writing {self.key}: {advice}")

    def create(self, mode: OpenMode, meta: ArrayMeta, documents: dict[str, bytes]) -> bool:
        """Store the documents; return False if there is an array already, which the mode may tell to remove first."""
        if mode.delete_existing:
            remove_node(self.store, self.path, likely=self.forms[0])
            # An earlier array may have left something.
            remove_left_over(self.store, self.path, meta)
            if isinstance(self.store, View):
                # Nor is what others go on to write to it seen in the transaction.
                self.store.hide(chunk_prefix(self.path, meta))
        if self.forms[0].entry_key is not None:
            if self.found() is not None:
                return False
            place_node(self.store, self.path, meta)
            return True
        *others, last = documents
        # Far away, the store refuses a single document where there is one, and the groups above are read meanwhile.
        if (others or not is_remote(self.store)) and self.store.get(last) is not None:
            return False
        with changing(self.store, self.path, likely=self.forms[0]):
            put(self.store, {}, {key: documents[key] for key in others})
            done = put(self.store, {}, {last: documents[last]})
        publish(self.store)
        return bool(done)


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
    return kind(node, store, path, forms)


def do_later(
    transaction: Transaction,
    store: Store,
    path: str,
    meta: ArrayMeta,
    apply: Callable[[Store], None],
    *,
    anew: bool = False,
    checks: bool = False,
) -> None:
    """Change the documents of an array when a transaction is committed; with `anew`, the array is a new one from then
    on.

    With `checks` they are not changed, but must be what they are.
    """
    changes = changes_in(transaction, store)
    prefix = place_in(store)[1]
    names = tuple(prefix + key for key in document_keys(path, meta)[:1])
    changes.do(Operation(store, apply, names, prefix + path, checks))
    if anew:
        changes.drop(prefix + path)


class KnownMetadata:
    """The metadata of one array, and the moment when they were read, in seconds since 1970.

    Those of a transaction come with the ones that everybody else knows, which change at its end.
    """

    # Each method reads `_known` only once, as another thread may replace it.
    _known: tuple[ArrayMeta, float] | None = None
    outside: KnownMetadata | None = None
    is_outdated = False
    """True from when a transaction has changed the metadata until they are read again."""

    def recent(self, since: float = -inf) -> ArrayMeta | None:
        """Return the metadata if somebody has read them, at this moment or later."""
        known = self._known
        return known[0] if known is not None and known[1] >= since else None

    def later_than(self, other: KnownMetadata) -> bool:
        """Return whether these metadata were read or written after the other ones."""
        known, others = self._known, other._known
        return known is not None and (others is None or others[1] < known[1])

    def keep(self, meta: ArrayMeta, moment: float) -> None:
        """Keep metadata that were read or written at this moment, unless later ones are known."""
        known = self._known
        if known is None or known[1] <= moment:
            self._known, self.is_outdated = (meta, moment), False

    def forget(self) -> None:
        """Drop the metadata, so that the next user reads them."""
        self._known, self.is_outdated = None, True
        if self.outside is not None:
            self.outside.forget()


_SHARING: Final = ForkedLock()


_Key: TypeAlias = tuple[str, ...]
_Known: TypeAlias = dict[_Key, Any]
"""Metadata by the identity of an array: of a pool with room they are kept, otherwise there are weak references."""


def known_metadata(place: StoredPlace) -> KnownMetadata:
    """Return the last known metadata of the array at a place, for all that share the cache of its spec."""
    if type(place.store) is StagedStore:
        # Others must not see the metadata of a transaction.
        own = KnownMetadata()
        own.outside = known_metadata(place._replace(store=place.store.base))
        return own
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
