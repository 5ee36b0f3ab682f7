"""Stores combined in one domain; each element is that of the last store that has it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from math import prod
from typing import TypeAlias

from blizzarr.errors import NotReadableError, NotWritableError, SpecError, UnsupportedOperationError
from blizzarr.futures import do_all
from blizzarr.spec.binding import Resource
from blizzarr.spec.dtype import DType
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.allotment import Allotment
from blizzarr.tensorstore.driver import Driver, Elements, Shared, Source, View
from blizzarr.tensorstore.layers import Layer
from blizzarr.tensorstore.overlap import overlapping
from blizzarr.tensorstore.regions import within
from blizzarr.tensorstore.share import Place, Share
from blizzarr.tensorstore.store import TensorStore
from blizzarr.transactions import Transaction
from blizzarr.transfer import empty_result
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.form import Form

__all__ = ["StackDriver"]

_QUICK = 1 << 18
"""Work on more elements than these is always handed to another thread."""

_FEW = 32
"""Layers that are read faster one after the other than by other threads."""

_Part: TypeAlias = tuple[Share, TensorStore]


class StackDriver(Driver):
    """A driver of layers, of which later ones hide earlier ones."""

    name = "stack"

    def __init__(
        self,
        layers: tuple[Layer, ...],
        domain: IndexDomain,
        dtype: DType,
        units: tuple[Unit | None, ...],
        resource: Resource,
        transaction: Transaction | None = None,
    ) -> None:
        self._layers = layers
        self._domain = domain
        self._units = units
        self._resource = resource
        self._transaction = transaction
        self.dtype = dtype
        stores = [layer.source for layer in layers if isinstance(layer.source, TensorStore)]
        # As soon as one layer can be; specs are opened for whatever is asked.
        others = len(stores) < len(layers) or not layers
        self._opens = others
        self._last: tuple[Form, list[_Part]] | None = None
        self.readable = others or any(store.readable for store in stores)
        self.writable = others or any(store.writable for store in stores)
        self.decodes = not (others or transaction) and any(store._driver.decodes for store in stores)

    @property
    def domain(self) -> IndexDomain:
        """The smallest domain that contains all layers."""
        return self._domain

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The units that were given, or else those of the layers."""
        return self._units

    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """Return the spec of all layers."""
        schema = Schema(dtype=self.dtype, domain=self._domain)
        if any(unit is not None for unit in self._units):
            schema.update(dimension_units=list(self._units))
        return SpecNode(
            "stack",
            schema,
            IndexTransform._of(view._form),
            bases=tuple(layer.said(minimal, self._resource) for layer in self._layers),
            resources={"data_copy_concurrency": self._resource},
        )

    def read(self, view: View, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Read from each layer the elements that no later one has."""
        parts = self._parts(view._form)
        if len(parts) == 1 and parts[0][0].where is None:
            ((share, part),) = parts
            _check_readable(share, part)
            return part._driver.read(part, out, batch)
        found = empty_result(view._form.shape, self.dtype._element_dtype) if out is None else out
        # Shared chunks are dropped after this read, so that they cannot become stale.
        own: Shared = {}
        sharing = overlapping([part for _, part in parts]) if batch is None else ()

        def read(share: Share, part: TensorStore, shared: Shared | None) -> None:
            _check_readable(share, part)
            if isinstance(share.where, Place):
                share.put(found, part._driver.read(part, None, shared))
            else:
                part._driver.read(part, share.of(found), shared)

        at_once = all(part._driver.is_quick(part) for _, part in parts)
        tasks = [partial(read, *part, own if number in sharing else batch) for number, part in enumerate(parts)]
        do_all(tasks, at_once)
        return found

    def sources(self, view: View) -> Sequence[Source]:
        """Return the sources of all layers that a view needs."""
        if self._opens:
            return ()
        form = view._form
        try:
            parts = self._parts(form)
        except SpecError:
            # The read that follows raises it again.
            return ()
        self._last = form, parts
        return [source for _, part in parts for source in part._driver.sources(part)]

    def write(self, view: View, source: Elements) -> None:
        """Write to each layer the elements that no later one has."""
        parts = self._parts(view._form)

        def write(share: Share, part: TensorStore) -> None:
            if not part._driver.writable:
                raise NotWritableError(f"Layer {share.number}: Write mode not supported")
            part._driver.write(part, share.of(source))

        at_once = all(part._driver.is_quick_to_write(part) for _, part in parts)
        do_all([partial(write, *part) for part in parts], at_once)

    def is_quick(self, view: View) -> bool:
        """Return whether few layers are needed, and each is quick to read."""
        parts = self._few_parts(view._form)
        return parts is not None and all(part._driver.is_quick(part) for _, part in parts)

    def is_quick_to_write(self, view: View) -> bool:
        """Return whether few layers are needed, and each is quick to write."""
        parts = self._few_parts(view._form)
        return parts is not None and all(part._driver.is_quick_to_write(part) for _, part in parts)

    def _few_parts(self, form: Form) -> list[_Part] | None:
        if self._opens or prod(form.shape) > _QUICK:
            return None
        try:
            parts = self._parts(form)
        except SpecError:
            # The read that follows raises it again.
            return None
        # `is_quick` is called just before a read, which needs the same parts.
        self._last = form, parts
        return parts if len(parts) <= _FEW else None

    def _parts(self, form: Form) -> list[_Part]:
        """Return the part of the view that each layer has."""
        known, self._last = self._last, None
        if known is not None and known[0] is form:
            return known[1]
        parts = []
        for share in self._allotment.shares(form):
            store = self._layers[share.number].open()
            if self._transaction is not None and store.transaction is not self._transaction:
                store = store.with_transaction(self._transaction)
            parts.append((share, store._with_form(within(store._bare, share.form))))
        return parts

    @cached_property
    def _allotment(self) -> Allotment:
        form = self._domain._form
        is_open = True in form.implicit_lower or True in form.implicit_upper
        domain = None if is_open else tuple(zip(form.lower, form.upper, strict=True))
        return Allotment([layer.box for layer in self._layers], domain)

    @property
    def transaction(self) -> Transaction | None:
        """The transaction that gathers writes; None if they are stored at once."""
        return self._transaction

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """Return a driver of the same layers with a transaction."""
        made = StackDriver(self._layers, self._domain, self.dtype, self._units, self._resource, transaction)
        return made.allowed(self.readable, self.writable)

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Raise: stacks do not report statistics."""
        raise UnsupportedOperationError("Storage statistics not supported")


def _check_readable(share: Share, part: TensorStore) -> None:
    if not part._driver.readable:
        raise NotReadableError(f"Layer {share.number}: Read mode not supported")
