"""A hierarchy as text, and the facts about a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any, Final

from blizzarr.formats import Child
from blizzarr.model import ArrayMeta
from blizzarr.printable import printable, table

_LEAST: Final = 20
"""The columns that a node has at least, however deep it is."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The nodes below a group; its text has one line for each.

    Examples
    --------
    >>> from blizzarr.errors import MetadataError
    >>> from blizzarr.model import GroupMeta
    >>> group = GroupMeta()
    >>> print(Tree("/", (Child("a", group), Child("a/b", group), Child("c", None, MetadataError("cut off")))))
    /
    ├── a
    │   └── b
    └── c (unreadable: cut off)
    """

    name: str
    """The name of the group."""
    children: tuple[Child, ...]
    """The nodes below the group by path, each group right before its members."""

    def text(self, width: int | None = None) -> str:
        """Return the tree as text; lines that are longer than `width` go on below themselves.

        Examples
        --------
        >>> from blizzarr.model import GroupMeta
        >>> print(Tree("/", (Child("two words", GroupMeta()), Child("b", GroupMeta()))).text(24))
        /
        ├── two words
        └── b
        """
        return "\n".join((printable(self.name), *self.lines(width)))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return str(self)

    def lines(self, width: int | None = None, label: Callable[[Child], str] | None = None) -> Iterator[str]:
        """Yield the lines of the nodes below the group; `label` makes the text of one node."""
        depths = [child.name.count("/") for child in self.children]
        # Backwards, it is known at each node whether another one follows at its level.
        last: list[bool] = []
        open_below: set[int] = set()
        bars: list[list[bool]] = []
        for depth in reversed(depths):
            last.append(depth not in open_below)
            open_below = {level for level in open_below if level < depth} | {depth}
            bars.append([level in open_below for level in range(depth)])
        for child, is_last, bar in zip(self.children, reversed(last), reversed(bars), strict=True):
            indent = "".join("│   " if drawn else "    " for drawn in bar)
            text = (label or label_of)(child)
            room = None if width is None else max(_LEAST, width - len(indent) - 4)
            # What goes on is set apart from the names of neighbours.
            wrapped = [] if room is None else wrap(text, room, subsequent_indent="  ", break_on_hyphens=False)
            first, *rest = wrapped or [text]
            yield f"{indent}{'└── ' if is_last else '├── '}{first}"
            yield from (f"{indent}{'    ' if is_last else '│   '}{line}" for line in rest)


def label_of(child: Child) -> str:
    """Return the text of a node: its name, and what it is if it is an array, or why it cannot be read."""
    name = printable(child.name.rpartition("/")[2])
    if child.error is not None:
        return f"{name} (unreadable: {printable(child.error.line)})"
    if isinstance(child.meta, ArrayMeta):
        return f"{name} {child.meta.shape} {child.meta.dtype}"
    return name


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
    arrays: int | None
    """None if the store cannot list the members; so is `groups`."""
    groups: int | None
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
