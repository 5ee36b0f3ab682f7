"""Drivers: sources of elements that a TensorStore reads and writes through views."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError, UnsupportedOperationError, ViewOutOfBoundsError
from blizzarr.indexing.form import ArrayMap, Form
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dtype import DType
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.compose import compose
from blizzarr.views.indexing import Indexed

if TYPE_CHECKING:
    from blizzarr.tensorstore.in_flight import InFlight

Elements = npt.NDArray[Any]
Shared = dict[Any, Any]
"""State that reads share which belong to one batch, or are in flight at the same time."""

View = Indexed
"""A transform from the selection to the domain of the driver; a `TensorStore` is one."""


class Source(NamedTuple):
    """A part of a stored array that something is read from."""

    place: Any
    """Equal for all handles of one array."""
    form: Form
    chunk_shape: tuple[int, ...]
    """The shape of the chunks that are decoded as a whole."""
    chunk_bytes: int

    def chunks(self) -> tuple[range, ...]:
        """Return the range of chunks along each dimension, which for index arrays includes those in between."""
        return tuple(chunks_of(self.form, self.chunk_shape))


class Driver(ABC):
    """Elements of one data type in a domain.

    Every method works in the calling thread; `TensorStore` calls those that take long from other threads.
    """

    name: str
    """The name of the driver in JSON."""
    dtype: DType
    readable: bool = True
    writable: bool = True
    resolves: bool = True
    """True if bounds of views may change, so that they can be resolved."""
    decodes: bool = False
    """True if reads decode chunks that are worth sharing with other reads."""
    _in_flight: weakref.ref[InFlight] | None = None
    """The reads whose futures still exist."""

    # Properties

    @property
    @abstractmethod
    def domain(self) -> IndexDomain:
        """The positions of its elements; bounds that can change are implicit."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.domain.rank

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The layout of the elements, and the shapes that are best read and written."""
        return ChunkLayout()

    @property
    def codec(self) -> CodecSpec | None:
        """The codec that turns elements into bytes; None if there is none."""
        return None

    @property
    def fill_value(self) -> npt.NDArray[Any] | None:
        """The value of elements that were never written; None if there is no such value."""
        return None

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The unit of each dimension."""
        return (None,) * self.rank

    @property
    def kvstore(self) -> KvStore | None:
        """The key-value store that the elements are in; None if there is none."""
        return None

    @abstractmethod
    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """Return the spec that opens this view again, with its resources; without the metadata if `minimal`."""

    def base(self, view: View) -> tuple[Driver, View] | None:
        """Return the driver that this one is made from and the view of it; None unless it is made from exactly one."""
        return None

    # Its elements

    @abstractmethod
    def read(self, view: View, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Return the elements of a view: in a new array, or in `out`, which has the shape of the view's domain.

        Chunks that were decoded for the same `batch` need not be read again, unless its state says so.
        """

    def sources(self, view: View) -> Sequence[Source]:
        """Return the chunks that reads of a view decode and could share; none where sharing does not pay."""
        return ()

    @abstractmethod
    def write(self, view: View, source: Elements) -> None:
        """Replace the elements of a view with those of an array of this data type and the shape of the view."""

    def is_quick(self, view: View) -> bool:
        """Return whether accessing a view takes less time than handing the work to another thread."""
        return False

    def is_quick_to_write(self, view: View) -> bool:
        """Return whether writing a view takes less time than handing the work to another thread."""
        return self.is_quick(view)

    @property
    def is_near(self) -> bool:
        """True if looking at its metadata takes less time than handing the work to another thread."""
        return False

    def is_quick_to_resize(self, form: Form, exclusive_max: Bounds) -> bool:
        """Return whether resizing takes less time than handing the work to another thread."""
        return False

    def current(self, form: Form) -> Form:
        """Return the form with its implicit bounds as they are now."""
        if True not in form.implicit_upper and True not in form.implicit_lower:
            return form
        try:
            return compose(IndexTransform(self.domain)._form, form)
        except OutOfBoundsError as error:
            raise ViewOutOfBoundsError(str(error), index=error.index) from None

    # Changing it

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        """Return the driver with its current bounds."""
        return self

    def resize(self, view: View, inclusive_min: Bounds, exclusive_max: Bounds, modes: frozenset[str]) -> Driver:
        """Change the bounds that are not None, and return the driver with the new ones."""
        raise UnsupportedOperationError("Resize not supported")

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Return whether none and whether all of a view is stored; None for what was not asked."""
        raise UnsupportedOperationError("storage_statistics not supported")

    @property
    def transaction(self) -> Transaction | None:
        """The transaction that gathers writes; None if they are stored at once."""
        return None

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """Return the same driver with a transaction."""
        if transaction is None:
            return self
        raise UnsupportedOperationError(f'"{self.name}" driver does not support transactions')

    def allowed(self, readable: bool, writable: bool) -> Self:
        """Return the same driver, restricted to reading or to writing."""
        if readable == self.readable and writable == self.writable:
            return self
        # Not by `copy`, which would do as pickling does and open again.
        limited = object.__new__(type(self))
        limited.__dict__.update(self.__dict__)
        limited.readable = readable
        limited.writable = writable
        return limited

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_in_flight"}


def chunks_of(form: Form, chunk_shape: tuple[int, ...]) -> Iterator[range]:
    """Along each dimension the chunks between the first and the last index of a view.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> list(chunks_of(IndexTransform(input_shape=[20, 9])[::-2, 3]._form, (8, 2)))
    [range(0, 3), range(1, 2)]
    """
    for map_, length in zip(form.maps, chunk_shape, strict=True):
        if isinstance(map_, int):
            ends = map_, map_
        elif isinstance(map_, ArrayMap):
            array = map_.array
            least, most = (int(array.min()), int(array.max())) if array.size else (0, -1)
            ends = map_.offset + map_.stride * least, map_.offset + map_.stride * most
        else:
            dim, offset, stride = map_
            ends = offset + stride * form.lower[dim], offset + stride * (form.upper[dim] - 1)
        yield range(min(ends) // length, max(ends) // length + 1)


Bounds = tuple[int | None, ...] | None
