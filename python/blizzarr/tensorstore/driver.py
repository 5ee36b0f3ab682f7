"""What is behind a TensorStore: something with elements, which is read and written through views of it."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError, UnsupportedOperationError, ViewOutOfBoundsError
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dtype import DType
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.compose import compose
from blizzarr.views.form import ArrayMap, Form
from blizzarr.views.indexing import Indexed

if TYPE_CHECKING:
    from blizzarr.tensorstore.in_flight import InFlight

__all__ = ["Driver", "Elements", "Shared", "Source", "View", "chunks_of"]

Elements = npt.NDArray[Any]
Shared = dict[Any, Any]
"""What reads of a batch, or in flight at the same time, keep for each other."""

View = Indexed
"""A transform from what is asked for to the domain of the driver; a `TensorStore` is one."""


class Source(NamedTuple):
    """A part of a stored array that something is read from."""

    place: Any
    """The same for all handles of one array."""
    form: Form
    chunk_shape: tuple[int, ...]
    """Of what is decoded together."""
    chunk_bytes: int

    def chunks(self) -> tuple[range, ...]:
        """Along each dimension the chunks that it reaches; with arrays of indices also those in between."""
        return tuple(chunks_of(self.form, self.chunk_shape))


class Driver(ABC):
    """Elements of one data type in a domain.

    Everything here is done in the thread that asks; what takes long, `TensorStore` has done by others.
    """

    name: str
    """The name of the driver in JSON."""
    dtype: DType
    readable: bool = True
    writable: bool = True
    resolves: bool = True
    """Whether there are bounds that a view can be told anew."""
    decodes: bool = False
    """Whether reads may have chunks that are worth keeping for each other."""
    _in_flight: weakref.ref[InFlight] | None = None
    """The reads that somebody still has the futures of."""

    # What it is

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
        """How the elements lie, and in which pieces they are best read and written."""
        return ChunkLayout()

    @property
    def codec(self) -> CodecSpec | None:
        """How elements become bytes; None if they do not."""
        return None

    @property
    def fill_value(self) -> npt.NDArray[Any] | None:
        """What elements are that nobody has written; None if there are none."""
        return None

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The unit of each dimension."""
        return (None,) * self.rank

    @property
    def kvstore(self) -> KvStore | None:
        """Where it is stored; None if nowhere."""
        return None

    @abstractmethod
    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """What opens this view again, with the resources it uses; without the metadata if `minimal`."""

    def base(self, view: View) -> tuple[Driver, View] | None:
        """What it is made from, and the view of that; None if it is not made from one other thing."""
        return None

    # Its elements

    @abstractmethod
    def read(self, view: View, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """The elements of a view: a new array, or `out`, which has the shape of the view's domain.

        What is read for the same `batch` need not be read again, unless that says so.
        """

    def sources(self, view: View) -> Sequence[Source]:
        """The chunks that reads of a view decode, and could keep for each other; none where there is nothing to win."""
        return ()

    @abstractmethod
    def write(self, view: View, source: Elements) -> None:
        """Replace the elements of a view with those of an array of this data type and the shape of the view."""

    def is_quick(self, view: View) -> bool:
        """Whether to read or write a view takes so little that handing it to another thread takes longer."""
        return False

    def is_quick_to_write(self, view: View) -> bool:
        """The same for writing."""
        return self.is_quick(view)

    @property
    def is_near(self) -> bool:
        """Whether to look at what it says of itself takes so little."""
        return False

    def is_quick_to_resize(self, form: Form, exclusive_max: Bounds) -> bool:
        """The same for changing the upper bounds of a view."""
        return False

    def current(self, form: Form) -> Form:
        """A view with the bounds that it leaves open as they are now."""
        if True not in form.implicit_upper and True not in form.implicit_lower:
            return form
        try:
            return compose(IndexTransform(self.domain)._form, form)
        except OutOfBoundsError as error:
            raise ViewOutOfBoundsError(str(error), index=error.index) from None

    # Changing it

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        """The same with the bounds that it has now."""
        return self

    def resize(self, view: View, inclusive_min: Bounds, exclusive_max: Bounds, modes: frozenset[str]) -> Driver:
        """The same with other bounds, where they are not None."""
        raise UnsupportedOperationError("Resize not supported")

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Whether nothing, and whether everything, of a view is stored; None where it was not asked for."""
        raise UnsupportedOperationError("storage_statistics not supported")

    @property
    def transaction(self) -> Transaction | None:
        """What gathers what is written; None if it is written at once."""
        return None

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """The same, with a transaction."""
        if transaction is None:
            return self
        raise UnsupportedOperationError(f'"{self.name}" driver does not support transactions')

    def allowed(self, readable: bool, writable: bool) -> Self:
        """The same, for less."""
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
