"""The differences that a comparison found, as a tree for terminals, by node."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from blizzarr.comparing.comparison import NOTES, TITLES, Comparison, Difference
from blizzarr.printable import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

NODES: Final = 50
"""The most nodes that are shown."""


def comparison_lines(comparison: Comparison, limit: int) -> list[RenderableType]:
    """The report for people, with at most `limit` lines for each node."""
    from rich.text import Text
    from rich.tree import Tree

    nodes: dict[str, list[Difference]] = {}
    for difference in (*comparison.unreadable, *comparison.differences, *comparison.notes):
        nodes.setdefault(difference.path, []).append(difference)
    lines: list[RenderableType] = []
    if nodes:
        tree = Tree(Text(f"A {printable(comparison.a)}\nB {printable(comparison.b)}", style="bold"), guide_style="dim")
        for path, several in islice(nodes.items(), NODES):
            branch = tree.add(Text(printable(path), style="bold"))
            for difference in several[:limit]:
                leaf = branch.add(_line(difference))
                for example in difference.elements.examples() if difference.elements is not None else ():
                    leaf.add(Text(printable(example)))
            if len(several) > limit:
                branch.add(Text(f"and {len(several) - limit:,} more", style="dim"))
        if len(nodes) > NODES:
            tree.add(Text(f"and {len(nodes) - NODES:,} more nodes", style="dim"))
        lines.append(tree)
    style = "bold green" if comparison.same else "bold red"
    looked = comparison.summary().rpartition(": ")[0]
    return [*lines, Text.assemble((comparison.verdict(), style), f"  ({looked})")]


def _line(difference: Difference) -> Text:
    from rich.text import Text

    style = "dim" if difference.kind in NOTES else "bold red" if difference.kind == "unreadable" else "yellow"
    return Text.assemble((TITLES[difference.kind], style), "  ", printable(difference.message))
