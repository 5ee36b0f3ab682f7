"""Drivers: sources of elements that a TensorStore reads and writes through views."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from blizzarr.errors import (
    NotReadableError,
    OutOfBoundsError,
    SelectionError,
    SpecError,
    UnsupportedOperationError,
    ViewOutOfBoundsError,
)
from blizzarr.futures import Pace
from blizzarr.indexing.form import Form, identity_maps
from blizzarr.spec.context import Context
from blizzarr.spec.dtype import DType, element_dtype
from blizzarr.spec.kvstore import KvStore, bound_kvstore
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.stores import LocalStore, MemoryStore, Store
from blizzarr.stores.wrapper import unwrapped
from blizzarr.tensorstore.gathering import Gathering
from blizzarr.transactions import Transaction, check_open, check_rebinding
from blizzarr.views import IndexDomain, form_of, transform_of
from blizzarr.views.compose import compose

Elements = npt.NDArray[Any]
Shared = dict[Any, Any]
"""State that reads share which belong to one batch, or are in flight at the same time."""

KEPT_BYTES: Final = 1 << 26
"""The size of the pool that all reads in flight share."""

DOCUMENTS: Final = Pace()
"""A running estimate of how long changing a document on this machine takes."""

Bounds = tuple[int | None, ...] | None

Chunk = tuple[Any, tuple[int, ...]]
"""A chunk that is decoded as a whole: the identity of its array, and its position in the grid."""


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of `open` besides the spec; `read` and `write` are None for whatever is possible."""

    read: bool | None = None
    write: bool | None = None
    context: Context | None = None
    transaction: Transaction | None = None


