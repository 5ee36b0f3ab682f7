"""A view converted to another data type."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form
from blizzarr.spec.dtype import DType
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.tensorstore.conversion import can_convert, convert
from blizzarr.tensorstore.driver import Bounds, Chunk, Driver, Elements, Shared
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain


def cast_driver(driver: Driver, dtype: DType) -> Driver:
    """Return a driver that converts the elements to another data type.

    Raise `SpecError` if neither reading nor writing can convert them.
    """
    if driver.dtype == dtype:
        return driver
    original = driver.original if isinstance(driver, CastDriver) else driver
    return CastDriver(original, dtype, driver.readable, driver.writable)


class CastDriver(Driver):
    """The elements of another driver, which are converted when they are read and written."""

    name = "cast"

    def __init__(self, original: Driver, dtype: DType, readable: bool = True, writable: bool = True) -> None:
        self.original = original
        self.dtype = dtype
        self.readable = readable and can_convert(original.dtype, dtype)
        self.writable = writable and can_convert(dtype, original.dtype)
        self.decodes = original.decodes
        self.transaction = original.transaction
        if not self.readable and not self.writable:
            arrow = "<->" if readable and writable else "->"
            raise SpecError(f"Cannot convert {original.dtype.name} {arrow} {dtype.name}")

    @property
    def domain(self) -> IndexDomain:
        return self.original.domain

    @property
    def schema(self) -> Schema:
        schema = self.original.schema
        fill = schema.fill_value if self.readable else None
        fill = None if fill is None else convert(fill, self.original.dtype, self.dtype)
        return schema_of(
            self.dtype, self.rank, None, schema.chunk_layout, schema.dimension_units or (), schema.codec, fill
        )

    @property
    def kvstore(self) -> KvStore | None:
        return self.original.kvstore

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        node = self.original.spec_of(form, minimal)
        # The transform is written once, for the cast.
        base = replace(node, schema=Schema(dtype=self.original.dtype), transform=None)
        return SpecNode("cast", Schema(dtype=self.dtype), node.transform, bases=(base,))

    def base(self, form: Form) -> tuple[Driver, Form] | None:
        return self.original, form

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        elements = convert(self.original.read(form, None, batch), self.original.dtype, self.dtype)
        if out is None:
            return elements
        out[...] = elements
        return out

    def decoded(self, form: Form) -> set[Chunk]:
        return self.original.decoded(form)

    def write(self, form: Form, source: Elements) -> None:
        self.original.write(form, convert(np.asarray(source), self.dtype, self.original.dtype))

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        return self.original.is_quick(form, writes)

    def current(self, form: Form) -> Form:
        return self.original.current(form)

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        return self._of(self.original.resolve(fix_resizable_bounds))

    def resize(self, form: Form, inclusive_min: Bounds, exclusive_max: Bounds, modes: frozenset[str]) -> Driver:
        return self._of(self.original.resize(form, inclusive_min, exclusive_max, modes))

    def storage_statistics(self, form: Form) -> tuple[bool, bool]:
        return self.original.storage_statistics(form)

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        return self._of(self.original.with_transaction(transaction))

    def _of(self, original: Driver) -> CastDriver:
        return CastDriver(original, self.dtype, self.readable, self.writable)
