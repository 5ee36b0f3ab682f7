"""Contexts: the resources, such as caches and memory, that several stores share.

A *resource spec* describes a resource in JSON, or refers to another by its key, ``kind`` or ``kind#tag``. A context is
asked for a resource by its key; it looks in its own specs, then in those above it, and makes the resource of the first
spec with that key once. The topmost context makes one that has no spec with its defaults.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from blizzarr.errors import SpecError
from blizzarr.fork import ForkedLock
from blizzarr.json_values import dump, plain, quote
from blizzarr.keywords import show_as, unknown_keywords
from blizzarr.spec.members import as_object
from blizzarr.spec.pretty import pretty
from blizzarr.spec.resources import RESOURCES, ResourceKind

_MAKING: Final = ForkedLock()
"""Resource while a context makes a resource, so that each is made once."""


class ResourceSpec:
    """The spec of a resource: its members, or a reference to another resource.

    `referent` is the key of the other one; an empty one means what the context above has. `immediate` marks one that
    was bound before it was written down, so that it is bound again when it is read.
    """

    __slots__ = ("config", "immediate", "is_default", "key", "kind", "referent")

    def __init__(
        self,
        kind: ResourceKind,
        *,
        config: Any = None,
        referent: str | None = None,
        key: str = "",
        is_default: bool = False,
        immediate: bool = False,
    ) -> None:
        self.kind = kind
        self.config = config
        self.referent = referent
        self.key = key
        self.is_default = is_default
        self.immediate = immediate

    def to_json(self, include_defaults: bool = False) -> Any:
        """Return the JSON of the members, or the key of the other resource."""
        if self.referent is not None:
            return self.referent or None
        return self.kind.show(self.config, include_defaults)

    @property
    def is_usual(self) -> bool:
        """True if it is a reference to the default resource of its kind."""
        return self.referent == self.kind.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled_spec, (self.kind.name, self.config, self.referent, self.key, self.is_default, self.immediate)


def _unpickled_spec(
    kind: str, config: Any, referent: str | None, key: str, is_default: bool, immediate: bool
) -> ResourceSpec:
    return ResourceSpec(
        RESOURCES[kind], config=config, referent=referent, key=key, is_default=is_default, immediate=immediate
    )


def kind_of(key: str) -> ResourceKind:
    """Return the kind of a key, ``kind`` or ``kind#tag``."""
    name = key.partition("#")[0]
    if name not in RESOURCES:
        raise SpecError(f"Invalid context resource identifier: {quote(name)}")
    return RESOURCES[name]


def default_resource(name: str) -> ResourceSpec:
    """Return the reference to the default resource of a kind."""
    return DEFAULT_RESOURCES[name]


DEFAULT_RESOURCES: Final = {name: ResourceSpec(kind, referent=name) for name, kind in RESOURCES.items()}
"""The references to the default resources of all kinds."""
_DEFAULTS: Final = {
    name: ResourceSpec(kind, config=kind.default, key=name, is_default=True) for name, kind in RESOURCES.items()
}


def resource_spec(kind: ResourceKind, value: Any, key: str = "") -> ResourceSpec:
    """Parse the JSON of a resource: null for that of the parent context, a key, or members."""
    if value is None:
        return ResourceSpec(kind, referent="", key=key)
    if isinstance(value, str):
        if value.partition("#")[0] == kind.name:
            return ResourceSpec(kind, referent=value, key=key)
        try:
            return ResourceSpec(kind, config=kind.parse(value), key=key)
        except SpecError as error:
            raise SpecError(
                f"Invalid spec or reference to {quote(kind.name)} resource: {quote(value)} ({error.reason})"
            ) from error
    return ResourceSpec(kind, config=kind.parse(value), key=key)


