"""Arrays in memory as a driver."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.indexing import lower_form
from blizzarr.indexing.form import Form, Map, dims_of
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.context import Context, Resource, resource_of
from blizzarr.spec.drivers.values import order_of
from blizzarr.spec.dtype import DType, as_dtype
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.conversion import as_elements
from blizzarr.tensorstore.driver import Driver, Elements, Shared
from blizzarr.tensorstore.picking import picked, put
from blizzarr.views import IndexDomain, domain_of, transform_of
from blizzarr.views.values import MAX_RANK

_QUICK = 1 << 16
"""Elements that are copied faster than another thread begins."""


def array_driver(value: Any, dtype: Any, context: Context | None, copy: bool | None, write: bool | None) -> MemoryArray:
    """Return the driver of an array that a user passed; see `blizzarr.tensorstore.array`."""
    if dtype is None:
        result = value if isinstance(value, np.ndarray) else np.asarray(value)
        kind = as_dtype("json" if result.dtype == object else result.dtype)
        every = [] if isinstance(value, np.ndarray) or result.dtype != object else list(result.flat)
        if every and all(isinstance(element, bytes) for element in every):
            kind = as_dtype("string")
    else:
        kind = as_dtype(dtype)
    elements = as_elements(value, kind)
    own = not np.shares_memory(elements, value) if isinstance(value, np.ndarray) else True
    must_copy = copy or (write and not elements.flags.writeable)
    if copy is False and (own or must_copy):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if must_copy:
        elements = elements.copy()
    writable = elements.flags.writeable if write is None else write
    return MemoryArray(elements, kind, resource_of(context or Context(), "data_copy_concurrency"), writable)


class MemoryArray(Driver):
    """A NumPy array, which can be neither read nor written in a transaction."""

    name = "array"

    def __init__(
        self,
        array: npt.NDArray[Any],
        dtype: DType,
        resource: Resource,
        writable: bool = True,
        units: tuple[Unit | None, ...] | None = None,
    ) -> None:
        if array.ndim > MAX_RANK:
            raise SpecError(f"Rank {array.ndim} is outside valid range [0, {MAX_RANK}]")
        self._array = array
        self._resource = resource
        self._units = units
        self.dtype = dtype
        self.writable = writable

    @property
    def domain(self) -> IndexDomain:
        return domain_of(Form.of_shape(self._array.shape))

    @property
    def schema(self) -> Schema:
        layout = ChunkLayout(grid_origin=[0] * self._array.ndim, inner_order=order_of(self._array))
        return schema_of(self.dtype, self._array.ndim, None, layout, self._units or ())

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        array = picked(self._array, lower_form(form, self._array.shape))
        # Repeated dimensions are written once.
        steps = zip(form.maps, self._array.strides, strict=True)
        along = {dim for map_, step in steps if step for dim in dims_of(map_)}
        kept = [dim for dim, length in enumerate(array.shape) if length != 1 and dim in along]
        if array.size:
            # With an ellipsis it is an array even where it is one element, also where elements are objects.
            elements = array[(*(slice(None) if dim in kept else 0 for dim in range(array.ndim)), ...)]
            maps: tuple[Map, ...] = tuple((dim, -form.lower[dim], 1) for dim in kept)
        else:
            # In JSON it is `[]`, whatever its rank.
            elements, kept, maps = array.reshape(-1), [0], (0,)
        # A copy: a spec does not change with later writes.
        elements = elements.copy()
        schema = Schema(dtype=self.dtype, rank=len(kept))
        if self._units is not None and len(kept) == self.rank == form.rank:
            schema.update(dimension_units=self._units)
        return SpecNode(
            "array",
            schema,
            transform_of(form._replace(maps=maps)),
            options={"array": elements},
            resources={"data_copy_concurrency": self._resource},
        )

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        self._check_transaction()
        elements = picked(self._array, lower_form(form, self._array.shape))
        if out is None:
            is_own = elements.flags.owndata and elements.flags.c_contiguous and elements is not self._array
            return elements if is_own else elements.copy("C")
        out[...] = elements
        return out

    def write(self, form: Form, source: Elements) -> None:
        self._check_transaction()
        put(self._array, lower_form(form, self._array.shape), source)

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        return prod(form.shape) <= _QUICK

    def storage_statistics(self, form: Form) -> tuple[bool, bool]:
        """Return that every element is stored; no element is if the view is empty."""
        return 0 in form.shape, True

    def _check_transaction(self) -> None:
        if self.transaction is not None:
            raise UnsupportedOperationError('"array" driver does not support transactions')
