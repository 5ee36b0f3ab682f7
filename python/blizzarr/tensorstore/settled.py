"""What metadata follow from a spec, and whether stored ones are as it demands, worked out once for many arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.json_values import copied
from blizzarr.kept import Kept
from blizzarr.model import ArrayMeta
from blizzarr.spec.document_constraints import DocumentConstraints
from blizzarr.spec.metadata import MetadataConstraints
from blizzarr.spec.schema import Schema

__all__ = ["check", "created"]

_MOST: Final = 256
_created: Kept[tuple[Any, ...], tuple[MetadataConstraints, ArrayMeta]] = Kept(_MOST)
_checked: Kept[tuple[Any, ...], tuple[MetadataConstraints, Mapping[str, Any]]] = Kept(_MOST)
"""Both with what is only known by its identity, so that nothing else gets that."""


def created(constraints: MetadataConstraints, schema: Schema, options: Mapping[str, Any]) -> ArrayMeta:
    """A new array that fulfils the constraints."""
    key = _key(constraints, schema, options)
    if key is None or isinstance(constraints, DocumentConstraints):
        # Those are made as the configuration has it at the moment.
        return constraints.create(schema, options)
    known = _created.get(key)
    if known is None:
        known = constraints, constraints.create(schema, options)
        _created.keep(key, known)
    meta = known[1]
    # Whoever gets it may change its attributes.
    return meta.with_attributes(copied(meta.attributes))


def check(meta: ArrayMeta, constraints: MetadataConstraints, schema: Schema, options: Mapping[str, Any]) -> None:
    """Refuse an array that does not fulfil the constraints."""
    key = None if meta.source is None else _key(constraints, schema, options)
    if key is None or meta.source is None:
        constraints.check(meta, schema, options)
        return
    key = *key, id(meta.source), meta.shape
    if key not in _checked:
        constraints.check(meta, schema, options)
        _checked.keep(key, (constraints, meta.source))


def _key(constraints: MetadataConstraints, schema: Schema, options: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """What both depend on; None if that cannot be told."""
    said = schema.key()
    if said is None:
        return None
    return id(constraints), *(options.get(name) for name in constraints.options), *said
