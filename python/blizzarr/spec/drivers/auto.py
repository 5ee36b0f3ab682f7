"""Specs of stored arrays whose format is detected."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from blizzarr.errors import SpecError
from blizzarr.json_members import Members
from blizzarr.json_values import quote
from blizzarr.spec.drivers.driver import Change, Driver, changed_kvstore, kvstore_members, url_of_kvstore, with_schema
from blizzarr.spec.open_mode import modes_on
from blizzarr.spec.resources import RESOURCES, Resources, kind_of, resource_spec
from blizzarr.spec.spec_node import SpecNode


class AutoDriver(Driver):
    """The driver that detects the format of what is stored."""

    name: ClassVar = "auto"
    opens: ClassVar = True
    resources = tuple(RESOURCES)
    """All of them, as the driver that is found may use any."""

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        return node.altered(kvstore=kvstore_members(members))

    def take_resources(self, members: Members) -> Resources:
        resources = self.default_resources.copy()
        for name in sorted(members.left):
            if "#" in name:
                raise SpecError(f'Context resource identifier must not contain "#": {quote(name)}')
            resources[name] = resource_spec(kind_of(name), members.left.pop(name))
        return resources

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return {}

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        """Return the node with a store, if it had none, and further constraints; arrays that are detected cannot be
        created.
        """
        if modes_on(change.open_mode) and not change.open_mode.open:
            raise SpecError("create mode not compatible with format auto-detection")
        return with_schema(node.altered(kvstore=changed_kvstore(node, change)), change.schema)

    def url(self, node: SpecNode) -> str:
        return f"{url_of_kvstore(node)}|auto:"


AUTO: Final = AutoDriver()
