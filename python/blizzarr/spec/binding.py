"""Binding the resources that a spec names to a context, and the way back.

A node of a spec holds resources as it says them, *unbound*, or as what a context gave for them, *bound*. Unbinding
names all that are shared: the spec then has a context of its own, in which each has one entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from blizzarr.spec.context import (
    Context,
    ContextResource,
    ContextSpec,
    ResourceSpec,
    context_spec,
    default_resource,
    made_by,
    spec_of,
    specs_in,
)

Resource: TypeAlias = ContextResource | ResourceSpec
"""A resource of a node, either bound or as a spec."""


class Bindable(Protocol):
    """A node of a spec: its resources, its inner nodes, and the context that it defines for all of them."""

    @property
    def resources(self) -> dict[str, Resource]:
        """The resources by the names of their members."""
        ...

    @property
    def context(self) -> ContextSpec | None:
        """The context that the node defines for itself and its inner nodes."""
        ...

    @property
    def inner(self) -> tuple[Bindable, ...]:
        """The nodes within this one."""
        ...

    def with_resources(
        self, resources: dict[str, Resource], inner: tuple[Any, ...], context: ContextSpec | None
    ) -> Self:
        """Return the node with other resources, inner nodes and context."""
        ...


Node = TypeVar("Node", bound=Bindable)


def bind(node: Node, context: Context) -> Node:
    """Return the node with every resource bound to the context."""
    here = context if node.context is None else Context(node.context, context)
    inner = node.inner
    bound = tuple([bind(part, here) for part in inner]) if inner else ()
    return node.with_resources(made_by(here, node.resources), bound, None)


def strip(node: Node) -> Node:
    """Return the node with its resources replaced by references to the defaults of their kinds."""
    defaults: dict[str, Resource] = {
        name: default_resource(spec_of(resource).kind.name) for name, resource in node.resources.items()
    }
    return node.with_resources(defaults, tuple(map(strip, node.inner)), None)


def unbind(node: Node, record: bool = False) -> Node:
    """Return the node with a spec for every bound resource; shared ones are in its context.

    With `record` it stays visible which were bound.
    """
    if not _is_bound(node):
        return node
    (unbound,) = _unbound((node,), record)
    return unbound


def same(one: Node, other: Node, to_json: Callable[[Node], Any]) -> bool:
    """Return whether both have the same JSON; bound resources are the same only if they are identical."""
    one, other = _unbound((one, other), True)
    return bool(to_json(one) == to_json(other))


def resource_json(resource: Resource, include_defaults: bool) -> Any:
    """Return the JSON of a resource that is not bound."""
    json = resource.to_json(include_defaults)
    return [json] if isinstance(resource, ResourceSpec) and resource.immediate else json


def _is_bound(node: Bindable) -> bool:
    return any(isinstance(resource, ContextResource) for resource in node.resources.values()) or any(
        map(_is_bound, node.inner)
    )


@dataclass
class _Entry:
    """A bound resource, and how its spec is written."""

    resource: ContextResource
    shared: bool
    key: str = ""


@dataclass
class _Names:
    """The bound resources of some nodes in the order in which they were met, and the keys that are taken."""

    entries: dict[int, _Entry] = field(default_factory=dict)
    taken: Counter[str] = field(default_factory=Counter)

    def meet(self, resource: Resource) -> None:
        """Count the uses of a resource."""
        if isinstance(resource, ResourceSpec):
            if resource.referent:
                self.taken[resource.referent] += 1
        elif id(resource) in self.entries:
            self.entries[id(resource)].shared = True
        else:
            shared = spec_of(resource).is_default or bool(spec_of(resource).key)
            self.entries[id(resource)] = _Entry(resource, shared)

    def give_keys(self) -> dict[str, ResourceSpec]:
        """Return the specs of the shared resources by key: their own key if no other resource has it."""
        shared = [
            entry for entry in self.entries.values() if entry.shared and not spec_of(entry.resource).kind.config_only
        ]
        keys = (spec_of(entry.resource).key for entry in self.entries.values())
        self.taken.update(key for key in keys if key)
        specs = {}
        for entry in shared:
            spec = spec_of(entry.resource)
            key = spec.key
            if not key or self.taken[key] != 1:
                number = 0
                while self.taken[f"{spec.kind.name}#{number}"]:
                    number += 1
                key = f"{spec.kind.name}#{number}"
                self.taken[key] += 1
            entry.key = key
            specs[key] = ResourceSpec(spec.kind, config=spec.config, key=key)
        return specs

    def spec_of(self, resource: Resource, record: bool) -> ResourceSpec:
        """Return the resource as a spec."""
        if isinstance(resource, ResourceSpec):
            return resource
        entry = self.entries[id(resource)]
        spec = spec_of(resource)
        if entry.key:
            return ResourceSpec(spec.kind, referent=entry.key, immediate=record)
        return ResourceSpec(spec.kind, config=spec.config, immediate=record)


def _unbound(nodes: tuple[Node, ...], record: bool) -> tuple[Node, ...]:
    names = _Names()
    for node in nodes:
        for part in _parts(node):
            for key, spec in specs_in(part.context).items():
                names.taken[key] += 1
                names.meet(spec)
            for resource in part.resources.values():
                names.meet(resource)
    shared = names.give_keys()

    def unbound(node: Any, context: ContextSpec | None) -> Any:
        specs = {name: names.spec_of(resource, record) for name, resource in node.resources.items()}
        return node.with_resources(specs, tuple(unbound(inner, inner.context) for inner in node.inner), context)

    return tuple(unbound(node, context_spec(specs_in(node.context) | shared)) for node in nodes)


def _parts(node: Bindable) -> Iterator[Bindable]:
    """Return the nodes, inner ones first, in the order in which resources are numbered."""
    for inner in node.inner:
        yield from _parts(inner)
    yield node
