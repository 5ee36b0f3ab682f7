"""Specs of stored arrays whose format is detected."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from blizzarr.errors import SpecError
from blizzarr.json_values import quote
from blizzarr.spec.altered import altered
from blizzarr.spec.binding import Resource
from blizzarr.spec.context import resource_spec
from blizzarr.spec.drivers.driver import Change, Driver, with_schema
from blizzarr.spec.drivers.stored import kvstore_members
from blizzarr.spec.kvstore_json import kvstore_json, kvstore_url, take_resources
from blizzarr.spec.members import Members
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.resources import RESOURCES
from blizzarr.spec.spec_node import SpecNode


class AutoDriver(Driver):
    """The driver that detects the format of what is stored."""

    name: ClassVar = "auto"
    resources: ClassVar = tuple(RESOURCES)
    """All of them, as the driver that is found may use any."""

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        """Take the store and any resource."""
        kvstore = kvstore_members(members)
        resources: dict[str, Resource] = take_resources(Members({}), self)
        for name in sorted(members.left):
            if "#" in name:
                raise SpecError(f'Context resource identifier must not contain "#": {quote(name)}')
            if name not in RESOURCES:
                raise SpecError(f"Invalid context resource identifier: {quote(name)}")
            resources[name] = resource_spec(RESOURCES[name], members.left.pop(name))
        return altered(node, kvstore=kvstore, resources=resources)

    def said(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        """Return the members: the store."""
        return {} if node.kvstore is None else {"kvstore": kvstore_json(node.kvstore, include_defaults)}

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        """Return the node with a store, if it had none, and further constraints; arrays that are detected cannot be
        created.
        """
        if change.open_mode._names() and not change.open_mode.open:
            raise SpecError("create mode not compatible with format auto-detection")
        kvstore = node.kvstore
        if change.kvstore is not None:
            if kvstore is not None:
                raise SpecError('"kvstore" is already specified')
            kvstore = change.kvstore
        return with_schema(altered(node, kvstore=kvstore), change.schema)

    def open_mode(self, node: SpecNode) -> OpenMode:
        """Return the open mode, which is to open."""
        return OpenMode(open=True)

    def url(self, node: SpecNode) -> str:
        """Return the URL of the key-value store."""
        if node.kvstore is None:
            raise SpecError("Invalid kvstore spec")
        return f"{kvstore_url(node.kvstore)}|auto:"


AUTO: Final = AutoDriver()
