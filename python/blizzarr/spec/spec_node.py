"""The parsed spec of an array: its driver, its store, its constraints, and the view of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from blizzarr.spec.altered import altered
from blizzarr.spec.binding import Resource
from blizzarr.spec.context import ContextSpec
from blizzarr.spec.kvstore_node import KvNode
from blizzarr.spec.schema import Schema
from blizzarr.views import IndexTransform


@dataclass(frozen=True)
class SpecNode:
    """A parsed spec.

    `options` are the driver's own members, taken apart; `bases` the arrays that it is made from. The schema belongs to
    this node alone, and is not changed.
    """

    driver: str
    schema: Schema = field(default_factory=Schema)
    transform: IndexTransform | None = None
    kvstore: KvNode | None = None
    bases: tuple[SpecNode, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    context: ContextSpec | None = None

    @property
    def inner(self) -> tuple[KvNode | SpecNode, ...]:
        """The store and the arrays that it is made from."""
        if self.kvstore is None:
            return self.bases
        return (self.kvstore, *self.bases) if self.bases else (self.kvstore,)

    def with_resources(
        self, resources: dict[str, Resource], inner: tuple[Any, ...], context: ContextSpec | None
    ) -> Self:
        """Return the same array with other resources."""
        if self.kvstore is None:
            return altered(self, resources=resources, bases=inner, context=context)
        return altered(self, resources=resources, kvstore=inner[0], bases=inner[1:], context=context)

    def with_options(self, **options: Any) -> Self:
        """Return the same array with other options of the driver."""
        return altered(self, options={**self.options, **options})
