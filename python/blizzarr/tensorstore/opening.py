"""Opening a store from a spec; stored arrays are found and checked, created, replaced, or assumed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from blizzarr.caching import CachedStore, CachePool, Since
from blizzarr.errors import (
    ArrayNotFoundError,
    BlizzarrError,
    ConstraintError,
    MetadataError,
    NotReadableError,
    NotWritableError,
    PlaceError,
    SelectionError,
    SpecError,
    StoreError,
    TransactionError,
)
from blizzarr.formats import detect, find_many, get_many
from blizzarr.futures import POOL, Batch, Future, add_work, at_once, failed, submit
from blizzarr.indexing.form import Form
from blizzarr.json_members import Members
from blizzarr.json_values import quote
from blizzarr.keywords import name_keywords
from blizzarr.model import ArrayMeta
from blizzarr.spec.arguments import raise_no_directory, raise_opening
from blizzarr.spec.chunk_layout import USAGES, grid_of, merge_layout
from blizzarr.spec.context import Context, bind
from blizzarr.spec.drivers import DRIVERS, Change, StoredDriver
from blizzarr.spec.drivers.stored import SOUGHT
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.kvstore_json import url_part
from blizzarr.spec.metadata.interface import MetadataConstraints, one_chunk_shape
from blizzarr.spec.open_kvstore import open_kvstore
from blizzarr.spec.open_mode import OpenMode, Recheck, bound_at_open, check_mode
from blizzarr.spec.schema import refuse_encoding
from blizzarr.spec.spec import CHANGES, change_of, changed, node_of, spec_from_json
from blizzarr.spec.spec_node import SpecNode
from blizzarr.stores.requests import each
from blizzarr.tensorstore.downsample_driver import DownsampleDriver
from blizzarr.tensorstore.driver import DOCUMENTS, Driver, Request
from blizzarr.tensorstore.store import TensorStore, driver_of, store_of
from blizzarr.tensorstore.stored_array import StoredArray
from blizzarr.tensorstore.stored_array_driver import StoredArrayDriver
from blizzarr.tensorstore.stored_place import KnownMetadata, StoredPlace, known_metadata, locate
from blizzarr.tensorstore.values import JsonDriver, MemoryArray
from blizzarr.transactions import StagedStore, Transaction, delaying
from blizzarr.views import domain_of, form_of
from blizzarr.views.compose import compose

_PLAIN: Final = Request()


def open(
    spec: Any,
    *,
    read: bool | None = None,
    write: bool | None = None,
    context: Context | None = None,
    transaction: Transaction | None = None,
    batch: Batch | None = None,
    **changes: Any,
) -> Future[TensorStore]:
    """Open or create the array that a spec describes.

    Parameters
    ----------
    spec
        A `Spec`, its JSON, or a URL.
    read, write
        Require that reading, or writing, is possible. If only one of them is given, the other is not possible.
    context
        The context, which is shared with other stores that are opened with it.
    transaction
        The transaction that gathers everything that is written.
    batch
        A batch: opening may wait for it, to be done together with other work.
    **changes
        Everything that `Spec.update` takes.

    Examples
    --------
    >>> open({"driver": "array", "array": [1, 2, 3], "dtype": "uint32"}).result()[1:].read().result()
    array([2, 3], dtype=uint32)
    """
    if context is not None and not isinstance(context, Context):
        raise TypeError(f"Invalid context: expected Context, found {type(context).__name__}")
    if transaction is not None and not isinstance(transaction, Transaction):
        raise TypeError(f"Invalid transaction: expected Transaction, found {type(transaction).__name__}")
    # An invalid spec is an error at once; what fails later is an error of the future.
    parsed = spec_from_json(spec) if type(spec) is dict else node_of(spec)
    change = _change_of(changes) if changes else None
    try:
        node = bind(parsed, context or Context()) if change is None else changed(parsed, change, context or Context())
    except BlizzarrError as error:
        return failed(error)
    is_plain = (read, write, context, transaction) == (None,) * 4
    request = _PLAIN if is_plain else Request(read, write, context, transaction)
    quick, kvstore = is_quick(node), node.kvstore
    # Documents that are created wait for the device.
    is_local = quick or (kvstore is not None and kvstore.driver == "file")
    work: Callable[[], TensorStore] = partial(open_node if is_local else open_slowly, node, request)
    if transaction is not None:
        work = delaying(transaction, work)
    if batch is not None:
        return add_work(batch, work)
    if quick:
        return at_once(work)
    return DOCUMENTS.submit(work) if is_local else submit(work)


def _change_of(changes: dict[str, Any]) -> Change | None:
    """Return the change to a spec that the keywords of `open` ask for; None counts as missing."""
    given = {name: value for name, value in changes.items() if value is not None}
    if isinstance(given.get("kvstore"), KvStore):
        given["kvstore"] = given["kvstore"].spec(retain_context=True)
    return change_of(open, given) if given else None


_OF_SPECS = ("unbind_context", "strip_context", "minimal_spec")
name_keywords(open, [name for name in CHANGES if name not in _OF_SPECS])


def is_quick(node: SpecNode) -> bool:
    """Return whether opening takes less time than handing the work to another thread: no remote store is asked."""
    kvstore = node.kvstore
    if kvstore is None:
        return bool(node.bases or node.driver == "array") and all(map(is_quick, node.bases))
    if kvstore.driver == "memory":
        return True
    return kvstore.driver == "file" and not node.options["mode"].create


def open_node(node: SpecNode, request: Request) -> TensorStore:
    try:
        if node.driver == "auto":
            return open_node(find_stored(node, request.transaction), request)
        # Drivers of other packages may open their arrays themselves.
        opener = OPENERS[node.driver] if node.driver in OPENERS else getattr(DRIVERS[node.driver], "open", open_stored)
        opened = opener(node, request)
        if node.transform is None and request.transaction is None and not request.read and not request.write:
            return opened
        driver, form = driver_of(opened), form_of(opened)
        if request.transaction is not None and driver.transaction is None:
            driver = driver.with_transaction(request.transaction)
        driver = limited(driver, request)
        return store_of(driver, form if node.transform is None else compose(form, form_of(node.transform)))
    except (SpecError, TransactionError, SelectionError, MetadataError) as error:
        raise_opening(node.driver, error)


def open_slowly(node: SpecNode, request: Request) -> TensorStore:
    """Do the same in a thread of the pool, where others may work while this one waits for requests."""
    with POOL.far_away():
        return open_node(node, request)


def reopened(node: SpecNode, readable: bool, writable: bool) -> Driver:
    """Return the driver of a bound node again, as unpickling does."""
    return driver_of(open_node(node, _PLAIN)).allowed(readable, writable)


def limited(driver: Driver, request: Request) -> Driver:
    read, write = request.read, request.write
    if not read and not write:
        return driver
    if read and not driver.readable:
        raise NotReadableError("TensorStore does not support reading.")
    if write and not driver.writable:
        raise NotWritableError("TensorStore does not support writing.")
    return driver.allowed(bool(read), bool(write))


def open_stored(node: SpecNode, request: Request, kind: type[StoredArrayDriver] = StoredArrayDriver) -> TensorStore:
    """Return the array that a bound spec describes; `kind` is the class of its driver."""
    mode: OpenMode = node.options["mode"]
    if request.read and not request.write and mode.create:
        raise SpecError("Cannot specify an open mode of `create` without `write`")
    assumed = mode.assume_metadata or mode.assume_cached_metadata
    if mode.delete_existing or assumed:
        check_mode(mode)
    since = bound_at_open(node.options["recheck_cached_metadata"], moment := time.time())
    try:
        place = locate(node, request.transaction, kind.place)
        known = KnownMetadata() if assumed else known_metadata(place)
        meta, is_there = None, False
        if assumed:
            meta, _ = place.described()
        elif mode.open:
            try:
                meta = known.recent(since)
                if meta is None and (meta := place.found()) is not None:
                    known.keep(meta, moment)
            except ArrayNotFoundError:
                # A document may have other arrays than the one that is wanted.
                if not mode.create:
                    raise
            is_there = meta is not None
            if not is_there and not mode.create:
                raise ArrayNotFoundError(f"Metadata at {place.key} does not exist{_other_format(place)}")
        if meta is None:
            meta, is_there = place.made(mode, known)
            if request.transaction is not None:
                request.transaction.future.add_done_callback(lambda _: known.forget())
        array = _opened(place, meta, known, since, is_there)
    except StoreError as error:
        makes = mode.create or assumed
        raise_no_directory(error, None if makes or node.kvstore is None else node.kvstore.path)
        raise
    opened = store_of(kind(array, request.transaction), node.options["metadata"].form_of(meta, array.field))
    if is_there and type(place.store) is StagedStore:
        place.expect(place.store, meta)
    return opened


def _other_format(place: StoredPlace) -> str:
    """Return a hint on the driver if an array of another format is there."""
    meta = None
    with suppress(BlizzarrError):
        meta = detect(place.store, place.path)
    if not isinstance(meta, ArrayMeta):
        return ""
    return f"; an array of {meta.format} is there (the driver of v3 is zarr3, of v2 zarr, of N5 n5)"


def _opened(place: StoredPlace, meta: ArrayMeta, known: KnownMetadata, since: float, is_there: bool) -> StoredArray:
    """Return the array at a place; one that was there must meet the constraints."""
    node = place.node
    constraints: MetadataConstraints = node.options["metadata"]
    try:
        if is_there:
            constraints.check(meta, node.schema, node.options)
        if not meta.chunk_grid.is_even:
            one_chunk_shape(meta)
        field = constraints.field_of(meta, node.options)
    except SpecError as error:
        if type(error) is not SpecError:
            raise
        raise ConstraintError(error.reason) from error
    store = place.store.base if type(place.store) is StagedStore else place.store
    pool: CachePool = node.resources["cache_pool"].value
    if pool.native is not None:
        recheck: Recheck = node.options["recheck_cached_data"]
        # A number would be an age for the cache, not a moment.
        store = CachedStore(store, pool, recheck if isinstance(recheck, bool | str) else Since(recheck))
    return StoredArray(store, place.path, meta, node, field, since, known)


def find_stored(node: SpecNode, transaction: Transaction | None = None) -> SpecNode:
    """Return the bound spec of the array at a bound ``auto`` spec: its driver, and its place within files."""
    kvstore = node.kvstore
    if kvstore is None:
        raise SpecError('"kvstore" must be specified')
    if kvstore.driver == "file" and os.path.isfile(kvstore.path):
        from zipfile import is_zipfile

        if is_zipfile(kvstore.path):
            kvstore = url_part("zip:", kvstore)
            kvstore = kvstore.altered(resources={name: node.resources[name] for name in kvstore.resources})
    there = node.altered(kvstore=kvstore)
    store = None
    with suppress(PlaceError):
        store = open_kvstore(kvstore, directory=True)[0]
    found = each(store, lambda driver: _is_there(there, driver.name, transaction), SOUGHT)
    matches = [driver for driver, is_there in zip(SOUGHT, found, strict=True) if is_there]
    if not matches:
        # Drivers of other packages are imported for arrays of none of the usual formats only.
        others = {driver for driver in DRIVERS.values() if isinstance(driver, StoredDriver)}.difference(SOUGHT)
        matches = [driver for driver in others if _is_there(there, driver.name, transaction)]
    if len(matches) != 1:
        shown = ("local file " if kvstore.driver == "file" else "") + quote(kvstore.path)
        if not matches:
            raise ConstraintError(f"Failed to detect format for {shown}")
        schemes = sorted(driver.scheme for driver in matches)
        raise ConstraintError(f"Multiple possible formats detected for {shown}: {{{', '.join(schemes)}}}")
    (driver,) = matches
    usual = driver.take(Members({}), SpecNode(driver.name))
    resources = {name: resource for name, resource in node.resources.items() if name in driver.resources}
    return usual.altered(schema=node.schema, transform=node.transform, kvstore=kvstore.directory(), resources=resources)


def _is_there(node: SpecNode, driver: str, transaction: Transaction | None) -> bool:
    try:
        place = locate(node.altered(driver=driver), transaction)
    except PlaceError:
        return False
    keys = [form.node_keys(place.path)[0] for form in place.forms]
    if all(value is None for value in get_many(place.store, keys)):
        return False
    # One format may have the name of a document from another.
    return find_many(place.store, [place.path], place.forms) != [None]


def _open_array(node: SpecNode, request: Request) -> TensorStore:
    dtype = node.schema.dtype
    assert dtype is not None, "checked when the spec was made"
    refuse_encoding(node.schema)
    domain, shape = node.schema.domain, node.options["array"].shape
    if domain is not None and (any(domain.inclusive_min) or domain.shape != shape):
        raise SpecError(f"Mismatch between domain in schema {domain} and array {domain_of(Form.of_shape(shape))}")
    resource, units = node.resources["data_copy_concurrency"], node.schema.dimension_units
    array = MemoryArray(node.options["array"].copy(), dtype, resource, True, units)
    layout = array.schema.chunk_layout
    merge_layout(layout, node.schema.chunk_layout)
    if any(grid_of(layout, usage).shape.hard for usage in USAGES):
        raise SpecError("chunking not supported")
    array.transaction = request.transaction
    array.check_transaction()
    return store_of(array)


def _open_cast(node: SpecNode, request: Request) -> TensorStore:
    if node.schema.dtype is None:
        raise SpecError("dtype must be specified")
    return open_node(node.bases[0], request).astype(node.schema.dtype)


def _open_downsampled(node: SpecNode, request: Request) -> TensorStore:
    base = open_node(node.bases[0], replace(request, write=None))
    return store_of(DownsampleDriver(driver_of(base), form_of(base), node.options["factors"], node.options["method"]))


OPENERS: Final[dict[str, Callable[[SpecNode, Request], TensorStore]]] = {
    "array": _open_array,
    "cast": _open_cast,
    "downsample": _open_downsampled,
    "json": lambda node, request: store_of(JsonDriver(node, request.transaction)),
    **dict.fromkeys((driver.name for driver in SOUGHT), open_stored),
}
"""The functions that open arrays, by the name of the driver, but for drivers of other packages."""
