"""A view converted to another data type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dtype import DType
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.conversion import can_convert, convert
from blizzarr.tensorstore.driver import Bounds, Driver, Elements, Shared, Source, View
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain


def cast_driver(driver: Driver, dtype: DType) -> Driver:
    """Return a driver that converts the elements to another data type.

    Raises
    ------
    SpecError
        If neither reading nor writing can convert them.
    """
    if driver.dtype == dtype:
        return driver
    below = driver._below if isinstance(driver, CastDriver) else driver
    return CastDriver(below, dtype, driver.readable, driver.writable)


class CastDriver(Driver):
    """Elements that are converted when they are read and written."""

    name = "cast"

    def __init__(self, below: Driver, dtype: DType, readable: bool = True, writable: bool = True) -> None:
        self._below = below
        self.dtype = dtype
        self.readable = readable and can_convert(below.dtype, dtype)
        self.decodes = below.decodes
        self.writable = writable and can_convert(dtype, below.dtype)
        if not self.readable and not self.writable:
            arrow = "<->" if readable and writable else "->"
            raise SpecError(f"Cannot convert {below.dtype.name} {arrow} {dtype.name}")

    @property
    def domain(self) -> IndexDomain:
        """The domain of the elements below."""
        return self._below.domain

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The layout of the elements below."""
        return self._below.chunk_layout

    @property
    def codec(self) -> CodecSpec | None:
        """The codec of the elements below."""
        return self._below.codec

    @property
    def fill_value(self) -> npt.NDArray[Any] | None:
        """The fill value of the elements below, converted."""
        fill = self._below.fill_value
        return None if fill is None or not self.readable else convert(fill, self._below.dtype, self.dtype)

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The units of the elements below."""
        return self._below.dimension_units

    @property
    def kvstore(self) -> KvStore | None:
        """The key-value store of the elements below."""
        return self._below.kvstore

    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """Return the spec of the view below, cast to this data type."""
        below = self._below.said(view, minimal)
        # The transform is written once, for the cast.
        base = replace(below, schema=Schema(dtype=self._below.dtype), transform=None)
        return SpecNode("cast", Schema(dtype=self.dtype), below.transform, bases=(base,))

    def base(self, view: View) -> tuple[Driver, View] | None:
        """Return the driver below and the view of it."""
        return self._below, view

    def read(self, view: View, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Read and convert."""
        found = convert(self._below.read(view, None, batch), self._below.dtype, self.dtype)
        if out is None:
            return found
        out[...] = found
        return out

    def sources(self, view: View) -> Sequence[Source]:
        """Return the sources of the driver below."""
        return self._below.sources(view)

    def write(self, view: View, source: Elements) -> None:
        """Convert and write."""
        self._below.write(view, convert(np.asarray(source), self.dtype, self._below.dtype))

    def is_quick(self, view: View) -> bool:
        """Return whether reading from the driver below is quick."""
        return self._below.is_quick(view)

    def is_quick_to_write(self, view: View) -> bool:
        """Return whether writing to the driver below is quick."""
        return self._below.is_quick_to_write(view)

    def current(self, form: Form) -> Form:
        """Return the form with the current bounds of the driver below."""
        return self._below.current(form)

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        """Return the driver with the current bounds of the driver below."""
        return self._over(self._below.resolve(fix_resizable_bounds))

    def resize(self, view: View, inclusive_min: Bounds, exclusive_max: Bounds, modes: frozenset[str]) -> Driver:
        """Resize the driver below."""
        return self._over(self._below.resize(view, inclusive_min, exclusive_max, modes))

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Return how much is stored of the elements below."""
        return self._below.storage_statistics(view, not_stored, fully_stored)

    @property
    def transaction(self) -> Transaction | None:
        """The transaction of the driver below."""
        return self._below.transaction

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """Return the same cast of the driver below with a transaction."""
        return self._over(self._below.with_transaction(transaction))

    def _over(self, below: Driver) -> CastDriver:
        return CastDriver(below, self.dtype, self.readable, self.writable)

    def __reduce__(self) -> tuple[Any, ...]:
        return CastDriver, (self._below, self.dtype, self.readable, self.writable)
