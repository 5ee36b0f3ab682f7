"""Stores combined in one domain: each position belongs to the last layer that contains it.

A view is divided between the layers in one of two ways.

By box
    What decides between the layers near the view are indices without arrays. Then the positions in a layer are a box of
    the view. From the last layer on, each takes what is left of its box; what is left then is again a few boxes, and no
    position is looked at by itself.
By point
    Arrays of indices decide. The layer of each position along their dimensions is noted, and the positions of one layer
    are picked together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.errors import NotReadableError, NotWritableError, SpecError
from blizzarr.futures import do_all
from blizzarr.indexing.form import ArrayMap, Form, dims_of
from blizzarr.indexing.layout import through
from blizzarr.json_values import braces
from blizzarr.spec.context import Context, Resource, bind, strip
from blizzarr.spec.dtype import DType, element_dtype
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec import Spec, node_of, spec_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.driver import Chunk, Driver, Elements, Request, Shared, with_transaction
from blizzarr.tensorstore.opening import is_quick, open_slowly
from blizzarr.tensorstore.picking import Box, Part, Points, box_within, cut_to, parts_by_point, reach
from blizzarr.tensorstore.store import TensorStore, driver_of, store_of
from blizzarr.transactions import Transaction
from blizzarr.transfer import empty_result
from blizzarr.views import IndexDomain, form_of, transform_of
from blizzarr.views.compose import indices_of


class StackPartition:
    """The boxes of layers, and how a view is divided between them."""

    def __init__(self, boxes: Sequence[Box], domain: Box | None) -> None:
        self._boxes = boxes
        # Layers that lie side by side, as those of stacks do, are found by where they begin.
        self._row = None if domain is None else _row_of(boxes, domain)
        self._starts = [] if self._row is None else [box[self._row][0] for box in boxes]
        self._ends = [] if self._row is None else [box[self._row][1] for box in boxes]
        # In a row, the layers are alike along all other axes.
        self._axes = (self._row,) if self._row is not None else range(len(boxes[0]) if boxes else 0)
        self._bounds: npt.NDArray[np.int64] | None = None

    def parts(self, form: Form) -> list[Part]:
        """Return the part of a view that each layer has, the last layer first.

        Raise `SpecError` when there are positions that no layer has.
        """
        if 0 in form.shape:
            return []
        extent = [reach(form.maps[axis], form) for axis in self._axes]
        near = self._near(extent)
        deciding = [
            axis
            for axis, (least, most) in zip(self._axes, extent, strict=True)
            if any(least < low or most >= high for low, high in (self._boxes[number][axis] for number in near))
        ]
        if near and not deciding:
            return [Part(near[-1], form, None)]
        if any(isinstance(form.maps[axis], ArrayMap) for axis in deciding):
            return self._by_point(form, near, deciding)
        return list(self._by_box(form, near, deciding))

    def _by_box(self, form: Form, near: Sequence[int], deciding: list[int]) -> Iterator[Part]:
        # Along all other dimensions, each part has everything.
        dims = sorted({dim for axis in deciding for dim in dims_of(form.maps[axis])})
        free: list[Box] = [tuple([(form.lower[dim], form.upper[dim]) for dim in dims])]
        for number in reversed(near):
            box = box_within(form, self._boxes[number], deciding, dims)
            left: list[Box] = []
            for one in free:
                common = tuple(
                    [(max(low, first), min(high, end)) for (low, high), (first, end) in zip(one, box, strict=True)]
                )
                if any(low >= high for low, high in common):
                    left.append(one)
                else:
                    yield cut_to(number, form, common, dims)
                    left.extend(_around(one, common))
            free = left
            if not free:
                return
        first = min(tuple([low for low, _ in one]) for one in free)
        origin = dict(zip(range(form.rank), form.lower, strict=True)) | dict(zip(dims, first, strict=True))
        lost = cut_to(0, form, tuple([(at, at + 1) for at in origin.values()]), range(form.rank)).form
        raise _missing([indices_of(lost, map_).item() for map_ in lost.maps])

    def _by_point(self, form: Form, near: Sequence[int], deciding: list[int]) -> list[Part]:
        indices = {axis: indices_of(form, form.maps[axis]) for axis in deciding}
        owner: npt.NDArray[np.int64]
        if self._row is not None:
            index = indices[self._row]
            owner = np.searchsorted(self._starts, index, "right") - 1
            owner = np.where((owner < 0) | (index >= np.array(self._ends)[owner]), -1, owner)
        else:
            owner = np.full(np.broadcast_shapes(*[indices[axis].shape for axis in deciding]), -1, np.int64)
            for number in near:
                inside: npt.NDArray[np.bool_] = np.array(True)
                for axis in deciding:
                    low, high = self._boxes[number][axis]
                    inside = inside & (indices[axis] >= low) & (indices[axis] < high)
                owner[np.broadcast_to(inside, owner.shape)] = number
        missing = np.argwhere(owner < 0)
        if len(missing):
            at = tuple(missing[0].tolist())
            raise _missing([int(np.broadcast_to(indices_of(form, map_), form.shape)[at]) for map_ in form.maps])
        return parts_by_point(form, owner)

    def _near(self, extent: list[tuple[int, int]]) -> Sequence[int]:
        """Return the layers whose boxes overlap what a view reaches, in their order; some others may be among them."""
        if self._row is not None:
            ((least, most),) = extent
            return range(max(0, bisect_right(self._starts, least) - 1), bisect_right(self._starts, most))
        if self._bounds is None:
            self._bounds = np.array(self._boxes, np.int64).reshape(len(self._boxes), len(extent), 2)
        first, last = np.array(extent, np.int64).reshape(-1, 2).T
        near = ((self._bounds[..., 0] <= last) & (self._bounds[..., 1] > first)).all(1)
        return np.flatnonzero(near).tolist()


def _row_of(boxes: Sequence[Box], domain: Box) -> int | None:
    """Return the dimension along which boxes lie in a row, if each spans the whole domain in the others."""
    if not boxes:
        return None
    first = boxes[0]
    differing = [dim for dim, bounds in enumerate(domain) if any(box[dim] != bounds for box in boxes)]
    if len(differing) > 1 or not first:
        return None
    axis = differing[0] if differing else 0
    for one, other in pairwise(boxes):
        if one[axis][1] > other[axis][0]:
            return None
    return axis


def _around(box: Box, hole: Box) -> Iterator[Box]:
    """Return disjoint boxes that together are a box without another one in it."""
    rest = list(box)
    for dim, ((low, high), (first, end)) in enumerate(zip(box, hole, strict=True)):
        for one in ((low, first), (end, high)):
            if one[0] < one[1]:
                yield (*rest[:dim], one, *rest[dim + 1 :])
        rest[dim] = (first, end)


def _missing(origin: list[int]) -> SpecError:
    return SpecError(f'Cell with origin={braces(origin)} missing layer mapping in "stack" driver')


_QUICK = 1 << 18
"""Work on more elements than these is always handed to another thread."""

_FEW = 32
"""Layers that are read faster one after the other than by other threads."""

_Assigned: TypeAlias = tuple[Part, Driver, Form]
"""A part of a view, and the driver and the view of the layer that has the part."""

Layer: TypeAlias = TensorStore | Spec
"""A layer: a store, or a spec, bound and with a known domain, that is opened when it is needed."""


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
    ) -> None:
        self._layers = layers
        self._domain = domain
        self._units = units
        self._resource = resource
        self._last: tuple[Form, list[_Assigned]] | None = None
        self.dtype = dtype
        opened = [driver_of(layer) for layer in layers if isinstance(layer, TensorStore)]
        # As soon as one layer can be; specs are opened for whatever is asked.
        self._opens = len(opened) < len(layers) or not layers
        self.readable = self._opens or any(driver.readable for driver in opened)
        self.writable = self._opens or any(driver.writable for driver in opened)

    @property
    def schema(self) -> Schema:
        return schema_of(self.dtype, self.rank, units=self._units)

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        schema = Schema(dtype=self.dtype, domain=self._domain)
        if any(self._units):
            schema.update(dimension_units=list(self._units))
        return SpecNode(
            "stack",
            schema,
            transform_of(form),
            bases=tuple(_node_of(layer, minimal, self._resource) for layer in self._layers),
            resources={"data_copy_concurrency": self._resource},
        )

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Read from each layer the elements that no later one has."""
        parts = self._parts(form)
        if len(parts) == 1 and parts[0][0].where is None:
            ((part, driver, own),) = parts
            return _readable(part, driver).read(own, out, batch)
        result = empty_result(form.shape, element_dtype(self.dtype)) if out is None else out

        needed = [driver.decoded(own) for _, driver, own in parts]
        if batch is None and len(set().union(*needed)) < sum(map(len, needed)):
            # Layers share chunks, which are dropped after this read, so that they cannot become stale.
            batch = {}

        def read(part: Part, driver: Driver, own: Form) -> None:
            _readable(part, driver)
            if isinstance(part.where, Points):
                part.put(result, driver.read(own, None, batch))
            else:
                driver.read(own, part.of(result), batch)

        at_once = all(driver.is_quick(own) for _, driver, own in parts)
        do_all([partial(read, *part) for part in parts], at_once)
        return result

    def decoded(self, form: Form) -> set[Chunk]:
        return set().union(*[driver.decoded(own) for _, driver, own in self._known_parts(form) or ()])

    def write(self, form: Form, source: Elements) -> None:
        """Write to each layer the elements that no later one has."""
        parts = self._parts(form)

        def write(part: Part, driver: Driver, own: Form) -> None:
            if not driver.writable:
                raise NotWritableError(f"Layer {part.number}: Write mode not supported")
            driver.write(own, part.of(source))

        at_once = all(driver.is_quick(own, True) for _, driver, own in parts)
        do_all([partial(write, *part) for part in parts], at_once)

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        """Return whether a view is small, and needs few layers, all of them open, which are quick themselves."""
        parts = self._known_parts(form) if prod(form.shape) <= _QUICK else None
        if parts is None or len(parts) > _FEW:
            return False
        return all(driver.is_quick(own, writes) for _, driver, own in parts)

    def _known_parts(self, form: Form) -> list[_Assigned] | None:
        """Return the parts of the view; None if layers are opened for them, or a position has no layer."""
        try:
            return None if self._opens else self._parts(form)
        except SpecError:
            # The read that follows raises it again.
            return None

    def _parts(self, form: Form) -> list[_Assigned]:
        """Return the part of the view that each layer has.

        One read asks up to three times: whether it is quick, what it shares with others, and what it reads. So the last
        answer is remembered, unless it is large, or layers are opened for it.
        """
        last = self._last
        if last is not None and last[0] is form:
            return last[1]
        parts, own = [], self._partition.parts(form)
        layers = self._opened({part.number for part in own})
        for part in own:
            layer = layers[part.number]
            driver, view = driver_of(layer), form_of(layer)
            if self.transaction is not None and driver.transaction is not self.transaction:
                driver = with_transaction(driver, self.transaction)
            parts.append((part, driver, through(view, part.form.maps, *part.form[:5])))
        if not self._opens and prod(form.shape) <= _QUICK:
            self._last = form, parts
        return parts

    def _opened(self, numbers: Iterable[int]) -> dict[int, TensorStore]:
        """Return these layers by number; those that are specs are opened at once."""
        opened: dict[int, TensorStore] = {}
        nodes: dict[int, SpecNode] = {}
        for number in numbers:
            layer = self._layers[number]
            if isinstance(layer, Spec):
                nodes[number] = node_of(layer)
            else:
                opened[number] = layer

        def open_layer(number: int) -> None:
            opened[number] = open_slowly(nodes[number], Request(transaction=self.transaction))

        do_all([partial(open_layer, number) for number in nodes], all(map(is_quick, nodes.values())))
        return opened

    @cached_property
    def _partition(self) -> StackPartition:
        form = form_of(self._domain)
        is_open = True in form.implicit_lower or True in form.implicit_upper
        domain = None if is_open else tuple(zip(form.lower, form.upper, strict=True))
        forms = map(form_of, self._layers)
        return StackPartition([tuple(zip(each.lower, each.upper, strict=True)) for each in forms], domain)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last": None}

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        return self.altered(transaction=transaction, _last=None)


