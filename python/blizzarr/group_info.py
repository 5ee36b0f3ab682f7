"""The facts about a group."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from blizzarr.printable import table


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """The facts about a group; printed as a table.

    Examples
    --------
    >>> GroupInfo("/a", "memory", False, "v3", arrays=2, groups=0, unreadable=0, attributes=1, consolidated=False)
    Name         : /a
    Type         : Group
    Zarr format  : v3
    Store        : memory
    Read-only    : False
    Arrays       : 2
    Groups       : 0
    Attributes   : 1
    Consolidated : False
    """

    name: str
    store: str
    read_only: bool
    zarr_format: str
    arrays: int
    groups: int
    unreadable: int
    attributes: int
    consolidated: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the facts by name."""
        return asdict(self)

    def __repr__(self) -> str:
        rows = {
            "Name": self.name,
            "Type": "Group",
            "Zarr format": self.zarr_format,
            "Store": self.store,
            "Read-only": self.read_only,
            "Arrays": self.arrays,
            "Groups": self.groups,
            "Unreadable": self.unreadable or None,
            "Attributes": self.attributes,
            "Consolidated": self.consolidated,
        }
        return table(rows)
