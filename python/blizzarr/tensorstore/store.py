"""The class `TensorStore`: a view of elements."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeVar

import numpy.typing as npt

from blizzarr.errors import BlizzarrError, NotWritableError, SpecError
from blizzarr.futures import (
    Batch,
    ChangeFuture,
    Future,
    WriteFutures,
    add_future,
    add_work,
    at_once,
    failed,
    shared_state,
    submit,
    write_futures,
)
from blizzarr.indexing.form import Form
from blizzarr.keywords import name_keywords, unknown_keywords
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.context import strip
from blizzarr.spec.dtype import DType, DTypeLike, as_dtype
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.open_mode import MODES
from blizzarr.spec.pretty import Pretty
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec import Spec, spec_of
from blizzarr.spec.through_view import fill_of_view, layout_of_view, units_of_view
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.conversion import CastDriver, as_source, copy_view, write_now
from blizzarr.tensorstore.driver import DOCUMENTS, Driver, read_now, resolved_view, with_bounds_of, with_transaction
from blizzarr.tensorstore.in_flight import begin_read, begin_write, read_later
from blizzarr.transactions import Transaction, delaying
from blizzarr.views import IndexDomain, Indexed, IndexTransform, domain_of
from blizzarr.views.dim_expression import Subscript

T = TypeVar("T")


class _Assignable(Subscript[Any]):
    """A way of indexing that can be assigned to."""

    __slots__ = ()

    def __setitem__(self, key: Any, source: Any) -> None:
        self._call(key)._store(source)


class TensorStore(Pretty, Indexed):
    """A view of an array: indexing it gives another view, and reads nothing.

    Made by `open`, `array` and others. Indices are those of the domain: none counts from the end, and a slice keeps its
    place. Reading and writing return futures.

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> store = ts.array([[1, 2, 3], [4, 5, 6]])
    >>> view = store[1, 1:]
    >>> view.domain, view.read().result()
    ({ [1, 3) }, array([5, 6]))
    >>> view[1:2] = 0
    >>> store.read().result()
    array([[1, 2, 3],
           [4, 0, 6]])
    """

    __slots__ = ("__weakref__", "_driver", "_form")
    _indexing = _Assignable

    _driver: Driver
    _form: Form

    @dataclass(kw_only=True)
    class StorageStatistics:
        """The answers to whether none and whether all of a view is stored; None for a question that was not asked.

        Examples
        --------
        >>> TensorStore.StorageStatistics(not_stored=True)
        TensorStore.StorageStatistics(not_stored=True, fully_stored=None)
        """

        not_stored: bool | None = None
        fully_stored: bool | None = None

    def __init__(self) -> None:
        raise TypeError("expected open(), array() or another view, which make stores")

    # Properties

    @property
    def domain(self) -> IndexDomain:
        """The domain of the view: its indices."""
        return domain_of(self._form.domain)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._form.lower)

    ndim = rank

    @property
    def dtype(self) -> DType:
        """The data type of the elements."""
        return self._driver.dtype

    @property
    def readable(self) -> bool:
        """True if the view can be read."""
        return self._driver.readable

    @property
    def writable(self) -> bool:
        """True if the view can be written."""
        return self._driver.writable

    @property
    def mode(self) -> str:
        """The access: ``"r"``, ``"w"`` or ``"rw"``."""
        return "r" * self._driver.readable + "w" * self._driver.writable

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The layout in which the elements are stored, and the pieces in which they are best read and written.

        Examples
        --------
        >>> import blizzarr.tensorstore as ts
        >>> ts.array([[1, 2], [3, 4]]).T.chunk_layout
        ChunkLayout({'grid_origin': [0, 0], 'inner_order': [1, 0]})
        """
        return layout_of_view(self._driver.schema.chunk_layout, self._form)

    @property
    def codec(self) -> CodecSpec | None:
        """The codec that turns elements into bytes; None if there is none."""
        return self._driver.schema.codec

    @property
    def fill_value(self) -> npt.NDArray[Any] | None:
        """The value of elements that were never written; None if there is no such value."""
        fill = self._driver.schema.fill_value
        return None if fill is None else fill_of_view(fill, self._form, self._driver.domain)

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The unit of each dimension, None where it is not known."""
        return units_of_view(self._driver.dimension_units, self._form)

    @property
    def schema(self) -> Schema:
        """The schema: data type, domain, layout, codec, fill value and units together."""
        parts = self.domain, self.chunk_layout, self.dimension_units, self.codec, self.fill_value
        return schema_of(self.dtype, self.rank, *parts)

    @property
    def kvstore(self) -> KvStore | None:
        """The key-value store that the elements are in; None if there is none."""
        return self._driver.kvstore

    @property
    def url(self) -> str:
        """The location as a URL."""
        return self.spec(minimal_spec=True).url

    @property
    def transaction(self) -> Transaction | None:
        """The transaction that gathers writes; None if they are stored directly."""
        return self._driver.transaction

    def spec(
        self,
        *,
        minimal_spec: bool | None = None,
        retain_context: bool | None = None,
        unbind_context: bool | None = None,
        **changes: Any,
    ) -> Spec:
        """Return the spec that opens this view again, or creates it afresh.

        Parameters
        ----------
        minimal_spec
            Leave out the metadata, which is stored with the array anyway.
        retain_context
            Keep the very resources that the view uses; for use in this process.
        unbind_context
            Spell out which resources the view uses.
        **changes
            Open modes and bounds of caches, as for `Spec.update`.

        Examples
        --------
        >>> import blizzarr.tensorstore as ts
        >>> ts.array([1, 2, 3])[1:].spec()
        Spec({
          'array': [2, 3],
          'driver': 'array',
          'dtype': 'int64',
          'transform': {
            'input_exclusive_max': [3],
            'input_inclusive_min': [1],
            'output': [{'input_dimension': 0, 'offset': -1}],
          },
        })
        """
        if unknown := changes.keys() - _CHANGES:
            raise unknown_keywords(TensorStore.spec, unknown)
        node = self._driver.spec_of(self._form, bool(minimal_spec))
        spec = spec_of(node if retain_context or unbind_context else strip(node))
        spec.update(unbind_context=unbind_context, **changes)
        return spec

    # Views

    def _with_form(self, form: Form) -> TensorStore:
        return store_of(self._driver, form)

    @property
    def base(self) -> TensorStore | None:
        """The store that this one was made from, if it was made from exactly one other store."""
        base = self._driver.base(self._form)
        return None if base is None else store_of(*base)

    def __setitem__(self, key: Any, source: Any) -> None:
        """Write to a view, and wait until that is done."""
        self[key]._store(source)

    # Elements

    def read(self, *, order: Literal["C", "F"] = "C", batch: Batch | None = None) -> Future[npt.NDArray[Any]]:
        """Read the elements of the view.

        Parameters
        ----------
        order
            The memory layout of the result.
        batch
            Reads that are begun together; the future has no result before the batch is submitted.

        Examples
        --------
        >>> import blizzarr.tensorstore as ts
        >>> ts.array([[1, 2], [3, 4]])[:, 1].read().result()
        array([2, 4])
        """
        if order not in ("C", "F"):
            raise TypeError("`order` must be specified as 'C' or 'F'")
        driver, form = self._driver, self._form
        gathering = driver.gathering
        if batch is None:
            chunks = driver.decoded(form)
            if chunks or gathering is not None:
                return begin_read(driver, form, order, chunks)
            work = self._in_transaction(partial(read_now, driver, form, order, None))
            return at_once(work) if driver.is_quick(form) else submit(work)
        shared = shared_state(batch)
        if gathering is not None:
            return add_future(batch, read_later(driver, form, order, shared))
        return add_work(batch, self._in_transaction(partial(read_now, driver, form, order, shared)))

    def write(
        self, source: Any, *, batch: Batch | None = None, can_reference_source_data_indefinitely: bool | None = None
    ) -> WriteFutures:
        """Write the elements of the view.

        Parameters
        ----------
        source
            An array, anything that NumPy can make into one, or another store. It is broadcast as in NumPy; the
            dimensions of stores with labels are matched by label. It is converted only if every value is kept;
            otherwise see `cast`.
        batch
            As for `read`, where the source is a store.
        can_reference_source_data_indefinitely
            A promise that the source will not change, so that it need not be copied.

        Examples
        --------
        >>> import blizzarr.tensorstore as ts
        >>> store = ts.array([[1, 2], [3, 4]])
        >>> store.write([0, 9]).result()
        >>> store.read().result()
        array([[0, 9],
               [0, 9]])
        """
        is_view = isinstance(source, TensorStore)
        if batch is not None and not is_view:
            raise SpecError("batch can only be specified when `source` is a `TensorStore`")
        work = self._storing(source)
        if batch is not None:
            future = add_work(batch, work, ChangeFuture)
        elif self._is_ready(writes=True) and (not is_view or source._is_ready()):
            future = at_once(work)
        elif is_view or self._driver.gathering is None:
            future = submit(work, kind=ChangeFuture)
        elif isinstance(work, partial):
            return begin_write(work, is_kept=bool(can_reference_source_data_indefinitely))
        else:
            future = at_once(work)
        return write_futures(future, future)

    def _is_ready(self, writes: bool = False) -> bool:
        return self._driver.is_quick(self._form, writes) and self._driver.is_idle

    def _in_transaction(self, work: Callable[[], T]) -> Callable[[], T]:
        """Return the work with a guard that delays the commit of the view's transaction until it is done."""
        transaction = self._driver.transaction
        return work if transaction is None else delaying(transaction, work)

    def _store(self, source: Any) -> None:
        self._driver.catch_up()
        self._storing(source)()

    def _storing(self, source: Any) -> Callable[[], None]:
        """Return the work of a write, which delays the commit of the transactions that it is in."""
        if not isinstance(source, TensorStore):
            return self._in_transaction(self._writing(source))
        copying = partial(copy_view, source._driver, source._form, self._driver, self._form)
        return self._in_transaction(source._in_transaction(copying))

    def _writing(self, source: Any) -> Callable[[], None]:
        driver = self._driver
        try:
            if not driver.writable:
                raise NotWritableError("Destination does not support writing.")
            form = driver.current(self._form)
        except BlizzarrError as error:
            return failed(error).result
        # A source of a wrong type is an error at once; one that does not fit is an error of the future.
        elements = as_source(source, form.shape, driver.dtype)
        return partial(write_now, driver, form, elements)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None, context: object = None
    ) -> npt.NDArray[Any]:
        self._driver.catch_up()
        result = self._in_transaction(partial(read_now, self._driver, self._form, "C", None))()
        return result if dtype is None else result.astype(dtype, copy=False)

    # Changing it

    def resolve(self, fix_resizable_bounds: bool = False, batch: Batch | None = None) -> Future[TensorStore]:
        """Return the view with the bounds that are stored now, where it has implicit ones.

        Parameters
        ----------
        fix_resizable_bounds
            Make the bounds explicit, so that later changes of the stored shape have no effect.
        batch
            As for `read`.
        """
        work = self._in_transaction(lambda: store_of(*resolved_view(self._driver, self._form, fix_resizable_bounds)))
        if batch is not None:
            return add_work(batch, work)
        return at_once(work) if self._driver.is_near else submit(work)

    def resize(
        self,
        inclusive_min: Iterable[int | None] | None = None,
        exclusive_max: Iterable[int | None] | None = None,
        resize_metadata_only: bool = False,
        resize_tied_bounds: bool = False,
        expand_only: bool = False,
        shrink_only: bool = False,
    ) -> Future[TensorStore]:
        """Change the stored bounds; the future gives the store with the new ones.

        Parameters
        ----------
        inclusive_min, exclusive_max
            The new bounds, as indices of the view; None leaves a bound as it is.
        resize_metadata_only
            Do not delete chunks outside the new bounds.
        resize_tied_bounds
            Go ahead even if other bounds, tied to these, have to change with them.
        expand_only, shrink_only
            Fail rather than make a dimension shorter (or longer).
        """
        lower = None if inclusive_min is None else tuple(inclusive_min)
        upper = None if exclusive_max is None else tuple(exclusive_max)
        flags = {
            "resize_metadata_only": resize_metadata_only,
            "resize_tied_bounds": resize_tied_bounds,
            "expand_only": expand_only,
            "shrink_only": shrink_only,
        }
        modes = frozenset(name for name, on in flags.items() if on)

        def work() -> TensorStore:
            if not self.writable:
                raise NotWritableError("Destination does not support writing.")
            self._driver.catch_up()
            driver = self._driver.resize(self._form, lower, upper, modes)
            return store_of(driver, with_bounds_of(driver, self._form))

        begin = DOCUMENTS.submit if self._driver.is_near else submit
        return begin(self._in_transaction(work), kind=ChangeFuture)

    def storage_statistics(
        self, *, query_not_stored: bool = False, query_fully_stored: bool = False
    ) -> Future[StorageStatistics]:
        """Report whether any, and whether all, chunks of the view are stored; in shards, inner chunks count.

        Parameters
        ----------
        query_not_stored, query_fully_stored
            What to find out.
        """

        def work() -> TensorStore.StorageStatistics:
            self._driver.catch_up()
            is_asked = query_not_stored or query_fully_stored
            nothing, everything = self._driver.storage_statistics(self._form) if is_asked else (None, None)
            return TensorStore.StorageStatistics(
                not_stored=nothing if query_not_stored else None,
                fully_stored=everything if query_fully_stored else None,
            )

        return submit(self._in_transaction(work))

    def astype(self, dtype: DTypeLike) -> TensorStore:
        """Return the view converted to another data type; see `blizzarr.tensorstore.cast`."""
        driver, wanted = self._driver, as_dtype(dtype)
        return store_of(driver if driver.dtype == wanted else CastDriver(driver, wanted), self._form)

    def with_transaction(self, transaction: Transaction | None) -> TensorStore:
        """Return the view with a transaction that gathers its writes.

        Raises
        ------
        TransactionError
            If it already has a transaction that is not committed.
        """
        if transaction is not None and not isinstance(transaction, Transaction):
            raise TypeError(f"expected a Transaction or None, found {type(transaction).__name__}")
        return store_of(with_transaction(self._driver, transaction), self._form)

    def _json_shown(self) -> Any:
        return self.spec(unbind_context=True).to_json()

    def __copy__(self) -> TensorStore:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._driver.transaction is not None:
            raise ValueError("a store with a transaction cannot be pickled")
        return store_of, (self._driver, self._form)


def driver_of(store: TensorStore) -> Driver:
    return store._driver


_CHANGES: Final = ("open_mode", *MODES, "recheck_cached_metadata", "recheck_cached_data", "recheck_cached")
"""The changes that `TensorStore.spec` takes."""

name_keywords(TensorStore.spec, _CHANGES)


def store_of(driver: Driver, form: Form | None = None) -> TensorStore:
    """Return the store of a view of a driver's elements; by default, of all of them."""
    store = object.__new__(TensorStore)
    store._driver, store._form = driver, driver.whole if form is None else form
    return store


class Indexable(ABC):  # noqa: B024
    """Transforms, specs and stores. A `Schema` can be indexed, too, but TensorStore does not count it.

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> isinstance(ts.IndexTransform(2), Indexable), isinstance(ts.Schema(), Indexable)
    (True, False)
    """

    __slots__ = ()


for _kind in (IndexTransform, Spec, TensorStore):
    Indexable.register(_kind)
