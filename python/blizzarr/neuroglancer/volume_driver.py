"""Scales of Neuroglancer volumes as a driver: stored arrays whose indices begin at the volume's offset."""

from __future__ import annotations

from functools import cached_property

from blizzarr.errors import UnsupportedOperationError
from blizzarr.indexing.form import ArrayMap, Map
from blizzarr.neuroglancer.volume_place import VolumePlace
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.through_view import layout_of_view
from blizzarr.tensorstore.driver import View
from blizzarr.tensorstore.stored_array_driver import StoredArrayDriver
from blizzarr.views import IndexDomain, IndexTransform


class VolumeDriver(StoredArrayDriver):
    """A scale, whose own indices begin at zero; those that users see begin at the offset of the volume."""

    place = VolumePlace

    @property
    def _outer(self) -> IndexDomain:
        return super().domain

    @cached_property
    def outside(self) -> IndexTransform:
        """Translate from the indices of the volume to those of the array."""
        domain = self._outer
        maps = tuple((dim, -first, 1) for dim, first in enumerate(domain.inclusive_min))
        return IndexTransform._of(domain._form._replace(maps=maps))

    @property
    def domain(self) -> IndexDomain:
        """The domain: from zero to the shape, with explicit bounds."""
        return IndexDomain(shape=self._outer.shape, labels=self._outer.labels)

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The layout of the scale, from zero."""
        form = self.outside._form
        back = tuple((dim, first, 1) for dim, first in enumerate(form.lower))
        return layout_of_view(self._schema.chunk_layout, self.domain._form._replace(maps=back))

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Return how much of a view is stored, by listing the chunks unless they are in shards."""
        if self._array.metadata.chunk_keys.share_values:
            raise UnsupportedOperationError("storage_statistics not supported for sharded format")
        return super().storage_statistics(view, not_stored, fully_stored)

    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """Return the place and the metadata, in the indices of the volume."""
        node = super().said(view, minimal)
        firsts = self.outside._form.lower
        maps = tuple(_moved(map_, first) for map_, first in zip(view._form.maps, firsts, strict=True))
        return node.altered(transform=IndexTransform._of(view._form._replace(maps=maps)))


def _moved(map_: Map, by: int) -> Map:
    """Return the map with a number added to its index."""
    if isinstance(map_, ArrayMap):
        return ArrayMap(map_.offset + by, map_.stride, map_.array, map_.dims, map_.bounds)
    if isinstance(map_, int):
        return map_ + by
    dim, offset, stride = map_
    return dim, offset + by, stride
