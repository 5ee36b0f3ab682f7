"""The way back from bound resources to specs: removed, or described so that they can be bound again.

Unbinding names all resources that are shared: the spec then has a context of its own, in which each has one entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from blizzarr.spec.context import BoundResource, ContextSpec, Resource, context_spec_of, specs_in
from blizzarr.spec.resources import DEFAULT_RESOURCES, ResourceSpec
from blizzarr.spec.spec_node import Node

N = TypeVar("N", bound=Node)


def strip(node: N) -> N:
    """Return the node with its resources replaced by references to the defaults of their kinds."""
    defaults: dict[str, Resource] = {
        name: DEFAULT_RESOURCES[resource.spec.kind.name] for name, resource in node.resources.items()
    }
    return node.with_resources(defaults, strip)


def unbind(node: N, record: bool = False) -> N:
    """Return the node with a spec for every bound resource; shared ones are in its context.

    With `record` it stays visible which were bound.
    """
    if not any(isinstance(resource, BoundResource) for part in _parts(node) for resource in part.resources.values()):
        return node
    (unbound,) = _unbound((node,), record)
    return unbound


def same(one: N, other: N, to_json: Callable[[N], Any]) -> bool:
    """Return whether both have the same JSON; bound resources are the same only if they are identical."""
    one, other = _unbound((one, other), True)
    return bool(to_json(one) == to_json(other))


@dataclass
class _Names:
    """The bound resources of some nodes by identity, in the order in which they were met, and the keys in use."""

    specs: dict[int, ResourceSpec] = field(default_factory=dict)
    shared: set[int] = field(default_factory=set)
    keys: dict[int, str] = field(default_factory=dict)
    taken: Counter[str] = field(default_factory=Counter)

    def meet(self, resource: Resource) -> None:
        """Count the uses of a resource."""
        spec = resource.spec
        if resource is not spec:
            if id(resource) in self.specs or spec.is_default or spec.key:
                self.shared.add(id(resource))
            self.specs[id(resource)] = spec
        elif spec.referent:
            self.taken[spec.referent] += 1

    def give_keys(self) -> dict[str, ResourceSpec]:
        """Return the specs of the shared resources by key: their own key if no other resource has it."""
        self.taken.update(spec.key for spec in self.specs.values() if spec.key)
        named = {}
        for resource, spec in self.specs.items():
            if resource not in self.shared or spec.kind.config_only:
                continue
            key = spec.key
            if not key or self.taken[key] != 1:
                names = (f"{spec.kind.name}#{number}" for number in count())
                key = next(name for name in names if not self.taken[name])
                self.taken[key] += 1
            self.keys[resource] = key
            named[key] = ResourceSpec(spec.kind, config=spec.config, key=key)
        return named

    def spec_of(self, resource: Resource, record: bool) -> ResourceSpec:
        """Return the resource as a spec."""
        spec = resource.spec
        if resource is spec:
            return spec
        if key := self.keys.get(id(resource)):
            return ResourceSpec(spec.kind, referent=key, immediate=record)
        return ResourceSpec(spec.kind, config=spec.config, immediate=record)


def _unbound(nodes: tuple[N, ...], record: bool) -> tuple[N, ...]:
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
        specs: dict[str, Resource] = {
            name: names.spec_of(resource, record) for name, resource in node.resources.items()
        }
        return node.with_resources(specs, lambda inner: unbound(inner, inner.context), context)

    return tuple(unbound(node, context_spec_of(specs_in(node.context) | shared)) for node in nodes)


def _parts(node: Node) -> Iterator[Node]:
    """Return the nodes, inner ones first, in the order in which resources are numbered."""
    for inner in node.inner:
        yield from _parts(inner)
    yield node
