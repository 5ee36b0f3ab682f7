"""Creating scales of Neuroglancer volumes, in an existing document or a new one."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from blizzarr.errors import ConflictError
from blizzarr.formats.document import load
from blizzarr.formats.precomputed import Precomputed
from blizzarr.formats.precomputed_array import resolved
from blizzarr.formats.precomputed_info import Volume, volume_of
from blizzarr.hierarchy.documents import put
from blizzarr.model import ArrayMeta
from blizzarr.problems import Problems
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.precomputed.create import Existing
from blizzarr.spec.precomputed.driver import VolumeConstraints
from blizzarr.stores import Store
from blizzarr.tensorstore.staging import do_later
from blizzarr.tensorstore.stored_place import StoredPlace
from blizzarr.transactions import StagedStore

__all__ = ["assumed_scale", "create_scale"]

_ATTEMPTS: Final = 100


class _Made(NamedTuple):
    before: bytes | None
    raw: bytes
    meta: ArrayMeta


def create_scale(place: StoredPlace, mode: OpenMode) -> ArrayMeta:
    """Store the document with a new scale; `delete_existing` removes everything there first."""
    store = place.store
    if not isinstance(store, StagedStore):
        return _create(place, mode)
    with prefixed(f"Error writing {place.key}"):
        made = _made(place, mode)

    def apply(target: Store) -> None:
        _create(place._replace(store=target), mode)

    do_later(store.transaction, store.base, place.path, made.meta, apply, anew=mode.delete_existing)
    return made.meta


def assumed_scale(place: StoredPlace) -> ArrayMeta:
    """Return the scale that the spec describes, without looking at the store."""
    return _decoded(place, None, assumed=True).meta


def _create(place: StoredPlace, mode: OpenMode) -> ArrayMeta:
    key = _key(place)
    for _ in range(_ATTEMPTS):
        with prefixed(f"Error writing {place.key}"):
            made = _made(place, mode)
        if mode.delete_existing:
            _remove(place)
        before = {} if made.before is None or mode.delete_existing else {key: made.before}
        if put(place.store, before, {key: made.raw}):
            return made.meta
    raise ConflictError(f"somebody else changed its metadata {_ATTEMPTS} times in a row", array=f"/{place.path}")


def _made(place: StoredPlace, mode: OpenMode) -> _Made:
    stored = place.store.get(_key(place))
    return _decoded(place, None if stored is None or mode.delete_existing else bytes(stored))


def _decoded(place: StoredPlace, before: bytes | None, assumed: bool = False) -> _Made:
    constraints = place.constraints
    assert isinstance(constraints, VolumeConstraints), "those of this driver"
    existing = None if before is None else _existing(before, place)
    document, number = constraints.document(existing, place.node.schema, assumed)
    raw = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    form = Precomputed(lambda volume: (number, volume.scales[number].chunk_sizes[0]))
    meta = form.decode(place.path, {_key(place): raw})
    assert isinstance(meta, ArrayMeta), "as was just made"
    return _Made(before, raw, meta)


def _existing(raw: bytes, place: StoredPlace) -> Existing:
    problems = Problems()
    document = load(raw, problems, marked=True)
    volume = None if document is None else volume_of(document, problems)
    problems.raise_any(key=_key(place), document=document)
    assert document is not None
    assert volume is not None
    return Existing(volume, document)


def _remove(place: StoredPlace) -> None:
    """Remove the document, after the chunks of all its scales, as far as it can be read."""
    key = _key(place)
    raw = place.store.get(key)
    if raw is None:
        return
    for scale in _scales(bytes(raw)):
        prefix = resolved(place.path, scale)
        if prefix not in ("", place.path) and ".." not in prefix.split("/"):
            _delete_below(place.store, prefix)
    place.store.delete(key)


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


def _key(place: StoredPlace) -> str:
    return place.forms[0].node_keys(place.path)[0]
