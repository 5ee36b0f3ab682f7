"""Stores combined in one domain; each element is that of the last store that has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any, TypeAlias

from blizzarr.errors import NotReadableError, NotWritableError, SpecError, UnsupportedOperationError
from blizzarr.futures import do_all
from blizzarr.indexing.form import Form
from blizzarr.indexing.layout import through
from blizzarr.spec.context import Context, Resource, bind
from blizzarr.spec.dtype import DType
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec import Spec
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unbinding import strip
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.driver import Driver, Elements, Shared, Source, View
from blizzarr.tensorstore.in_flight import overlapping
from blizzarr.tensorstore.parts import Box, Part, Points
from blizzarr.tensorstore.stack_partition import StackPartition
from blizzarr.tensorstore.store import TensorStore
from blizzarr.transactions import Transaction
from blizzarr.transfer import empty_result
from blizzarr.views import IndexDomain, IndexTransform

_QUICK = 1 << 18
"""Work on more elements than these is always handed to another thread."""

_FEW = 32
"""Layers that are read faster one after the other than by other threads."""

_Assigned: TypeAlias = tuple[Part, TensorStore]
"""A part of a view, and the view of the layer that has it."""


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
        self._last: tuple[Form, list[_Assigned]] | None = None
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
            ((part, store),) = parts
            _check_readable(part, store)
            return store._driver.read(store, out, batch)
        found = empty_result(view._form.shape, self.dtype._element_dtype) if out is None else out
        # Shared chunks are dropped after this read, so that they cannot become stale.
        own: Shared = {}
        sharing = overlapping([store for _, store in parts]) if batch is None else ()

        def read(part: Part, store: TensorStore, shared: Shared | None) -> None:
            _check_readable(part, store)
            if isinstance(part.where, Points):
                part.put(found, store._driver.read(store, None, shared))
            else:
                store._driver.read(store, part.of(found), shared)

        at_once = all(store._driver.is_quick(store) for _, store in parts)
        tasks = [partial(read, *part, own if number in sharing else batch) for number, part in enumerate(parts)]
        do_all(tasks, at_once)
        return found

    def sources(self, view: View) -> Sequence[Source]:
        """Return the sources of all layers that a view needs."""
        if self._opens:
            return ()
        try:
            parts = self._parts(view._form)
        except SpecError:
            # The read that follows raises it again.
            return ()
        return [source for _, store in parts for source in store._driver.sources(store)]

    def write(self, view: View, source: Elements) -> None:
        """Write to each layer the elements that no later one has."""
        parts = self._parts(view._form)

        def write(part: Part, store: TensorStore) -> None:
            if not store._driver.writable:
                raise NotWritableError(f"Layer {part.number}: Write mode not supported")
            store._driver.write(store, part.of(source))

        at_once = all(store._driver.is_quick_to_write(store) for _, store in parts)
        do_all([partial(write, *part) for part in parts], at_once)

    def is_quick(self, view: View) -> bool:
        """Return whether few layers are needed, and each is quick to read."""
        parts = self._few_parts(view._form)
        return parts is not None and all(store._driver.is_quick(store) for _, store in parts)

    def is_quick_to_write(self, view: View) -> bool:
        """Return whether few layers are needed, and each is quick to write."""
        parts = self._few_parts(view._form)
        return parts is not None and all(store._driver.is_quick_to_write(store) for _, store in parts)

    def _few_parts(self, form: Form) -> list[_Assigned] | None:
        if self._opens or prod(form.shape) > _QUICK:
            return None
        try:
            parts = self._parts(form)
        except SpecError:
            # The read that follows raises it again.
            return None
        return parts if len(parts) <= _FEW else None

    def _parts(self, form: Form) -> list[_Assigned]:
        """Return the part of the view that each layer has.

        One read asks up to three times: whether it is quick, what it shares with others, and what it reads. So the last
        answer is remembered, unless it is large, or layers are opened for it.
        """
        last = self._last
        if last is not None and last[0] is form:
            return last[1]
        parts = []
        for part in self._partition.parts(form):
            store = self._layers[part.number].open()
            if self._transaction is not None and store.transaction is not self._transaction:
                store = store.with_transaction(self._transaction)
            parts.append((part, store._with_form(through(store._bare, part.form.maps, *part.form[:5]))))
        if not self._opens and prod(form.shape) <= _QUICK:
            self._last = form, parts
        return parts

    @cached_property
    def _partition(self) -> StackPartition:
        form = self._domain._form
        is_open = True in form.implicit_lower or True in form.implicit_upper
        domain = None if is_open else tuple(zip(form.lower, form.upper, strict=True))
        return StackPartition([layer.box for layer in self._layers], domain)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_last": None}

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


def _check_readable(part: Part, store: TensorStore) -> None:
    if not store._driver.readable:
        raise NotReadableError(f"Layer {part.number}: Read mode not supported")


Opener: TypeAlias = Callable[[SpecNode], TensorStore]


@dataclass(frozen=True, slots=True)
class Layer:
    """One store or bound spec, and the selected view of it."""

    source: TensorStore | Spec
    opener: Opener

    @property
    def form(self) -> Form:
        """The view."""
        form = self.source._form
        never = (False,) * form.rank
        return form._replace(implicit_lower=never, implicit_upper=never)

    @property
    def domain(self) -> IndexDomain:
        """The domain of the view."""
        return IndexDomain._of(self.form.domain)

    @property
    def box(self) -> Box:
        """The bounds of the view."""
        form = self.source._form
        return tuple(zip(form.lower, form.upper, strict=True))

    @property
    def dtype(self) -> DType | None:
        """The data type, if it is known."""
        return self.source.dtype

    @property
    def rank(self) -> int:
        """The number of its dimensions."""
        return len(self.source._form.lower)

    def with_form(self, form: Form) -> Layer:
        """Return the layer with another view."""
        return Layer(self.source._with_form(form), self.opener)

    def open(self) -> TensorStore:
        """Return the store, which is opened if it is a spec."""
        return self.source if isinstance(self.source, TensorStore) else self.opener(self.source._node)

    def said(self, minimal: bool, copying: Resource) -> SpecNode:
        """Return the spec that opens the layer again, with default resources except for copying elements."""
        if isinstance(self.source, TensorStore):
            node = self.source._driver.said(self.source, minimal)
        else:
            node = replace(self.source._node, transform=IndexTransform._of(self.source._form))
        return _copying_with(strip(node), copying)


def _copying_with(node: SpecNode, copying: Resource) -> SpecNode:
    shared = {name: copying if name == "data_copy_concurrency" else held for name, held in node.resources.items()}
    return replace(node, resources=shared, bases=tuple(_copying_with(base, copying) for base in node.bases))


def as_layer(source: Any, context: Context, opener: Opener) -> Layer:
    """Return a layer of what a user gives.

    Raises
    ------
    SpecError
        When it is a spec whose domain is not known.
    """
    if isinstance(source, TensorStore):
        return Layer(source, opener)
    if not isinstance(source, Spec | Mapping | str):
        raise TypeError(f"expected a TensorStore or a Spec, found {type(source).__name__}")
    spec = Spec._of(bind(Spec(source)._node, context))
    if spec.domain is None:
        raise SpecError(f"Domain must be specified in layer: {spec!r}")
    return Layer(spec, opener)
