"""`KvStore.Spec`: the spec of a key-value store."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

from blizzarr.spec.context import Context, bind, same, strip, unbind
from blizzarr.spec.kvstore_json import kvstore_from_json, kvstore_json, kvstore_url
from blizzarr.spec.pretty import Pretty
from blizzarr.spec.spec_node import KvNode

P = TypeVar("P", bound="KvPath | NodeSpec")


class KvPath(Pretty):
    """A path in a key-value store: what a store and its spec have in common."""

    __slots__ = ("__weakref__", "_node")
    _node: KvNode

    @abstractmethod
    def _with_node(self, node: KvNode) -> Self:
        """Return the same with another node."""

    @property
    def path(self) -> str:
        """The path in the store, with which all keys begin."""
        return self._node.path.encode("utf-8", "surrogateescape").decode("utf-8")

    @path.setter
    def path(self, value: str | bytes) -> None:
        self._node = self._node.altered(path=text_of(value))

    @property
    def url(self) -> str:
        """The location as a URL."""
        return kvstore_url(self._node)

    @property
    def base(self) -> Self | None:
        """The store that this one is made from; None if there is none."""
        return None if self._node.base is None else self._with_node(self._node.base)

    def copy(self) -> Self:
        """Return an independent copy."""
        return self._with_node(self._node)

    def __add__(self, suffix: str | bytes) -> Self:
        return self._with_node(self._node.altered(path=self._node.path + text_of(suffix)))

    def __truediv__(self, component: str | bytes) -> Self:
        return self._with_node(self._node.below(text_of(component)))

    def __copy__(self) -> Self:
        return self.copy()


class NodeSpec(Pretty):
    """A spec, of an array or of a key-value store, that was parsed into a node."""

    __slots__ = ()
    _node: Any
    _node_json: ClassVar[Callable[..., dict[str, Any]]]
    """The function that returns the JSON of a node whose resources are not bound."""

    def to_json(self, include_defaults: bool = False) -> Any:
        """The spec as JSON.

        Parameters
        ----------
        include_defaults
            Include the members that have default values.
        """
        return self._node_json(unbind(self._node), include_defaults)

    def copy(self) -> Self:
        """Return an independent copy of the spec."""
        return at_node(type(self), self._node)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return same(self._node, other._node, self._node_json)

    def _json_shown(self) -> Any:
        return self._node_json(unbind(self._node, record=True))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return at_node, (type(self), self._node)


class KvStoreSpec(NodeSpec, KvPath):
    """The spec of a key-value store: parsed JSON.

    Parameters
    ----------
    json
        A URL like ``file:///data/``, or an object with a member ``driver``.

    Examples
    --------
    >>> spec = KvStoreSpec({"driver": "file", "path": "/data"})
    >>> spec / "a", spec.url
    (KvStore.Spec({'driver': 'file', 'path': '/data/a'}), 'file:///data')
    """

    __slots__ = ()
    _node_json = staticmethod(kvstore_json)

    def __init__(self, json: Any) -> None:
        self._node = kvstore_node(json)

    def _with_node(self, node: KvNode) -> KvStoreSpec:
        return at_node(KvStoreSpec, node)

    def update(
        self, *, unbind_context: bool | None = None, strip_context: bool | None = None, context: Context | None = None
    ) -> None:
        """Change the spec in place.

        Parameters
        ----------
        unbind_context
            Put the resources that are bound into the spec.
        strip_context
            Remove all resources, bound or not.
        context
            Bind the remaining resources to this context.

        Examples
        --------
        >>> spec = KvStoreSpec("memory://a")
        >>> spec.update(context=Context())
        >>> spec.to_json()
        {'context': {'memory_key_value_store': {}}, 'driver': 'memory', 'path': 'a'}
        """
        self._node = changed_context(self._node, unbind_context, strip_context, context)


KvStoreSpec.__qualname__ = "KvStore.Spec"
# Where pickles find that name.
KvStoreSpec.__module__ = "blizzarr.spec.kvstore"


def at_node(kind: type[P], node: Any) -> P:
    """Return a store or a spec, as `kind` says, of a node."""
    made = object.__new__(kind)
    made._node = node
    return made


def kvstore_node(json: Any) -> KvNode:
    """Return the node of a spec, which may be given as JSON or as a URL."""
    return json._node if isinstance(json, KvStoreSpec) else kvstore_from_json(json)


def text_of(value: Any) -> str:
    """Convert a key or path to a text; it may be bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if not isinstance(value, str):
        raise TypeError(f"expected str or bytes, found {type(value).__name__}")
    return value


def changed_context(node: Any, unbind_it: bool | None, strip_it: bool | None, context: Any) -> Any:
    """Return a node with its resources changed: unbound or removed, and then bound to `context`."""
    if context is not None and not isinstance(context, Context):
        raise TypeError(f"expected a Context, found {type(context).__name__}")
    if strip_it:
        node = strip(node)
    elif unbind_it:
        node = unbind(node)
    return node if context is None else bind(node, context)
