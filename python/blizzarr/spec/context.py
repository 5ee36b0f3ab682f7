"""Contexts: the resources, such as caches and memory, that several stores share.

A *resource spec* describes a resource in JSON, or refers to another by its key, ``kind`` or ``kind#tag``. A context is
asked for a resource by its key; it looks in its own specs, then in those above it, and makes the resource of the first
spec with that key once. The topmost context makes one that has no spec with its defaults.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Final, Never, TypeAlias, TypeVar

from blizzarr.errors import SpecError
from blizzarr.fork import ForkedLock
from blizzarr.json_members import as_object
from blizzarr.json_values import MISSING, dump, plain, quote
from blizzarr.keywords import name_keywords, unknown_keywords
from blizzarr.spec.pretty import Pretty
from blizzarr.spec.resources import DEFAULT_RESOURCES, DEFAULT_SPECS, ResourceSpec, kind_of, resource_spec

if TYPE_CHECKING:
    from blizzarr.spec.spec_node import Node

N = TypeVar("N", bound="Node")

_MAKING: Final = ForkedLock()
"""Taken while a context makes a resource, so that each is made once."""


class ContextSpec(Pretty):
    """The spec of a context: specs of resources by key.

    Examples
    --------
    >>> ContextSpec({"cache_pool": {"total_bytes_limit": 1000}, "cache_pool#b": "cache_pool"})
    Context.Spec({'cache_pool': {'total_bytes_limit': 1000}, 'cache_pool#b': 'cache_pool'})
    """

    __slots__ = ("_resources",)

    def __init__(self, json: Any) -> None:
        self._resources: dict[str, ResourceSpec] = {}
        for key, value in sorted(as_object(plain(json)).items()):
            self._resources[key] = resource_spec(kind_of(key), value, key)

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The resources as JSON; with `include_defaults`, also the members that have default values."""
        return {key: spec.to_json(include_defaults) for key, spec in sorted(self._resources.items())}

    def __reduce__(self) -> tuple[Any, ...]:
        return context_spec_of, (self._resources,)


ContextSpec.__qualname__ = "Context.Spec"


def context_spec_of(resources: dict[str, ResourceSpec]) -> ContextSpec:
    spec = ContextSpec({})
    spec._resources.update(sorted(resources.items()))
    return spec


class BoundResource:
    """A resource that a context has made: the same object wherever it is shared."""

    __slots__ = ("__weakref__", "_face", "creator", "shared", "spec", "value")

    def __init__(self, spec: ResourceSpec, creator: Context | None) -> None:
        self.spec = spec
        self.creator = None if creator is None else weakref.ref(creator)
        make = spec.kind.make
        self.value = spec.config if make is None else make(spec.config)
        """The working object: a store, a pool, a number."""
        self.shared: dict[Any, Any] = {}
        """What the users of the resource share, which is nothing at first."""
        self._face: ContextResource | None = None

    @property
    def face(self) -> ContextResource:
        """The object that users get, always the same one."""
        if self._face is None:
            self._face = ContextResource(self)
        return self._face

    def __reduce__(self) -> tuple[Any, ...]:
        # Shared memory is not copied: the other process, or the copy, makes its own.
        creator = None if self.creator is None else self.creator()
        if creator is not None:
            return resource_of, (creator, self.spec.key)
        return BoundResource, (self.spec, None)


Resource: TypeAlias = BoundResource | ResourceSpec
"""A resource of a node, either bound or as a spec."""


class ContextResource(Pretty):
    """A resource of a context, made at first use."""

    __slots__ = ("__weakref__", "_resource")

    def __init__(self, resource: BoundResource) -> None:
        self._resource = resource

    def to_json(self, include_defaults: bool = False) -> Any:
        """The JSON that the resource was made from; with `include_defaults`, also the members with default values."""
        return self._resource.spec.to_json(include_defaults)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._resource, "face")


ContextResource.__qualname__ = "Context.Resource"


_VALUES: Final[dict[str, BoundResource]] = {
    name: BoundResource(spec, None) for name, spec in DEFAULT_SPECS.items() if spec.kind.config_only
}
"""The default resources that are values, which no two users can share."""


