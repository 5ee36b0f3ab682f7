"""The facts about arrays and groups, in the form that zarr-python prints them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from html import escape
from typing import Any, Final

from blizzarr.formats import Child
from blizzarr.group_tree import Tree, label_of
from blizzarr.printable import printable, table

_UNITS: Final = "KMGTP"


@dataclass(kw_only=True, repr=False)
class GroupInfo:
    """The facts about a group.

    Examples
    --------
    >>> GroupInfo(_name="a", _zarr_format=3, _read_only=False, _store_type="MemoryStore")
    Name        : a
    Type        : Group
    Zarr format : 3
    Read-only   : False
    Store type  : MemoryStore
    """

    _name: str
    _type: str = "Group"
    _zarr_format: int
    _read_only: bool
    _store_type: str
    _count_members: int | None = None
    _count_arrays: int | None = None
    _count_groups: int | None = None

    def __repr__(self) -> str:
        labels = ("Name", "Type", "Zarr format", "Read-only", "Store type", "No. members", "No. arrays", "No. groups")
        return table(dict(zip(labels, (getattr(self, row.name) for row in fields(self)), strict=True)), 12)


@dataclass(kw_only=True, repr=False)
class ArrayInfo:
    """The facts about an array."""

    _type: str = "Array"
    _zarr_format: int
    _data_type: Any
    _fill_value: Any
    _shape: tuple[int, ...]
    _shard_shape: tuple[int, ...] | str | None = None
    _chunk_shape: tuple[int, ...] | str | None = None
    _order: str
    _read_only: bool
    _store_type: str
    _filters: tuple[Any, ...] = ()
    _serializer: Any = None
    _compressors: tuple[Any, ...] = ()
    _count_bytes: int | None = None
    _count_bytes_stored: int | None = None
    _count_chunks_initialized: int | None = None

    def __repr__(self) -> str:
        labels = (
            *("Type", "Zarr format", "Data type", "Fill value", "Shape", "Shard shape", "Chunk shape", "Order"),
            *("Read-only", "Store type", "Filters", "Serializer", "Compressors", "No. bytes", "No. bytes stored"),
        )
        rows = dict(zip(labels, (getattr(self, row.name) for row in fields(self)), strict=False))
        rows["No. bytes"] = _size(self._count_bytes)
        rows["No. bytes stored"] = _size(self._count_bytes_stored)
        if self._count_bytes is not None and self._count_bytes_stored:
            rows["Storage ratio"] = f"{self._count_bytes / self._count_bytes_stored:.1f}"
        rows["Chunks Initialized" if self._shard_shape is None else "Shards Initialized"] = (
            self._count_chunks_initialized
        )
        return table(rows, 19)


def _size(count: int | None) -> str | None:
    """Return a number of bytes, from a kibibyte on also in a larger unit.

    >>> _size(40), _size(3_145_728)
    ('40', '3145728 (3.0M)')
    """
    if count is None or count < 1024:
        return None if count is None else str(count)
    power = min((count.bit_length() - 1) // 10, len(_UNITS))
    return f"{count} ({count / 1024**power:.1f}{_UNITS[power - 1]})"


# What ``Group.tree`` returns: a tree in the form that zarr-python prints it, in terminals and in notebooks.

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
