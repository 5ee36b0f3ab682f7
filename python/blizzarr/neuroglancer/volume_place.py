"""The place of a volume in a store, where scales are found and created: in an existing document or a new one."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from blizzarr.errors import ConflictError
from blizzarr.formats.document import load
from blizzarr.hierarchy.documents import put
from blizzarr.model import ArrayMeta
from blizzarr.neuroglancer.create import Existing
from blizzarr.neuroglancer.format import Precomputed, read_volume
from blizzarr.neuroglancer.info import Volume, volume_of
from blizzarr.neuroglancer.scale_array import resolved
from blizzarr.neuroglancer.volume_constraints import VolumeConstraints
from blizzarr.problems import Problems
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.open_mode import OpenMode
from blizzarr.stores import Store
from blizzarr.tensorstore.staging import do_later
from blizzarr.tensorstore.stored_place import StoredPlace
from blizzarr.transactions import StagedStore

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
        constraints = self.constraints
        assert isinstance(constraints, VolumeConstraints), "those of this driver"
        return constraints

    @property
    def selection(self) -> tuple[str, ...]:
        return (self.volume_constraints.selection(self.node.schema),)

    @property
    def shares_document(self) -> bool:
        """True: the document has all scales."""
        return True

    def add(self, mode: OpenMode) -> ArrayMeta:
        """Store the document with a new scale; `delete_existing` removes everything there first."""
        store = self.store
        if not isinstance(store, StagedStore):
            return self._create(mode)
        with prefixed(f"Error writing {self.key}"):
            made = self._made(mode)

        def apply(target: Store) -> None:
            self._replace(store=target)._create(mode)

        do_later(store.transaction, store.base, self.path, made.meta, apply, anew=mode.delete_existing)
        return made.meta

    def described(self) -> ArrayMeta:
        return self._decoded(None, assumed=True).meta

    @property
    def _document(self) -> str:
        return self.forms[0].node_keys(self.path)[0]

    def _create(self, mode: OpenMode) -> ArrayMeta:
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
        for scale in _scales(bytes(raw)):
            prefix = resolved(self.path, scale)
            if prefix not in ("", self.path) and ".." not in prefix.split("/"):
                _delete_below(self.store, prefix)
        self.store.delete(self._document)


def _delete_below(store: Store, prefix: str) -> None:
    at_once = getattr(store, "delete_prefix", None)
    if at_once is not None:
        at_once(prefix)
        return
    for key in store.list(prefix):
        store.delete(key)


def _scales(raw: bytes) -> list[str]:
    document: Any = load(raw, Problems(), marked=True) or {}
    volume: Volume | None = volume_of(document, Problems())
    return [] if volume is None else [scale.key for scale in volume.scales]
