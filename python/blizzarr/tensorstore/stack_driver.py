"""Stores combined in one domain; each element is that of the last store that has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any, TypeAlias

from blizzarr.errors import NotReadableError, NotWritableError, SpecError
from blizzarr.futures import do_all
from blizzarr.indexing.form import Form
from blizzarr.indexing.layout import through
from blizzarr.spec.context import Context, Resource, bind
from blizzarr.spec.dtype import DType, element_dtype
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec import Spec, node_of, spec_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.through_view import units_of_view
from blizzarr.spec.unbinding import strip
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.driver import Chunk, Driver, Elements, Request, Shared, with_transaction
from blizzarr.tensorstore.facts import driver_of
from blizzarr.tensorstore.in_flight import overlapping
from blizzarr.tensorstore.opening import open_node
from blizzarr.tensorstore.parts import Box, Part, Points
from blizzarr.tensorstore.stack_partition import StackPartition
from blizzarr.tensorstore.store import TensorStore
from blizzarr.transactions import Transaction
from blizzarr.transfer import empty_result
from blizzarr.views import IndexDomain, domain_of, form_of, transform_of

_QUICK = 1 << 18
"""Work on more elements than these is always handed to another thread."""

_FEW = 32
"""Layers that are read faster one after the other than by other threads."""

_Assigned: TypeAlias = tuple[Part, Driver, Form]
"""A part of a view, and the driver and the view of the layer that has the part."""


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
        self._last: tuple[Form, list[_Assigned]] | None = None
        self.dtype = dtype
        self.transaction = transaction
        opened = [layer.driver for layer in layers if layer.driver is not None]
        # As soon as one layer can be; specs are opened for whatever is asked.
        self._opens = len(opened) < len(layers) or not layers
        self.readable = self._opens or any(driver.readable for driver in opened)
        self.writable = self._opens or any(driver.writable for driver in opened)
        self.decodes = not (self._opens or transaction) and any(driver.decodes for driver in opened)

    @property
    def domain(self) -> IndexDomain:
        return self._domain

    @property
    def schema(self) -> Schema:
        return schema_of(self.dtype, self.rank, units=self._units)

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        schema = Schema(dtype=self.dtype, domain=self._domain)
        if any(unit is not None for unit in self._units):
            schema.update(dimension_units=list(self._units))
        return SpecNode(
            "stack",
            schema,
            transform_of(form),
            bases=tuple(layer.spec_node(minimal, self._resource) for layer in self._layers),
            resources={"data_copy_concurrency": self._resource},
        )

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Read from each layer the elements that no later one has."""
        parts = self._parts(form)
        if len(parts) == 1 and parts[0][0].where is None:
            ((part, driver, own),) = parts
            _check_readable(part, driver)
            return driver.read(own, out, batch)
        result = empty_result(form.shape, element_dtype(self.dtype)) if out is None else out
        # Shared chunks are dropped after this read, so that they cannot become stale.
        shared_here: Shared = {}
        sharing = overlapping([(driver, own) for _, driver, own in parts]) if batch is None else ()

        def read(part: Part, driver: Driver, own: Form, shared: Shared | None) -> None:
            _check_readable(part, driver)
            if isinstance(part.where, Points):
                part.put(result, driver.read(own, None, shared))
            else:
                driver.read(own, part.of(result), shared)

        at_once = all(driver.is_quick(own) for _, driver, own in parts)
        tasks = [partial(read, *part, shared_here if number in sharing else batch) for number, part in enumerate(parts)]
        do_all(tasks, at_once)
        return result

    def decoded(self, form: Form) -> set[Chunk]:
        try:
            parts = [] if self._opens else self._parts(form)
        except SpecError:
            # The read that follows raises it again.
            return set()
        return set().union(*[driver.decoded(own) for _, driver, own in parts])

    def write(self, form: Form, source: Elements) -> None:
        """Write to each layer the elements that no later one has."""
        parts = self._parts(form)

        def write(part: Part, driver: Driver, own: Form) -> None:
            if not driver.writable:
                raise NotWritableError(f"Layer {part.number}: Write mode not supported")
            driver.write(own, part.of(source))

        at_once = all(driver.is_quick_to_write(own) for _, driver, own in parts)
        do_all([partial(write, *part) for part in parts], at_once)

    def is_quick(self, form: Form) -> bool:
        parts = self._few_parts(form)
        return parts is not None and all(driver.is_quick(own) for _, driver, own in parts)

    def is_quick_to_write(self, form: Form) -> bool:
        parts = self._few_parts(form)
        return parts is not None and all(driver.is_quick_to_write(own) for _, driver, own in parts)

    def _few_parts(self, form: Form) -> list[_Assigned] | None:
        """Return the parts of a small view that needs few layers, all of them open; else None."""
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
            driver, view = self._layers[part.number].open(self.transaction)
            if self.transaction is not None and driver.transaction is not self.transaction:
                driver = with_transaction(driver, self.transaction)
            parts.append((part, driver, through(view, part.form.maps, *part.form[:5])))
        if not self._opens and prod(form.shape) <= _QUICK:
            self._last = form, parts
        return parts

    @cached_property
    def _partition(self) -> StackPartition:
        form = form_of(self._domain)
        is_open = True in form.implicit_lower or True in form.implicit_upper
        domain = None if is_open else tuple(zip(form.lower, form.upper, strict=True))
        return StackPartition([layer.box for layer in self._layers], domain)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_last": None}

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        made = StackDriver(self._layers, self._domain, self.dtype, self._units, self._resource, transaction)
        return made.allowed(self.readable, self.writable)


