"""Opening a store from a spec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol, runtime_checkable

from blizzarr.errors import (
    BlizzarrError,
    MetadataError,
    NotReadableError,
    NotWritableError,
    SelectionError,
    SpecError,
    TransactionError,
)
from blizzarr.futures import Batch, Future, add_work, at_once, failed, submit
from blizzarr.indexing.form import Form
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import raise_opening
from blizzarr.spec.context import Context, bind
from blizzarr.spec.drivers import DRIVERS, Change
from blizzarr.spec.drivers.stored import SOUGHT
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.spec import CHANGES, change_of, changed, node_of
from blizzarr.spec.spec_json import spec_from_json
from blizzarr.spec.spec_node import SpecNode
from blizzarr.tensorstore.downsample_driver import DownsampleDriver
from blizzarr.tensorstore.driver import Driver, Request
from blizzarr.tensorstore.facts import driver_of
from blizzarr.tensorstore.open_stored import find_stored, open_stored
from blizzarr.tensorstore.store import TensorStore, store_of
from blizzarr.tensorstore.values import JsonDriver, MemoryArray
from blizzarr.transactions import Transaction, delaying
from blizzarr.views import domain_of, form_of
from blizzarr.views.compose import compose


@runtime_checkable
class Opens(Protocol):
    """A driver in specs that opens its arrays itself."""

    def open(self, node: SpecNode, request: Request) -> TensorStore:
        """Return the array that a spec describes; the resources of the spec are bound."""


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
    work: Callable[[], TensorStore] = partial(
        open_node, node, _PLAIN if is_plain else Request(read, write, context, transaction)
    )
    if transaction is not None:
        try:
            work = delaying(transaction, work)
        except TransactionError as error:
            return failed(error)
    if batch is not None:
        return add_work(batch, work)
    return at_once(work) if _is_quick(node) else submit(work)


def _change_of(changes: dict[str, Any]) -> Change | None:
    """Return the change to a spec that the keywords of `open` ask for; None counts as missing."""
    given = {name: value for name, value in changes.items() if value is not None}
    if isinstance(given.get("kvstore"), KvStore):
        given["kvstore"] = given["kvstore"].spec(retain_context=True)
    return change_of(open, given) if given else None


_OF_SPECS = ("unbind_context", "strip_context", "minimal_spec")
name_keywords(open, [name for name in CHANGES if name not in _OF_SPECS])


def _is_quick(node: SpecNode) -> bool:
    """Return whether opening takes less time than handing the work to another thread: no remote store is asked."""
    kvstore = node.kvstore
    if kvstore is None:
        return bool(node.bases or node.driver == "array") and all(map(_is_quick, node.bases))
    if kvstore.driver == "memory":
        return True
    # Documents that are created wait for the device.
    return kvstore.driver == "file" and (node.driver == "auto" or not node.options["mode"].create)


def open_node(node: SpecNode, request: Request) -> TensorStore:
    """The store of a bound node."""
    try:
        if node.driver == "auto":
            return open_node(find_stored(node, request.transaction), request)
        opened = (OPENERS.get(node.driver) or _opener(node.driver))(node, request)
        if node.transform is None and request.transaction is None and not request.read and not request.write:
            return opened
        return _viewed(opened, node, request)
    except (SpecError, TransactionError, SelectionError, MetadataError) as error:
        raise_opening(node.driver, error)


def reopened(node: SpecNode, readable: bool, writable: bool) -> Driver:
    """Return the driver of a bound node again, as unpickling does."""
    return driver_of(open_node(node, _PLAIN)).allowed(readable, writable)


def _viewed(opened: TensorStore, node: SpecNode, request: Request) -> TensorStore:
    """Return the view that a node selects from the opened store."""
    driver = driver_of(opened)
    if request.transaction is not None and driver.transaction is None:
        driver = driver.with_transaction(request.transaction)
    driver = limited(driver, request)
    form = form_of(opened)
    return store_of(driver, form if node.transform is None else compose(form, form_of(node.transform)))


def limited(driver: Driver, request: Request) -> Driver:
    """Restrict the driver to reading or writing as requested."""
    read, write = request.read, request.write
    if not read and not write:
        return driver
    if read and not driver.readable:
        raise NotReadableError("TensorStore does not support reading.")
    if write and not driver.writable:
        raise NotWritableError("TensorStore does not support writing.")
    return driver.allowed(bool(read), bool(write))


def _open_array(node: SpecNode, request: Request) -> TensorStore:
    dtype = node.schema.dtype
    assert dtype is not None, "checked when the spec was made"
    if node.schema.fill_value is not None:
        raise SpecError("fill_value not supported")
    domain, shape = node.schema.domain, node.options["array"].shape
    if domain is not None and (any(domain.inclusive_min) or domain.shape != shape):
        raise SpecError(f"Mismatch between domain in schema {domain} and array {domain_of(Form.of_shape(shape))}")
    resource, units = node.resources["data_copy_concurrency"], node.schema.dimension_units
    return store_of(MemoryArray(node.options["array"].copy(), dtype, resource, True, units))


def _open_json(node: SpecNode, request: Request) -> TensorStore:
    if node.kvstore is None:
        raise SpecError('"kvstore" must be specified')
    return store_of(JsonDriver(node, request.transaction))


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
    "json": _open_json,
    **dict.fromkeys((driver.name for driver in SOUGHT), open_stored),
}
"""The functions that open arrays, by the name of the driver; `_opener` knows those of other packages."""


def _opener(name: str) -> Callable[[SpecNode, Request], TensorStore]:
    driver = DRIVERS[name]
    return driver.open if isinstance(driver, Opens) else open_stored