class ContextSpec:
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
            if key.partition("#")[0] not in RESOURCES:
                raise SpecError(f"Invalid context resource identifier: {quote(key)}")
            self._resources[key] = resource_spec(kind_of(key), value, key)

    @classmethod
    def _of(cls, resources: dict[str, ResourceSpec]) -> ContextSpec:
        """The spec of these resources."""
        spec = cls({})
        spec._resources.update(sorted(resources.items()))
        return spec

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The resources as JSON.

        Parameters
        ----------
        include_defaults
            Include the members that have default values.
        """
        return {key: spec.to_json(include_defaults) for key, spec in sorted(self._resources.items())}

    def __repr__(self) -> str:
        return pretty(self.to_json(), "Context.Spec(", ")")

    def __reduce__(self) -> tuple[Any, ...]:
        return ContextSpec._of, (self._resources,)


ContextSpec.__qualname__ = "Context.Spec"


def specs_in(context: ContextSpec | None) -> dict[str, ResourceSpec]:
    """Return the specs of resources that the spec of a context has, by key."""
    return {} if context is None else context._resources


def context_spec(resources: dict[str, ResourceSpec]) -> ContextSpec:
    """Return the spec of a context with these resources."""
    return ContextSpec._of(resources)


class ContextResource:
    """A resource of a context, made at first use: the same object wherever it is shared."""

    # Names without an underscore are TensorStore's; `value_of` and `shared_by` have the others.
    __slots__ = ("__weakref__", "_creator", "_shared", "_spec", "_value")

    def __init__(self, spec: ResourceSpec, creator: Context | None) -> None:
        self._spec = spec
        make = spec.kind.make
        self._value = spec.config if make is None else make(spec.config)
        self._shared: dict[Any, Any] = {}
        self._creator = None if creator is None else weakref.ref(creator)

    def to_json(self, include_defaults: bool = False) -> Any:
        """Return the JSON that the resource was made from.

        Parameters
        ----------
        include_defaults
            Include the members that have default values.
        """
        return self._spec.to_json(include_defaults)

    def __repr__(self) -> str:
        return pretty(self.to_json(), "Context.Resource(", ")")

    def __reduce__(self) -> tuple[Any, ...]:
        # Shared memory is not copied: the other process, or the copy, makes its own.
        creator = None if self._creator is None else self._creator()
        if creator is not None:
            return Context.__getitem__, (creator, self._spec.key)
        return ContextResource, (self._spec, None)


ContextResource.__qualname__ = "Context.Resource"

_VALUES: Final[dict[str, ContextResource]] = {
    name: ContextResource(spec, None) for name, spec in _DEFAULTS.items() if spec.kind.config_only
}
"""The default resources that are values, and no place that several could share."""


def spec_of(resource: ContextResource | ResourceSpec) -> ResourceSpec:
    """Return the spec that a resource was made from, or that it is."""
    return resource if isinstance(resource, ResourceSpec) else resource._spec


def value_of(resources: Mapping[str, ContextResource | ResourceSpec], name: str) -> Any:
    """Return the working object of a bound resource of a node: a store, a pool, a number."""
    resource = resources[name]
    if not isinstance(resource, ContextResource):
        raise SpecError(f"Unbound context resource {quote(name)}")
    return resource._value


def shared_by(resource: ContextResource | ResourceSpec) -> tuple[Any, dict[Any, Any]]:
    """Return the working object of a bound resource, and what its users share, which is nothing at first."""
    assert isinstance(resource, ContextResource), "the node is bound"
    return resource._value, resource._shared


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

    def __init__(self, *args: Any, **named: Any) -> None:
        spec, parent = _arguments(args, named) if args or named else (None, None)
        self._spec = spec
        self._parent = parent
        self._resources: dict[str, ContextResource] = {} if args or named else _VALUES.copy()
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
        return self._make(ResourceSpec(kind_of(key), referent=key))

    def _make(self, spec: ResourceSpec) -> ContextResource:
        """Return the resource that `spec` describes or refers to; one with a key is made only once."""
        if spec.referent and (found := self._resources.get(spec.referent)) is not None:
            return found
        with _MAKING.lock:
            if self._spec is None and self._parent is None and spec.referent == spec.kind.name:
                # No spec has anything of this kind.
                made = self._resources[spec.referent] = ContextResource(_DEFAULTS[spec.referent], self)
                return made
            return self._follow(spec) if spec.referent is not None else self._made(spec)

    def _follow(self, spec: ResourceSpec) -> ContextResource:
        """Return the resource that a reference means, in this context or its parents."""
        at: Context = self
        referent = spec.referent
        if not referent:
            referent = spec.kind.name
            if self._parent is None:
                return ContextResource(_with_defaults(spec.kind, spec.key), self)
            at = self._parent
        while True:
            if referent in at._resources:
                return at._resources[referent]
            found = None if at._spec is None else at._spec._resources.get(referent)
            if found is not None:
                return at._made(found)
            if at._parent is None:
                if referent != spec.kind.name:
                    raise SpecError(f"Resource not defined: {quote(referent)}")
                return at._made(_with_defaults(spec.kind, referent))
            at = at._parent

    def _made(self, spec: ResourceSpec) -> ContextResource:
        """Return the resource of a spec of this very context, made at first use and kept under its key."""
        if not spec.key:
            return ContextResource(spec, None)
        if spec.referent is None:
            made = self._resources[spec.key] = ContextResource(spec, self)
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
        return _unpickled_context, (self._spec, self._parent)


def made_by(
    context: Context, resources: Mapping[str, ContextResource | ResourceSpec]
) -> dict[str, ContextResource | ResourceSpec]:
    """Return the resources of a node that the context has for those that are specs."""
    made: dict[str, ContextResource | ResourceSpec] = {}
    for name, resource in resources.items():
        if isinstance(resource, ContextResource):
            made[name] = resource
        else:
            made[name] = context._resources.get(resource.referent or "") or context._make(resource)
    return made


def _with_defaults(kind: ResourceKind, key: str) -> ResourceSpec:
    if key != kind.name:
        return ResourceSpec(kind, config=kind.default, key=key, is_default=True)
    return _DEFAULTS[key]


def _arguments(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[ContextSpec | None, Context | None]:
    """Return the spec and parent from the arguments of a call; the spec may be named `spec` or `json`."""
    names = ("spec" if "spec" in named else "json", "parent")
    given = dict(zip(names, args, strict=False))
    extra = [name for name in named if name not in names or name in given]
    if unknown := named.keys() - {"spec", "json", "parent"}:
        raise unknown_keywords(Context.__init__, unknown)
    if extra or len(args) > len(names) or names[0] not in {**given, **named}:
        raise TypeError("Context() takes a spec or JSON and a parent")
    given.update(named)
    spec, parent = given[names[0]], given.get("parent")
    if parent is not None and not isinstance(parent, Context):
        raise TypeError(f"expected a Context as parent, found {type(parent).__name__}")
    return spec if isinstance(spec, ContextSpec) else ContextSpec(spec), parent


def _called(self: Context, spec: ContextSpec | Any = None, parent: Context | None = None, *, json: Any = None) -> None:
    """The signature of `Context` that `help` shows: a spec, or JSON in its place."""


show_as(Context.__init__, _called)


def _unpickled_context(spec: ContextSpec | None, parent: Context | None) -> Context:
    return Context() if spec is None else Context(spec, parent)
