"""The table of formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final

from blizzarr.errors import UnknownExtensionError
from blizzarr.formats import draft
from blizzarr.formats.format import Format, Node
from blizzarr.formats.n5 import N5
from blizzarr.formats.v1 import V1
from blizzarr.formats.v2 import V2
from blizzarr.formats.v3 import TAG, V3, V3_IMPLICIT
from blizzarr.open_table import OpenTable

FORMATS: Final[dict[str, Format]] = {form.name: form for form in (V3, V2, draft.DOCUMENT, draft.ZARR_PYTHON, V1, N5)}
"""The formats by name in the order in which they are searched: those of Zarr first, newest first."""

UNSOUGHT: Final = OpenTable[Format]("blizzarr.formats", {"precomputed": "blizzarr.neuroglancer.format:PRECOMPUTED"})
"""The formats that are used only where they are named."""


def register_format(form: Format) -> None:
    """Make a format known by its name, to `open`, `create_array` and `copy` as ``zarr_format``.

    Nothing is searched for it: a path is opened in this format only where the format is named. An installed package
    registers its formats without this function, by entry points of the group ``blizzarr.formats``: an entry point has
    the name of a format, and refers to the format.

    Parameters
    ----------
    form
        The format: an object with the methods of `Format`.

    Raises
    ------
    ValueError
        There is another format of this name.

    Examples
    --------
    >>> register_format(V3)
    Traceback (most recent call last):
    ...
    ValueError: expected a name that no format has, found 'v3'; choose another
    """
    if form.name in FORMATS:
        raise ValueError(f"expected a name that no format has, found {form.name!r}; choose another")
    UNSOUGHT.register(form.name, form)


def format_named(value: Any) -> Format:
    """Return the format with this name or number; the newest for `None`."""
    if value is None:
        return next(iter(FORMATS.values()))
    if value == TAG:
        return V3
    for form in FORMATS.values():
        number = form.zarr_format
        if value == form.name or (number is not None and type(value) is not bool and value in (number, str(number))):
            return form
    if isinstance(value, str):
        named = draft.draft_named(value) or UNSOUGHT.find(value)
        if named is not None:
            return named
    numbers = sorted({form.zarr_format for form in FORMATS.values() if form.zarr_format is not None}, reverse=True)
    names = ", ".join(map(repr, (*FORMATS, *UNSOUGHT)))
    raise UnknownExtensionError(
        f"expected zarr_format to be one of {names}, or {', '.join(map(str, numbers))}; found {value!r}",
        extensions=(f"zarr_format {value}",),
    )


def format_of(meta: Node) -> Format:
    """Return the format of a node."""
    form = FORMATS.get(meta.format)
    if form is not None:
        return form
    return V3_IMPLICIT if meta.format == TAG else format_named(meta.format).of(meta)


def forms_again(meta: Node) -> tuple[Format, ...] | None:
    """Return the only format that can find this node again, or `None` if searching all formats finds it."""
    form = format_of(meta)
    return None if form.name in FORMATS else (form,)


def relatives(form: Format, path: str) -> Sequence[Format]:
    """Return the formats that nodes below a group at `path` may have: those whose listings have the same prefix.

    In groups of N5, all nodes are of N5.
    """
    prefix = form.listing_prefix(path)
    if prefix is None:
        return ()
    if form.zarr_format is None:
        return [form]
    zarr = [other for other in FORMATS.values() if other.zarr_format is not None]
    others = [other for other in zarr if other.listing_prefix(path) == prefix]
    return others if form in others else [form, *others]


def member_forms(form: Format, path: str) -> Sequence[Format]:
    """Return the formats in which members of a group at `path` are looked for: `relatives`, and what counts over them.

    An interrupted upgrade has stored newer documents of members under keys of their own.
    """
    family = relatives(form, path)
    if form.zarr_format is None or form.name not in FORMATS:
        return family
    return [*(other for other in newer_than(form) if other not in family), *family]


def newer_than(form: Format) -> Iterator[Format]:
    """Iterate over the formats that count over this one where both have documents, newest first."""
    return takewhile(lambda other: other.name != form.name, FORMATS.values())