def _readable(part: Part, driver: Driver) -> Driver:
    if not driver.readable:
        raise NotReadableError(f"Layer {part.number}: Read mode not supported")
    return driver


def _node_of(layer: Layer, minimal: bool, copying: Resource) -> SpecNode:
    """Return the spec that opens the layer again, with default resources except for copying elements."""
    node = node_of(layer) if isinstance(layer, Spec) else driver_of(layer).spec_of(form_of(layer), minimal)
    return _copying_with(strip(node), copying)


def _copying_with(node: SpecNode, copying: Resource) -> SpecNode:
    shared = {name: copying if name == "data_copy_concurrency" else own for name, own in node.resources.items()}
    return node.altered(resources=shared, bases=tuple(_copying_with(base, copying) for base in node.bases))


def as_layer(source: Any, context: Context) -> Layer:
    """Return a layer of what a user gives; raise `SpecError` when it is a spec whose domain is not known."""
    if isinstance(source, TensorStore):
        return source
    if not isinstance(source, Spec | Mapping | str):
        raise TypeError(f"expected a TensorStore or a Spec, found {type(source).__name__}")
    spec = spec_of(bind(node_of(source), context))
    if spec.domain is None:
        raise SpecError(f"Domain must be specified in layer: {spec!r}")
    return spec


def placed(layer: Layer, form: Form) -> Layer:
    """Return another view of what a layer is a view of."""
    if isinstance(layer, Spec):
        return spec_of(node_of(layer).altered(transform=transform_of(form)))
    return store_of(driver_of(layer), form)
