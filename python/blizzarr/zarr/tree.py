"""What ``Group.tree`` returns: a tree in the form that zarr-python prints it, in terminals and in notebooks."""

from __future__ import annotations

import sys
from dataclasses import replace
from html import escape
from typing import Any, Final

from blizzarr.formats import Child
from blizzarr.group_tree import Tree, label_of
from blizzarr.printable import printable

_STYLE: Final = (
    "white-space:pre;overflow-x:auto;line-height:normal;font-family:Menlo,'DejaVu Sans Mono',consolas,"
    "'Courier New',monospace"
)


class TreeRepr:
    """The nodes below a group; in a terminal and in HTML their names are bold, unless it is to be plain.

    Parameters
    ----------
    tree
        The nodes.
    max_nodes
        The number of nodes that are shown.
    plain
        Show names as everything else.

    Examples
    --------
    >>> import blizzarr
    >>> root = blizzarr.create_group({})
    >>> names = [root.create_group(name).basename for name in "abc"]
    >>> print(repr(TreeRepr(root.tree(), max_nodes=2, plain=True)), end="")
    Truncated at max_nodes=2, some nodes and their children may be missing
    /
    ├── a
    └── b
    """

    def __init__(self, tree: Tree, max_nodes: int = 500, plain: bool = False) -> None:
        shown = replace(tree, children=tree.children[:max_nodes])
        note = f"Truncated at max_nodes={max_nodes}, some nodes and their children may be missing\n"
        self._note = note if len(tree.children) > max_nodes else ""
        is_terminal = not plain and sys.stdout.isatty()
        self._text = _lines(shown, *(("\x1b[1m", "\x1b[0m") if is_terminal else ("", "")))
        self._html = _lines(shown, *(("", "") if plain else ("<b>", "</b>")), quote=escape)

    def __repr__(self) -> str:
        return self._note + self._text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, str]:
        html = f'<pre style="{_STYLE}">{self._note}{self._html}</pre>\n'
        return {"text/plain": repr(self), "text/html": html}


def _lines(tree: Tree, start: str, end: str, quote: Any = str) -> str:
    def label(child: Child) -> str:
        text, name = label_of(child), printable(child.name.rpartition("/")[2])
        return f"{start}{quote(name)}{end}{quote(text[len(name) :])}"

    return "\n".join((f"{start}{quote(printable(tree.name))}{end}", *tree.lines(label=label), ""))
