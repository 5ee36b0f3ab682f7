"""The parsed spec of a key-value store: its driver, its path, and the store it is on top of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from blizzarr.spec.altered import altered
from blizzarr.spec.binding import Resource
from blizzarr.spec.context import ContextSpec


@dataclass(frozen=True)
class KvNode:
    """A place: a driver with its options and resources, a path in it, and the place that it is on top of, if any."""

    driver: str
    path: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    base: KvNode | None = None
    context: ContextSpec | None = None

    @property
    def inner(self) -> tuple[KvNode, ...]:
        """The place it is made from, if any."""
        return () if self.base is None else (self.base,)

    def with_resources(
        self, resources: dict[str, Resource], inner: tuple[KvNode, ...], context: ContextSpec | None
    ) -> Self:
        """Return the same place with other resources."""
        return altered(self, resources=resources, base=inner[0] if inner else None, context=context)

    def below(self, component: str) -> Self:
        """The place at a path below this one.

        Examples
        --------
        >>> [KvNode("memory", path).below("b").path for path in ("a", "a/", "")]
        ['a/b', 'a/b', 'b']
        """
        path = self.path
        if path and component and not path.endswith("/") and not component.startswith("/"):
            path += "/"
        return altered(self, path=path + component)