def _check_readable(part: Part, driver: Driver) -> None:
    if not driver.readable:
        raise NotReadableError(f"Layer {part.number}: Read mode not supported")


@dataclass(frozen=True, slots=True)
class Layer:
    """A driver, or the bound node of a spec that is opened when it is needed, and the selected view."""

    form: Form
    driver: Driver | None
    node: SpecNode | None

    @property
    def domain(self) -> IndexDomain:
        """The domain of the view, with explicit bounds."""
        never = (False,) * self.form.rank
        return domain_of(self.form._replace(implicit_lower=never, implicit_upper=never))

    @property
    def box(self) -> Box:
        """The bounds of the view."""
        return tuple(zip(self.form.lower, self.form.upper, strict=True))

    @property
    def dtype(self) -> DType | None:
        """The data type, if it is known."""
        return self._spec.dtype if self.driver is None else self.driver.dtype

    @property
    def dimension_units(self) -> tuple[Unit | None, ...] | None:
        """The units of the view, if they are known."""
        if self.driver is None:
            return self._spec.dimension_units
        units = self.driver.schema.dimension_units or ()
        return units_of_view(units, self.form) if any(units) else None

    @property
    def _view(self) -> SpecNode:
        assert self.node is not None, "a layer without a driver has one"
        return replace(self.node, transform=transform_of(self.form))

    @property
    def _spec(self) -> Spec:
        return spec_of(self._view)

    def open(self, transaction: Transaction | None) -> tuple[Driver, Form]:
        """Return the driver, which is opened in the transaction if there is only a spec, and the view of it."""
        if self.driver is not None:
            return self.driver, self.form
        store = open_node(self._view, Request(transaction=transaction))
        return driver_of(store), form_of(store)

    def spec_node(self, minimal: bool, copying: Resource) -> SpecNode:
        """Return the spec that opens the layer again, with default resources except for copying elements."""
        node = self._view if self.driver is None else self.driver.spec_of(self.form, minimal)
        return _copying_with(strip(node), copying)


def _copying_with(node: SpecNode, copying: Resource) -> SpecNode:
    shared = {name: copying if name == "data_copy_concurrency" else own for name, own in node.resources.items()}
    return replace(node, resources=shared, bases=tuple(_copying_with(base, copying) for base in node.bases))


def as_layer(source: Any, context: Context) -> Layer:
    """Return a layer of what a user gives.

    Raise `SpecError` when it is a spec whose domain is not known.
    """
    if isinstance(source, TensorStore):
        return Layer(form_of(source), driver_of(source), None)
    if not isinstance(source, Spec | Mapping | str):
        raise TypeError(f"expected a TensorStore or a Spec, found {type(source).__name__}")
    node = bind(node_of(source), context)
    spec = spec_of(node)
    if spec.domain is None:
        raise SpecError(f"Domain must be specified in layer: {spec!r}")
    return Layer(form_of(spec), None, node)
