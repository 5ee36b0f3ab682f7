"""Specs of arrays whose chunks a user's functions make; they have no JSON."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.json_values import quote
from blizzarr.spec.drivers.driver import Driver
from blizzarr.spec.members import Members
from blizzarr.spec.spec_node import SpecNode


class VirtualSpec(Driver):
    """Specs of chunks that functions make."""

    name: ClassVar = "virtual_chunked"
    resources = ("data_copy_concurrency", "cache_pool")

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        """Raise: functions have no JSON."""
        raise SpecError(f"{quote(self.name)} has no JSON")

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        raise UnsupportedOperationError('Error converting object member "driver": JSON representation not supported')


VIRTUAL: Final = VirtualSpec()
