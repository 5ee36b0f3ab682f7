"""The driver ``neuroglancer_precomputed``: scales of Neuroglancer's volumes."""

from __future__ import annotations

import json
import time
from typing import Any, Final, NamedTuple

from blizzarr.errors import ArrayExistsError, ConflictError, SpecError, UnsupportedOperationError
from blizzarr.formats import Format
from blizzarr.formats.document import load
from blizzarr.hierarchy.documents import put
from blizzarr.indexing.form import Form
from blizzarr.indexing.layout import shifted
from blizzarr.json_members import Members, as_integer
from blizzarr.model import ArrayMeta
from blizzarr.neuroglancer.constraints import ScaleConstraints, check_dtype, multiscale, scale
from blizzarr.neuroglancer.create import Existing
from blizzarr.neuroglancer.format import Precomputed, read_volume
from blizzarr.neuroglancer.info import Volume, volume_of
from blizzarr.neuroglancer.scale_array import resolved
from blizzarr.neuroglancer.volume_constraints import VolumeConstraints
from blizzarr.problems import Problems
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.drivers import StoredDriver
from blizzarr.spec.metadata.interface import MetadataConstraints
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.through_view import layout_of_view
from blizzarr.stores import Store, StoreWrapper
from blizzarr.tensorstore.driver import Request
from blizzarr.tensorstore.opening import open_stored
from blizzarr.tensorstore.store import TensorStore, driver_of, store_of
from blizzarr.tensorstore.stored_array_driver import StoredArrayDriver
from blizzarr.tensorstore.stored_place import KnownMetadata, StoredPlace, do_later
from blizzarr.transactions import StagedStore
from blizzarr.views import IndexDomain, form_of, transform_of

_ATTEMPTS: Final = 100


class _Made(NamedTuple):
    before: bytes | None
    raw: bytes
    meta: ArrayMeta


class VolumePlace(StoredPlace):
    """A place whose document has several arrays: the scales of the volume."""

    @property
    def volume_constraints(self) -> VolumeConstraints:
        """The constraints on the volume and the scale."""
        constraints = self.node.options["metadata"]
        assert isinstance(constraints, VolumeConstraints), "those of this driver"
        return constraints

    @property
    def selection(self) -> tuple[str, ...]:
        return (self.volume_constraints.selection(self.node.schema),)

    def made(self, mode: OpenMode, known: KnownMetadata) -> tuple[ArrayMeta, bool]:
        """Store the document with a new scale; `delete_existing` removes everything there first."""
        try:
            meta = self._added(mode) if not isinstance(self.store, StagedStore) else self._added_later(mode, self.store)
        except ArrayExistsError:
            if mode.open:
                # Raise what the scale that was to be opened is not: there is a similar one.
                self.found()
            raise
        known.keep(meta, time.time())
        return meta, False

    def _added_later(self, mode: OpenMode, store: StagedStore) -> ArrayMeta:
        with prefixed(f"Error writing {self.key}"):
            meta = self._made(mode).meta

        def apply(target: Store) -> None:
            self._replace(store=target)._added(mode)

        do_later(store.transaction, store.base, self.path, meta, apply, anew=mode.delete_existing)
        return meta

    def described(self) -> tuple[ArrayMeta, dict[str, bytes]]:
        made = self._decoded(None, assumed=True)
        return made.meta, {self._document: made.raw}

    @property
    def _document(self) -> str:
        return self.forms[0].node_keys(self.path)[0]

    def _added(self, mode: OpenMode) -> ArrayMeta:
        for _ in range(_ATTEMPTS):
            with prefixed(f"Error writing {self.key}"):
                made = self._made(mode)
            if mode.delete_existing:
                self._remove_volume()
            before = {} if made.before is None or mode.delete_existing else {self._document: made.before}
            if put(self.store, before, {self._document: made.raw}):
                return made.meta
        raise ConflictError(f"somebody else changed its metadata {_ATTEMPTS} times in a row", array=f"/{self.path}")

    def _made(self, mode: OpenMode) -> _Made:
        stored = self.store.get(self._document)
        return self._decoded(None if stored is None or mode.delete_existing else bytes(stored))

    def _decoded(self, before: bytes | None, assumed: bool = False) -> _Made:
        existing = None
        if before is not None:
            stored, volume = read_volume(before, self._document)
            existing = Existing(volume, stored)
        document, number = self.volume_constraints.document(existing, self.node.schema, assumed)
        raw = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
        form = Precomputed(lambda volume: (number, volume.scales[number].chunk_sizes[0]))
        meta = form.decode(self.path, {self._document: raw})
        assert isinstance(meta, ArrayMeta), "as was just made"
        return _Made(before, raw, meta)

    def _remove_volume(self) -> None:
        """Remove the document, after the chunks of all its scales, as far as it can be read."""
        raw = self.store.get(self._document)
        if raw is None:
            return
        for key in _scales(bytes(raw)):
            prefix = resolved(self.path, key)
            if prefix not in ("", self.path) and ".." not in prefix.split("/"):
                StoreWrapper(self.store).delete_prefix(prefix)
        self.store.delete(self._document)


