"""Scales of Neuroglancer volumes as a driver: stored arrays whose indices begin at the volume's offset."""

from __future__ import annotations

from blizzarr.errors import UnsupportedOperationError
from blizzarr.indexing.form import Form
from blizzarr.indexing.layout import shifted
from blizzarr.neuroglancer.volume_place import VolumePlace
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.through_view import layout_of_view
from blizzarr.tensorstore.stored_array_driver import StoredArrayDriver
from blizzarr.views import IndexDomain, form_of, transform_of


class VolumeDriver(StoredArrayDriver):
    """A scale, whose own indices begin at zero; those that users see begin at the offset of the volume."""

    place = VolumePlace

    @property
    def outside(self) -> Form:
        """The map from the indices of the volume to those of the array."""
        domain = form_of(super().domain)
        return domain._replace(maps=tuple((dim, -first, 1) for dim, first in enumerate(domain.lower)))

    @property
    def domain(self) -> IndexDomain:
        """The domain: from zero to the shape, with explicit bounds."""
        outside = self.outside
        return IndexDomain(shape=outside.shape, labels=outside.labels)

    @property
    def schema(self) -> Schema:
        """The schema of the scale, whose layout begins at zero."""
        schema = super().schema
        back = tuple((dim, first, 1) for dim, first in enumerate(self.outside.lower))
        layout = layout_of_view(schema.chunk_layout, form_of(self.domain)._replace(maps=back))
        return schema_of(self.dtype, self.rank, None, layout, schema.dimension_units or (), schema.codec)

    def storage_statistics(self, form: Form) -> tuple[bool, bool]:
        """Return how much of a view is stored, by listing the chunks unless they are in shards."""
        if self._array.metadata.chunk_keys.share_values:
            raise UnsupportedOperationError("storage_statistics not supported for sharded format")
        return super().storage_statistics(form)

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        """Return the place and the metadata, in the indices of the volume."""
        return super().spec_of(form, minimal).altered(transform=transform_of(shifted(form, self.outside.lower)))
