"""PATH arguments, parsed, completed and opened: a store, a node in it, and optionally a selection of its elements.

``data.zarr/brain/t1`` is the array ``brain/t1`` of the hierarchy in ``data.zarr``. The root of the hierarchy is found
by going up as long as there are groups; if nothing exists yet, it is at a name that ends with ``.zarr``.

Brackets at the end are a selection, unless there is a local file of that name; before a slash they are part of a name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

if TYPE_CHECKING:
    from blizzarr.api.open import Mode
    from blizzarr.array import Array
    from blizzarr.group import Group

_INSIDE_ARRAYS = "c"
"""The directory of chunks, which is not offered."""


def complete_path(incomplete: str) -> list[str]:
    """Return the possible completions of a path, without the insides of arrays."""
    directory, _, start = incomplete.rpartition("/")
    where = (directory or "/") if "/" in incomplete else "."
    try:
        with os.scandir(os.path.expanduser(where)) as entries:
            offered = [entry for entry in entries if entry.name.startswith(start) and _is_offered(entry, start)]
    except OSError:
        return []
    prefix = incomplete[: len(incomplete) - len(start)]
    return sorted(prefix + entry.name for entry in offered)


def _is_offered(entry: os.DirEntry[str], start: str) -> bool:
    if entry.name.startswith(".") and not start.startswith("."):
        return False
    if entry.name.endswith((".zip", ".ozx", ".npy", ".npz")):
        return True
    array = entry.name == _INSIDE_ARRAYS and os.path.exists(os.path.join(os.path.dirname(entry.path), "zarr.json"))
    return entry.is_dir() and not array


Key: TypeAlias = tuple[int | slice | EllipsisType, ...]

PathArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="PATH", help="An array or a group.", autocompletion=complete_path)
]
ArrayArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="PATH[SELECTION]", help="An array, followed by a selection if you like.", autocompletion=complete_path
    ),
]
SelectionArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="SELECTION", help="Like 0:10,::2; one that begins with - has to follow PATH directly."),
]

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


@dataclass(frozen=True, slots=True)
class Place:
    """A node, given by its store and its path, and a selection of its elements."""

    text: str
    """The path as it was typed, without the selection."""
    target: str
    """The argument that opens the store."""
    path: str
    """The node in the store; empty for its root."""
    selection: str | None = None
    """The selection as it was typed, without the brackets."""

    @property
    def key(self) -> Key:
        """The selection as a key; without one, that of everything."""
        return (...,) if self.selection is None else parse_selection(self.selection)

    @classmethod
    def parse(cls, text: str, selection: str | None = None) -> Place:
        """Parse a path and a selection."""
        typed = text
        if text.endswith("]") and "[" in text and not os.path.exists(text):
            if selection is not None:
                raise typer.BadParameter(f"expected one selection, found one behind {text!r} and {selection!r}")
            text, _, selection = text[:-1].rpartition("[")
        elif selection is not None and selection.startswith("[") and selection.endswith("]"):
            selection = selection[1:-1]
        # A quoted path, as a selection needs it, is not expanded by the shell.
        stripped = os.path.expanduser(text.rstrip("/") or text)
        above, _, name = stripped.rpartition("/")
        name, bracket, _ = name.partition("[")
        whole = os.path.join(above, name)
        if name and bracket and typed[-1] != "/" and os.path.exists(whole) and not os.path.exists(stripped):
            raise typer.BadParameter(f"expected a selection like [0:10, ::2] behind {whole!r}, found {typed!r}")
        return cls(stripped, *_split(stripped), selection)

    @classmethod
    def whole(cls, text: str, hint: str = "PATH") -> Place:
        """Parse the path of a whole array or group: a selection would be ignored, even by what removes or replaces."""
        place = cls.parse(text)
        if place.selection is not None:
            raise typer.BadParameter(
                f"expected a whole array or group, found a selection, which cat and show take; for a name that ends in "
                f"brackets, add a slash: {text + '/'!r}",
                param_hint=hint,
            )
        return place


def _split(text: str) -> tuple[str, str]:
    """Split a path into the root of the hierarchy and the path below it."""
    if _URL.match(text):
        return text, ""
    path = Path(text)
    absolute = Path(os.path.abspath(text))
    from blizzarr.stores.os_paths import engine_path

    # `resolve` splits paths into zip files.
    from blizzarr.stores.urls import ZIP_ENDINGS

    if any(part.lower().endswith(ZIP_ENDINGS) for part in path.parts):
        return text, ""
    root = absolute
    if _is_node(root) or any(map(_is_group, root.parents)):
        while not _is_node(root) or (_is_group(root.parent) and root != root.parent):
            root = root.parent
    else:
        named = [above for above in (absolute, *absolute.parents) if above.suffix == ".zarr"]
        root = named[-1] if named else absolute
    inside = absolute.relative_to(root).as_posix()
    if inside == ".":
        return text, ""
    # The path as it was typed, without the part below the root, if that leads to the root.
    kept = path.parts[: len(path.parts) - len(Path(inside).parts)]
    typed = Path(*kept) if kept else Path(".")
    return (str(typed) if os.path.abspath(typed) == str(root) else str(root)), engine_path(inside)


def _is_group(directory: Path) -> bool:
    return _is_node(directory, groups=True)


def _is_node(directory: Path, *, groups: bool = False) -> bool:
    """Return whether a directory has a document of a node, or one of a format that has groups."""
    from blizzarr.formats import FORMATS

    for form in FORMATS.values():
        keys = form.node_keys("") if form.entry_key is None else (form.entry_key, *form.node_keys(""))
        if (form.listing_prefix("") is not None or not groups) and any((directory / key).is_file() for key in keys):
            return True
    return False


def parse_selection(text: str) -> Key:
    """Parse a selection as written between brackets: integers, slices and ``...``.

    >>> parse_selection("0:10, ::-2, ..., -1")
    (slice(0, 10, None), slice(None, None, -2), Ellipsis, -1)
    """
    return tuple(_part(part.strip()) for part in text.split(",") if part.strip() or "," in text.rstrip(","))


def _part(text: str) -> int | slice | EllipsisType:
    if text == "...":
        return ...
    try:
        if ":" not in text:
            return int(text)
        bounds = [int(bound) if bound.strip() else None for bound in text.split(":")]
        if len(bounds) > 3 or (len(bounds) == 3 and bounds[2] == 0):
            raise ValueError
    except ValueError:
        raise typer.BadParameter(
            f"expected integers, slices like 2:10 or ::2, and '...', separated by commas, found {text!r}"
        ) from None
    return slice(*bounds)


KeepForeignOption: TypeAlias = Annotated[
    bool, typer.Option("--keep-foreign", help="Go ahead even if files that are not Zarr's lie there; those files stay.")
]


def open_node(place: Place, mode: Mode = "r") -> Array | Group:
    """Open the array or group at a place; say so if it is a copy that was interrupted."""
    from blizzarr import api
    from blizzarr.formats import warn_if_unfinished
    from blizzarr.stores.requests import is_remote

    node = api.open(place.target, path=place.path, mode=mode)
    if is_remote(node.store):  # of others, opening warns
        warn_if_unfinished(node.store, node.path)
    return node


def open_array(place: Place) -> Array:
    """Open the array at a place; for a group, raise `NodeTypeError` with its members."""
    return array_in(open_node(place), place)


def array_in(node: Array | Group, place: Place) -> Array:
    """Return the node at a place, which should be an array; for a group, raise `NodeTypeError` with its members."""
    from blizzarr.array import Array
    from blizzarr.errors import NodeTypeError

    if isinstance(node, Array):
        return node
    names = list(node)
    inside = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    raise NodeTypeError(
        f"expected an array, found a group with {inside or 'nothing'} in it; add the path of an array in it",
        array=node.name,
        store=place.target,
    )
