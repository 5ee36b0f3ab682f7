"""A hierarchy as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blizzarr.formats import Child
from blizzarr.model import ArrayMeta
from blizzarr.printable import printable

__all__ = ["Tree"]


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

    def __str__(self) -> str:
        return "\n".join((printable(self.name), *self._lines()))

    def __repr__(self) -> str:
        return str(self)

    def _lines(self) -> Iterator[str]:
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
            yield f"{indent}{'└── ' if is_last else '├── '}{_label(child)}"


def _label(child: Child) -> str:
    name = printable(child.name.rpartition("/")[2])
    if child.error is not None:
        return f"{name} (unreadable: {printable(child.error.line)})"
    if isinstance(child.meta, ArrayMeta):
        return f"{name} {child.meta.shape} {child.meta.dtype}"
    return name
