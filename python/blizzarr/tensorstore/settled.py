"""A cache of metadata made from specs, and of which stored metadata meet which specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.bounded_cache import BoundedCache
from blizzarr.json_values import copied
from blizzarr.model import ArrayMeta
from blizzarr.spec.document_constraints import DocumentConstraints
from blizzarr.spec.drivers import DRIVERS, StoredDriver
from blizzarr.spec.metadata import METADATA, MetadataConstraints
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode

__all__ = ["check", "created", "minimal_of", "nothing", "schema_of"]

_MOST: Final = 256
_created: BoundedCache[tuple[Any, ...], tuple[MetadataConstraints, ArrayMeta]] = BoundedCache(_MOST)
_checked: BoundedCache[tuple[Any, ...], tuple[MetadataConstraints, Mapping[str, Any]]] = BoundedCache(_MOST)
_schemas: BoundedCache[tuple[Any, ...], tuple[Mapping[str, Any], Schema]] = BoundedCache(_MOST)
"""Each entry also holds the object whose `id` is in its key, so that no other object can get that `id`."""


def created(constraints: MetadataConstraints, schema: Schema, options: Mapping[str, Any]) -> ArrayMeta:
    """Return the metadata of a new array that meets the constraints."""
    key = _key(constraints, schema, options)
    if key is None or isinstance(constraints, DocumentConstraints):
        # Those are made as the configuration has it at the moment.
        return constraints.create(schema, options)
    known = _created.get(key)
    if known is None:
        known = constraints, constraints.create(schema, options)
        _created.keep(key, known)
    meta = known[1]
    # A copy, as the caller may change the attributes.
    return meta.with_attributes(copied(meta.attributes))


def check(meta: ArrayMeta, constraints: MetadataConstraints, schema: Schema, options: Mapping[str, Any]) -> None:
    """Raise unless an array meets the constraints."""
    key = None if meta.source is None else _key(constraints, schema, options)
    if key is None or meta.source is None:
        constraints.check(meta, schema, options)
        return
    key = *key, id(meta.source), meta.shape
    if key not in _checked:
        constraints.check(meta, schema, options)
        _checked.keep(key, (constraints, meta.source))


def schema_of(node: SpecNode, meta: ArrayMeta) -> Schema:
    """Return the schema of an array, which must not be changed."""
    kind = METADATA[node.driver]
    if meta.source is None:
        return kind.schema_of(meta, node.options)
    key = node.driver, id(meta.source), meta.shape, *(node.options.get(name) for name in kind.options)
    found = _schemas.get(key)
    if found is None:
        # The document is kept, too, so that no other can get its `id`.
        found = meta.source, kind.schema_of(meta, node.options)
        _schemas.keep(key, found)
    return found[1]


def nothing(node: SpecNode) -> MetadataConstraints:
    """Return the constraints of a spec that says nothing about metadata."""
    driver = DRIVERS[node.driver]
    assert isinstance(driver, StoredDriver), "others store nothing"
    return driver.nothing


def minimal_of(node: SpecNode, constraints: MetadataConstraints) -> MetadataConstraints:
    """Return the constraints that a minimal spec keeps, where metadata that meet `constraints` are stored."""
    driver = DRIVERS[node.driver]
    assert isinstance(driver, StoredDriver), "others store nothing"
    return driver.minimal(constraints)


def _key(constraints: MetadataConstraints, schema: Schema, options: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the key for what depends on all of these; None if there is no such key."""
    said = schema._key()
    if said is None:
        return None
    return id(constraints), *(options.get(name) for name in constraints.options), *said