def _scales(raw: bytes) -> list[str]:
    document: Any = load(raw, Problems(), marked=True) or {}
    volume: Volume | None = volume_of(document, Problems())
    return [] if volume is None else [scale.key for scale in volume.scales]


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


_LARGEST: Final = (1 << 64) - 1


class PrecomputedDriver(StoredDriver):
    """Scales of volumes: members of the spec select a scale, and constrain it."""

    forms = ()

    def formats_of(self, node: SpecNode) -> tuple[Format, ...]:
        """Return the format of the scale that the constraints select."""
        constraints: VolumeConstraints = node.options.get("metadata") or VolumeConstraints()
        return (Precomputed(lambda volume: constraints.choose(volume, node.schema)),)

    def open(self, node: SpecNode, request: Request) -> TensorStore:
        """Return a scale, whose indices begin at the offset of the volume."""
        driver = driver_of(open_stored(node, request, VolumeDriver))
        assert isinstance(driver, VolumeDriver), "as asked for"
        return store_of(driver, driver.outside)

    def take_constraints(self, members: Members, node: SpecNode) -> VolumeConstraints:
        """Take the number of a scale, and the constraints on it and on all scales."""
        dtype = node.schema.dtype
        number = members.take("scale_index", as_integer(0, _LARGEST, "64-bit unsigned integer"), None)
        of_all = members.take("multiscale_metadata", lambda value: multiscale(value, dtype), None)
        if of_all is None:
            of_all = multiscale({}, dtype)
        if of_all.dtype is not None:
            check_dtype(of_all.dtype)
        of_one = members.take("scale_metadata", lambda value: scale(value, of_all), ScaleConstraints())
        return VolumeConstraints(number, of_all, of_one)

    def constraints_json(self, constraints: MetadataConstraints, include_defaults: bool) -> dict[str, Any]:
        return constraints.to_json(include_defaults)

    def minimal(self, constraints: MetadataConstraints) -> MetadataConstraints:
        """Return the constraints that select the scale."""
        assert isinstance(constraints, VolumeConstraints), "those of this driver"
        return VolumeConstraints(constraints.number)

    def url(self, node: SpecNode) -> str:
        """Return the URL of the key-value store, followed by the scheme; a URL can name the first scale only."""
        constraints = node.options["metadata"]
        assert isinstance(constraints, VolumeConstraints), "those of this driver"
        if constraints.number:
            raise SpecError(f"{self.scheme} URL syntax not supported with non-zero scale_index")
        return super().url(node)


DRIVER: Final = PrecomputedDriver(
    "neuroglancer_precomputed", ("precomputed",), VolumeConstraints, "neuroglancer-precomputed"
)