class Context:
    """Resources that stores share, such as caches and memory.

    Stores opened with the same context share its resources. Every call makes a new context.

    Parameters
    ----------
    spec
        The resources by their keys, ``kind`` or ``kind#tag``, as `Context.Spec` or as JSON. By default, all resources
        have their default settings.
    parent
        The context to take resources from that this one does not define.

    Examples
    --------
    >>> parent = Context({"cache_pool": {"total_bytes_limit": 1000}})
    >>> child = Context({"cache_pool#small": {"total_bytes_limit": 10}}, parent)
    >>> child["cache_pool#small"], child["cache_pool"]
    (Context.Resource({'total_bytes_limit': 10}), Context.Resource({'total_bytes_limit': 1000}))
    >>> child["cache_pool"] is parent["cache_pool"]
    True
    """

    __iter__: ClassVar[None] = None

    Spec = ContextSpec
    Resource = ContextResource

    def __init__(
        self, spec: Any = MISSING, parent: Context | None = None, *, json: Any = MISSING, **unknown: Never
    ) -> None:
        if unknown:
            raise unknown_keywords(Context.__init__, unknown)
        given = json if spec is MISSING else spec
        if (given is MISSING and parent is not None) or not (spec is MISSING or json is MISSING):
            raise TypeError("Context() takes a spec or JSON and a parent")
        if parent is not None and not isinstance(parent, Context):
            raise TypeError(f"expected a Context as parent, found {type(parent).__name__}")
        if given is not MISSING and not isinstance(given, ContextSpec):
            given = ContextSpec(given)
        self._spec: ContextSpec | None = None if given is MISSING else given
        self._parent = parent
        self._resources: dict[str, BoundResource] = _VALUES.copy() if given is MISSING else {}
        self._making: list[tuple[Context, str, ResourceSpec]] = [] if parent is None else parent._making

    @property
    def parent(self) -> Context | None:
        """The context that supplies the resources that this one does not define; None for the topmost."""
        return self._parent

    @property
    def spec(self) -> ContextSpec | None:
        """The spec that this context was made from; None if there was none."""
        return self._spec

    def __getitem__(self, key: str) -> ContextResource:
        """Return the resource of this key, which is made at first use.

        Parameters
        ----------
        key
            ``kind`` or ``kind#tag``.
        """
        if not isinstance(key, str):
            raise TypeError(f"expected the key of a resource, as text, found {key!r}")
        return resource_of(self, key).face

    def _make(self, spec: ResourceSpec) -> BoundResource:
        """Return the resource that `spec` describes or refers to; one with a key is made only once."""
        if spec.referent and (resource := self._resources.get(spec.referent)) is not None:
            return resource
        with _MAKING.lock:
            return self._follow(spec) if spec.referent is not None else self._made(spec)

    def _follow(self, spec: ResourceSpec) -> BoundResource:
        """Return the resource that a reference means, in this context or its parents."""
        referent = spec.referent or spec.kind.name
        at = self if spec.referent else self._parent
        if at is None:
            return BoundResource(replace(DEFAULT_SPECS[referent], key=spec.key), self)
        while True:
            if referent in at._resources:
                return at._resources[referent]
            definition = None if at._spec is None else at._spec._resources.get(referent)
            if definition is not None:
                return at._made(definition)
            if at._parent is None:
                if referent != spec.kind.name:
                    raise SpecError(f"Resource not defined: {quote(referent)}")
                return at._made(DEFAULT_SPECS[referent])
            at = at._parent

    def _made(self, spec: ResourceSpec) -> BoundResource:
        """Return the resource of a spec of this very context, made at first use and kept under its key."""
        if not spec.key:
            return BoundResource(spec, None)
        if spec.referent is None:
            made = self._resources[spec.key] = BoundResource(spec, self)
            return made
        cycle = [number for number, (at, key, _) in enumerate(self._making) if at is self and key == spec.key]
        if cycle:
            parts = (f"{quote(key)}:{dump(other.to_json(True))}" for _, key, other in self._making[cycle[0] :])
            raise SpecError(f"Context resource reference cycle: {' -> '.join(parts)}")
        self._making.append((self, spec.key, spec))
        try:
            made = self._follow(spec)
        finally:
            self._making.pop()
        self._resources[spec.key] = made
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Context, () if self._spec is None else (self._spec, self._parent)


def resource_of(context: Context, key: str) -> BoundResource:
    """Return the resource of a key, which is made at first use."""
    return context._make(ResourceSpec(kind_of(key), referent=key))


def bind(node: N, context: Context) -> N:
    """Return the node with every resource bound to the context."""
    here = context if node.context is None else Context(node.context, context)
    is_plain = here._spec is None and here._parent is None
    resources: dict[str, Resource] = {}
    for name, resource in node.resources.items():
        if isinstance(resource, ResourceSpec):
            key = resource.referent or ""
            bound = here._resources.get(key)
            if bound is None and is_plain and key == resource.kind.name:
                # No spec has anything of this kind.
                with _MAKING.lock:
                    bound = here._resources.setdefault(key, BoundResource(DEFAULT_SPECS[key], here))
            resource = bound or here._make(resource)
        resources[name] = resource
    # As by `with_resources`, which would be another call for each node.
    made = object.__new__(type(node))
    members = made.__dict__
    members.update(node.__dict__, resources=resources, context=None)
    for name in node.inner_members:
        if member := members[name]:
            members[name] = tuple([bind(one, here) for one in member]) if type(member) is tuple else bind(member, here)
    return made


name_keywords(Context.__init__)


# The way back from bound resources to specs: removed, or described so that they can be bound again. Unbinding names all
# resources that are shared: the spec then has a context of its own, in which each has one entry.


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
            for key, spec in ({} if part.context is None else part.context._resources).items():
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

    own = ({} if node.context is None else node.context._resources for node in nodes)
    return tuple(unbound(node, context_spec_of(specs | shared)) for node, specs in zip(nodes, own, strict=True))


def _parts(node: Node) -> Iterator[Node]:
    """Return the nodes, inner ones first, in the order in which resources are numbered."""
    for inner in node.inner:
        yield from _parts(inner)
    yield node