class Driver(ABC):
    """Elements of one data type in a domain.

    A `TensorStore` is a driver and a form: the map from the positions of the view to the domain of the driver. Every
    method works in the calling thread; `TensorStore` calls the slow ones from other threads.
    """

    name: str
    """The name of the driver in JSON."""
    dtype: DType
    _domain: IndexDomain
    readable: bool = True
    writable: bool = True
    resolves: bool = True
    """True if bounds of views may change, so that they can be resolved."""
    transaction: Transaction | None = None
    """The transaction that gathers writes; None if they are stored at once."""

    # Properties

    @property
    def domain(self) -> IndexDomain:
        """The positions of its elements; bounds that can change are implicit. By default they never change."""
        return self._domain

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.domain.rank

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The properties of the elements as far as they have them: chunk layout, codec, fill value and units."""

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The unit of each dimension; empty if none is known."""
        return self.schema.dimension_units or ()

    @property
    def kvstore(self) -> KvStore | None:
        """The key-value store that the elements are in; None if there is none."""
        return None

    @abstractmethod
    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        """Return the spec that opens a view again, with its resources; without the metadata if `minimal`."""

    def base(self, form: Form) -> tuple[Driver, Form] | None:
        """Return the driver that this one is made from and the view of it; None unless it is made from exactly one."""
        return None

    # Its elements

    @abstractmethod
    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Return the elements of a view: in a new array, or in `out`, which has the shape of the view's domain.

        Chunks that were decoded for the same `batch` need not be read again, unless its state says so.
        """

    def decoded(self, form: Form) -> set[Chunk]:
        """Return the chunks that reads of a view decode and could share; none where sharing does not pay."""
        return set()

    @abstractmethod
    def write(self, form: Form, source: Elements) -> None:
        """Replace the elements of a view with those of an array of this data type and the shape of the view."""

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        """Return whether reading, or writing, a view takes less time than handing the work to another thread."""
        return False

    @property
    def is_near(self) -> bool:
        """True if looking at its metadata takes less time than handing the work to another thread."""
        return False

    def current(self, form: Form) -> Form:
        """Return the form with its implicit bounds as they are now."""
        if True not in form.implicit_upper and True not in form.implicit_lower:
            return form
        try:
            return compose(self.whole, form)
        except OutOfBoundsError as error:
            raise ViewOutOfBoundsError(str(error), index=error.index) from None

    @property
    def whole(self) -> Form:
        """The view of all elements."""
        lower, upper, implicit_lower, implicit_upper, labels, _ = form_of(self.domain)
        return Form(lower, upper, implicit_lower, implicit_upper, labels, identity_maps(len(lower)))

    def bytes_moved(self, form: Form) -> int:
        """Return about how many bytes are decoded or encoded for a view."""
        return prod(form.shape) * self.dtype.numpy_dtype.itemsize

    @property
    def gathering(self) -> Gathering | None:
        """The reads and writes that it is to do together; None if it does each by itself."""
        return None

    @property
    def is_idle(self) -> bool:
        """True if no read or write is to be done together with others, so that what follows comes later."""
        return self.gathering is None or self.gathering.is_empty

    def catch_up(self) -> None:
        """Do the reads and writes that were begun, so that what follows comes later."""
        if self.gathering is not None:
            self.gathering.catch_up()

    # Changing it

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        """Return the driver with its current bounds."""
        return self

    def resize(self, form: Form, inclusive_min: Bounds, exclusive_max: Bounds, modes: frozenset[str]) -> Driver:
        """Change the bounds that are not None, and return the driver with the new ones."""
        raise UnsupportedOperationError("Resize not supported")

    def storage_statistics(self, form: Form) -> tuple[bool, bool]:
        """Return whether none and whether all of a view is stored."""
        raise UnsupportedOperationError("Storage statistics not supported")

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """Return the same driver with a transaction."""
        return self.altered(transaction=transaction)

    def allowed(self, readable: bool, writable: bool) -> Self:
        """Return the same driver, restricted to reading or to writing."""
        if readable == self.readable and writable == self.writable:
            return self
        return self.altered(readable=readable, writable=writable)

    def altered(self, **attributes: Any) -> Self:
        """Return a copy of the driver with other attributes."""
        # Not by `copy`, which would do as pickling does and open again.
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **attributes)
        return made


class KvStoreDriver(Driver):
    """A driver of elements in a key-value store, which a spec finds again."""

    _node: SpecNode
    """The spec that was opened, its resources bound."""

    @property
    @abstractmethod
    def store(self) -> Store:
        """The store without a transaction."""

    def node(self, minimal: bool = False) -> SpecNode:
        """Return the spec of all elements, with its resources; without the metadata if `minimal`."""
        return self._node

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        if self.transaction is not None:
            check_open(self.transaction)
        return self.node(minimal).altered(transform=transform_of(form))

    @property
    def kvstore(self) -> KvStore | None:
        return None if self._node.kvstore is None else bound_kvstore(self._node.kvstore, self.transaction)

    @cached_property
    def is_near(self) -> bool:
        return isinstance(unwrapped(self.store), LocalStore | MemoryStore)

    @property
    def pickled_node(self) -> SpecNode:
        """The spec that a pickle has in the place of the driver."""
        return self.node()

    def __reduce__(self) -> tuple[Any, ...]:
        from blizzarr.tensorstore.opening import reopened

        return reopened, (self.pickled_node, self.readable, self.writable)


class AdaptedDriver(Driver):
    """A driver whose elements are made from those of one other."""

    def __init__(self, original: Driver) -> None:
        self.original = original
        self.transaction = original.transaction

    def over(self, original: Driver, **attributes: Any) -> Self:
        """Return the same driver on top of another one with elements of the same data type."""
        return self.altered(original=original, transaction=original.transaction, **attributes)

    @property
    def kvstore(self) -> KvStore | None:
        return self.original.kvstore

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        return self.over(self.original.with_transaction(transaction))


# A function of driver and form, so that the view can be collected before the work is done.
def read_now(driver: Driver, form: Form, order: str, shared: Shared | None) -> Elements:
    """Return the elements of a view as it is now, in memory of the order ``"C"`` or ``"F"``."""
    if not driver.readable:
        raise NotReadableError("Source does not support reading.")
    form = driver.current(form)
    if order == "F" and len(form.lower) > 1:
        return driver.read(form, np.empty(form.shape, element_dtype(driver.dtype), "F"), shared)
    return driver.read(form, None, shared)


def put_into(out: Elements | None, elements: Elements) -> Elements:
    """Return elements, in `out` if that is given."""
    if out is None:
        return elements
    out[...] = elements
    return out


def with_bounds_of(driver: Driver, form: Form) -> Form:
    """Return the form with the driver's bounds in place of its implicit ones."""
    try:
        return compose(driver.whole, form)
    except SelectionError as error:
        # The index was valid for the view, but the stored array has changed.
        raise SpecError(str(error)) from error


def resolved_view(driver: Driver, form: Form, fix_resizable_bounds: bool) -> tuple[Driver, Form]:
    """Return a driver and a view of it with their current bounds, which become explicit with `fix_resizable_bounds`."""
    driver = driver.resolve(fix_resizable_bounds)
    if not driver.resolves:
        return driver, form
    form = with_bounds_of(driver, form)
    if fix_resizable_bounds:
        # Dimensions that the view has made, like ts.newaxis, have no bounds that others could change.
        own = set(range(form.rank)) - {map_[0] for map_ in form.maps if isinstance(map_, tuple)}
        form = form._replace(
            implicit_lower=tuple(flag and dim in own for dim, flag in enumerate(form.implicit_lower)),
            implicit_upper=tuple(flag and dim in own for dim, flag in enumerate(form.implicit_upper)),
        )
    return driver, form


def with_transaction(driver: Driver, transaction: Transaction | None) -> Driver:
    """Return the driver with a transaction.

    Raise `TransactionError` if the driver already has a transaction that is not committed.
    """
    check_rebinding(driver.transaction)
    return driver.with_transaction(transaction)
