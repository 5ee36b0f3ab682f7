"""The properties of a TensorStore, without its elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy.typing as npt

from blizzarr.indexing.form import Form
from blizzarr.keywords import name_keywords, unknown_keywords
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.context import strip
from blizzarr.spec.dtype import DType
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.open_mode import MODES
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec import Spec, spec_of
from blizzarr.spec.through_view import fill_of_view, layout_of_view, units_of_view
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.driver import Driver
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain, Indexed, domain_of


class StoreFacts(Indexed):
    """The properties of a view of a driver, which are those of `TensorStore`, its only subclass."""

    __slots__ = ()

    _driver: Driver
    _form: Form

    @property
    def domain(self) -> IndexDomain:
        """The domain of the view: its indices."""
        return domain_of(self._form.domain)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._form.lower)

    ndim = rank

    @property
    def dtype(self) -> DType:
        """The data type of the elements."""
        return self._driver.dtype

    @property
    def readable(self) -> bool:
        """True if the view can be read."""
        return self._driver.readable

    @property
    def writable(self) -> bool:
        """True if the view can be written."""
        return self._driver.writable

    @property
    def mode(self) -> str:
        """The access: ``"r"``, ``"w"`` or ``"rw"``."""
        return "r" * self._driver.readable + "w" * self._driver.writable

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The layout in which the elements are stored, and the pieces in which they are best read and written.

        Examples
        --------
        >>> import blizzarr.tensorstore as ts
        >>> ts.array([[1, 2], [3, 4]]).T.chunk_layout
        ChunkLayout({'grid_origin': [0, 0], 'inner_order': [1, 0]})
        """
        return layout_of_view(self._driver.schema.chunk_layout, self._form)

    @property
    def codec(self) -> CodecSpec | None:
        """The codec that turns elements into bytes; None if there is none."""
        return self._driver.schema.codec

    @property
    def fill_value(self) -> npt.NDArray[Any] | None:
        """The value of elements that were never written; None if there is no such value."""
        fill = self._driver.schema.fill_value
        return None if fill is None else fill_of_view(fill, self._form, self._driver.domain)

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The unit of each dimension, None where it is not known."""
        return units_of_view(self._driver.dimension_units, self._form)

    @property
    def schema(self) -> Schema:
        """The schema: data type, domain, layout, codec, fill value and units together."""
        parts = self.chunk_layout, self.dimension_units, self.codec, self.fill_value
        return schema_of(self.dtype, self.rank, self.domain, *parts)

    @property
    def kvstore(self) -> KvStore | None:
        """The key-value store that the elements are in; None if there is none."""
        return self._driver.kvstore

    @property
    def url(self) -> str:
        """The location as a URL."""
        return self.spec(minimal_spec=True).url

    @property
    def transaction(self) -> Transaction | None:
        """The transaction that gathers writes; None if they are stored directly."""
        return self._driver.transaction

    def spec(
        self,
        *,
        minimal_spec: bool | None = None,
        retain_context: bool | None = None,
        unbind_context: bool | None = None,
        **changes: Any,
    ) -> Spec:
        """Return the spec that opens this view again, or creates it afresh.

        Parameters
        ----------
        minimal_spec
            Leave out the metadata, which is stored with the array anyway.
        retain_context
            Keep the very resources that the view uses; for use in this process.
        unbind_context
            Spell out which resources the view uses.
        **changes
            Open modes and bounds of caches, as for `Spec.update`.

        Examples
        --------
        >>> import blizzarr.tensorstore as ts
        >>> ts.array([1, 2, 3])[1:].spec()
        Spec({
          'array': [2, 3],
          'driver': 'array',
          'dtype': 'int64',
          'transform': {
            'input_exclusive_max': [3],
            'input_inclusive_min': [1],
            'output': [{'input_dimension': 0, 'offset': -1}],
          },
        })
        """
        node = self._driver.spec_of(self._form, bool(minimal_spec))
        if not retain_context and not unbind_context:
            node = strip(node)
        spec = spec_of(node)
        if unbind_context:
            spec.update(unbind_context=True)
        if changes:
            if unknown := changes.keys() - _CHANGES:
                raise unknown_keywords(StoreFacts.spec, unknown)
            spec.update(**changes)
        return spec


def driver_of(store: StoreFacts) -> Driver:
    return store._driver


_CHANGES: Final = ("open_mode", *MODES, "recheck_cached_metadata", "recheck_cached_data", "recheck_cached")
"""The changes that `TensorStore.spec` takes."""

name_keywords(StoreFacts.spec, _CHANGES)


@dataclass(kw_only=True)
class StorageStatistics:
    """The answers to whether none and whether all of a view is stored; None for a question that was not asked.

    Examples
    --------
    >>> StorageStatistics(not_stored=True)
    TensorStore.StorageStatistics(not_stored=True, fully_stored=None)
    """

    not_stored: bool | None = None
    fully_stored: bool | None = None


# Pickle finds it by these names, and its text has the latter.
StorageStatistics.__module__ = "blizzarr.tensorstore"
StorageStatistics.__qualname__ = "TensorStore.StorageStatistics"
