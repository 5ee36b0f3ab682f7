"""Stores put together in one domain: each element is that of the last one which has it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.futures import submit
from blizzarr.spec.binding import Held
from blizzarr.spec.dtype import DType
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.driver import Driver, Elements, Shared, View
from blizzarr.tensorstore.layers import Layer
from blizzarr.tensorstore.regions import Box, box_within, cut_to, indices_of, points, within
from blizzarr.tensorstore.store import TensorStore
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.form import Form

__all__ = ["StackDriver"]

_SIDE_BY_SIDE = 64
"""How many boxes are compared with each other, before a mask of what is free costs less."""


class StackDriver(Driver):
    """Layers, of which later ones hide earlier ones."""

    name = "stack"

    def __init__(
        self,
        layers: tuple[Layer, ...],
        domain: IndexDomain,
        dtype: DType,
        units: tuple[Unit | None, ...],
        resource: Held,
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
        self.readable = others or any(store.readable for store in stores)
        self.writable = others or any(store.writable for store in stores)

    @property
    def domain(self) -> IndexDomain:
        """What holds all layers."""
        return self._domain

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """Those that were given, or those of the layers."""
        return self._units

    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """All layers."""
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
        """Read from each layer what no later one has."""
        form = view._form
        found = np.empty(form.shape, self.dtype.numpy_dtype) if out is None else out
        views = [(number, self._view(number, part), where) for number, part, where in self._parts(form)]
        tasks = [partial(self._read_part, number, view, found, where, batch) for number, view, where in views]
        if all(view.driver.is_quick(view) for _, view, _ in views):
            for task in tasks:
                task()
        else:
            _all_done(tasks)
        return found

    def _view(self, number: int, part: Form) -> TensorStore:
        """What is wanted of a layer."""
        store = self._layers[number].open()
        if self._transaction is not None:
            store = store.with_transaction(self._transaction)
        return store._with_form(within(store._form, part))

    def _read_part(self, number: int, view: TensorStore, found: Elements, where: Any, batch: Shared | None) -> None:
        if not view.readable:
            raise SpecError(f"Layer {number}: Read mode not supported")
        found[where] = view.driver.read(view, None, batch)

    def write(self, view: View, source: Elements) -> None:
        """Write to each layer what no later one has."""
        _all_done(
            [
                partial(self._write_part, number, self._view(number, part), source[where])
                for number, part, where in self._parts(view._form)
            ]
        )

    def _write_part(self, number: int, view: TensorStore, source: Elements) -> None:
        if not view.writable:
            raise SpecError(f"Layer {number}: Write mode not supported")
        view.driver.write(view, source)

    def _parts(self, form: Form) -> Iterator[tuple[int, Form, Any]]:
        """For each layer that is needed: its number, what is wanted of it, and where that lies in the view.

        Raises
        ------
        SpecError
            When there are positions that no layer has.
        """
        shape = form.shape
        left = prod(shape)
        done: list[Box] = []
        free: npt.NDArray[np.bool_] | None = None
        indices: list[npt.NDArray[np.int64]] | None = None
        for number in reversed(range(len(self._layers))):
            if not left:
                return
            inside = self._layers[number].box
            box = box_within(form, inside)
            if box is not None:
                size = prod(high - low for low, high in box)
                if not size:
                    continue
                where = tuple(
                    slice(low - first, high - first) for (low, high), first in zip(box, form.lower, strict=True)
                )
                # As long as the layers are side by side there is no need to know of each element whether it is free.
                if free is None and len(done) < _SIDE_BY_SIDE and not any(_overlap(box, other) for other in done):
                    done.append(box)
                    yield number, cut_to(form, box), where
                    left -= size
                    continue
                if free is None:
                    free = _free(form, done)
                if free[where].all():
                    yield number, cut_to(form, box), where
                    free[where] = False
                    left -= size
                    continue
            if free is None:
                free = _free(form, done)
            if indices is None:
                indices = indices_of(form)
            wanted = free.copy()
            for index, (low, high) in zip(indices, inside, strict=True):
                wanted &= (index >= low) & (index < high)
            count = int(np.count_nonzero(wanted))
            if count:
                yield number, points(indices, wanted), wanted
                free &= ~wanted
                left -= count
        if left:
            missing = np.argwhere(_free(form, done) if free is None else free)[0]
            places = indices_of(form) if indices is None else indices
            origin = ", ".join(str(int(np.broadcast_to(index, shape)[tuple(missing)])) for index in places)
            raise SpecError(f'Cell with origin={{{origin}}} missing layer mapping in "stack" driver')

    @property
    def transaction(self) -> Transaction | None:
        """What gathers what is written."""
        return self._transaction

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """The same layers with a transaction."""
        made = StackDriver(self._layers, self._domain, self.dtype, self._units, self._resource, transaction)
        return made.allowed(self.readable, self.writable)

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Not known."""
        raise UnsupportedOperationError("Storage statistics not supported")


def _overlap(one: Box, other: Box) -> bool:
    return all(low < end and start < high for (low, high), (start, end) in zip(one, other, strict=True))


def _free(form: Form, done: list[Box]) -> npt.NDArray[np.bool_]:
    """Which positions of a view are in none of these boxes of its positions."""
    free = np.ones(form.shape, bool)
    for box in done:
        free[tuple(slice(low - at, high - at) for (low, high), at in zip(box, form.lower, strict=True))] = False
    return free


def _all_done(tasks: list[Any]) -> None:
    if len(tasks) == 1:
        tasks[0]()
        return
    for future in [submit(task) for task in tasks]:
        future.result()
