"""The interface between the drivers of arrays and the code that handles specs."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.json_members import Members, as_text
from blizzarr.json_values import quote
from blizzarr.spec.codec_spec import DriverCodec
from blizzarr.spec.context import Context
from blizzarr.spec.kvstore_json import kvstore_of, kvstore_url
from blizzarr.spec.open_mode import OpenMode, Recheck
from blizzarr.spec.resources import UsesResources
from blizzarr.spec.schema import Schema, is_unconstrained, merge_schema
from blizzarr.spec.spec_node import KvNode, SpecNode


@dataclass
class Change:
    """The changes to a spec that `Spec.update`, and the keywords of `open`, ask for."""

    schema: Schema = field(default_factory=Schema)
    open_mode: OpenMode = field(default_factory=OpenMode)
    kvstore: KvNode | None = None
    recheck_cached_metadata: Recheck | None = None
    recheck_cached_data: Recheck | None = None
    minimal_spec: bool = False
    unbind_context: bool = False
    strip_context: bool = False
    context: Context | None = None


class Driver(UsesResources):
    """A driver in specs: it reads and writes its members, and tells what they say about the array.

    What is asked for the array is asked in the terms of the stored array; what views do to it is not known here.
    """

    name: ClassVar[str]
    scheme: ClassVar[str] = ""
    """The scheme of URLs that mean the driver; empty if there is none."""
    codec_class: type[DriverCodec] | None = None
    """The class of the codec in a schema; None if a schema cannot have a codec."""

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        """Take the members of this driver; those of all drivers are in the node. Raise if the driver has no JSON."""
        raise SpecError(f"{quote(self.name)} has no JSON")

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        """The members of this driver as JSON, without its resources. Raise if the driver has none."""
        raise UnsupportedOperationError('Error converting object member "driver": JSON representation not supported')

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        """The node with a change; the schema is one of the stored array."""
        if change.kvstore is not None:
            raise SpecError(f'"kvstore" not supported by {quote(self.name)} driver')
        return with_schema(node, change.schema)

    def open_mode(self, node: SpecNode) -> OpenMode:
        """Return what opening may do; nothing, where there is no store."""
        return copy(node.options["mode"]) if "mode" in node.options else OpenMode()

    def fact(self, node: SpecNode, name: str) -> Any:
        """Return the domain, chunk layout, codec, fill value or dimension units, as far as the spec has them."""
        return getattr(node.schema, name)

    def base(self, node: SpecNode) -> SpecNode | None:
        """The array that this one is made from, through the same view; None if there is no such array."""
        return None

    def kvstore(self, node: SpecNode) -> KvNode | None:
        """The store, if there is one."""
        return node.kvstore

    def url(self, node: SpecNode) -> str:
        """The array as a URL."""
        raise UnsupportedOperationError("URL representation not supported")


def kvstore_members(members: Members) -> KvNode | None:
    """Take the members ``kvstore`` and, in old specs, ``path``."""
    return path_below(members, members.take("kvstore", kvstore_of, default=None))


def path_below(members: Members, kvstore: KvNode | None) -> KvNode | None:
    """Return the store with the member ``path`` of old specs joined to its own, if there is one."""

    def below(value: Any) -> KvNode:
        path = as_text(value)
        if kvstore is None:
            raise SpecError('"path" must be specified in conjunction with "kvstore"')
        return kvstore.below(path)

    return members.take("path", below, default=kvstore)


def changed_kvstore(node: SpecNode, change: Change) -> KvNode | None:
    """Return the store of a node with a change, which may add one where there is none."""
    if change.kvstore is None or node.kvstore is None:
        return change.kvstore or node.kvstore
    raise SpecError('"kvstore" is already specified')


def url_of_kvstore(node: SpecNode) -> str:
    if node.kvstore is None:
        raise SpecError("Invalid kvstore spec")
    return kvstore_url(node.kvstore)


def with_schema(node: SpecNode, more: Schema) -> SpecNode:
    if is_unconstrained(more):
        return node
    schema = node.schema.copy()
    merge_schema(schema, more)
    return node.altered(schema=schema)
