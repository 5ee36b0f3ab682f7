"""The parsed specs of key-value stores and of arrays, whose resources are bound to a context or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from blizzarr.spec.context import ContextSpec, Resource
from blizzarr.spec.schema import Schema
from blizzarr.views import IndexDomain, IndexTransform


class Node:
    """A part of a spec with a driver of its own: its resources, the nodes within it, and the context of all of them."""

    resources: dict[str, Resource]
    context: ContextSpec | None
    inner_members: ClassVar[tuple[str, ...]]
    """The members that are nodes, or tuples of nodes."""

    @property
    def inner(self) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for name in self.inner_members:
            member = getattr(self, name)
            nodes += member if type(member) is tuple else () if member is None else (member,)
        return tuple(nodes)

    def altered(self, **members: Any) -> Self:
        """Return a copy with other members, as `dataclasses.replace` does, but faster."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **members)
        return made

    def with_resources(
        self, resources: dict[str, Resource], of_inner: Callable[[Any], Any], context: ContextSpec | None = None
    ) -> Self:
        """Return the node with other resources, another context, and what `of_inner` makes of the nodes within it."""
        made = self.altered(resources=resources, context=context)
        for name in self.inner_members:
            if member := getattr(made, name):
                made.__dict__[name] = tuple(map(of_inner, member)) if type(member) is tuple else of_inner(member)
        return made


@dataclass(frozen=True)
class KvNode(Node):
    """A key-value store: a path in the store of a driver, and the store that this one is on top of, if any."""

    inner_members: ClassVar[tuple[str, ...]] = ("base", "manifest")

    driver: str
    path: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    base: KvNode | None = None
    context: ContextSpec | None = None
    manifest: KvNode | None = None
    """Where a database has its manifests, if not in `base`."""

    def directory(self) -> Self:
        """Return the same store with a path that ends with a slash, unless it is empty, so that keys are below it."""
        return self if not self.path or self.path.endswith("/") else self.altered(path=f"{self.path}/")

    def below(self, component: str) -> Self:
        """Return the same store with a path below this one.

        >>> [KvNode("memory", path).below("b").path for path in ("a", "a/", "")]
        ['a/b', 'a/b', 'b']
        """
        path = self.path
        if path and component and not path.endswith("/") and not component.startswith("/"):
            path += "/"
        return self.altered(path=path + component)


@dataclass(frozen=True)
class SpecNode(Node):
    """An array.

    `options` are the driver's own members, taken apart; `bases` the arrays that it is made from. The schema belongs to
    this node alone, and is not changed.
    """

    inner_members: ClassVar[tuple[str, ...]] = ("kvstore", "bases")

    driver: str
    schema: Schema = field(default_factory=Schema)
    transform: IndexTransform | None = None
    kvstore: KvNode | None = None
    bases: tuple[SpecNode, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    context: ContextSpec | None = None

    @property
    def rank(self) -> int | None:
        return self.schema.rank if self.transform is None else self.transform.input_rank

    @property
    def domain(self) -> IndexDomain | None:
        return None if self.transform is None else self.transform.domain
