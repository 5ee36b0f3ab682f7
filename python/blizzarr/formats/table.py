"""The table of formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from blizzarr.errors import UnknownExtensionError
from blizzarr.formats import draft
from blizzarr.formats.format import Format, Node
from blizzarr.formats.n5 import N5
from blizzarr.formats.v1 import V1
from blizzarr.formats.v2 import V2
from blizzarr.formats.v3 import V3
from blizzarr.formats.v3_implicit import TAG, V3_IMPLICIT

__all__ = ["FORMATS", "format_named", "format_of", "forms_again", "relatives"]

FORMATS: Final[dict[str, Format]] = {form.name: form for form in (V3, V2, draft.DOCUMENT, draft.ZARR_PYTHON, V1, N5)}
"""The formats by name in the order in which they are searched: those of Zarr first, newest first."""


def format_named(value: Any) -> Format:
    """Return the format with this name or number; the newest for `None`.

    Examples
    --------
    >>> format_named(3).name, format_named("v3").name, format_named(None).name
    ('v3', 'v3', 'v3')
    """
    if value is None:
        return next(iter(FORMATS.values()))
    if value == TAG:
        return V3
    for form in FORMATS.values():
        number = form.zarr_format
        if value == form.name or (number is not None and type(value) is not bool and value in (number, str(number))):
            return form
    named = draft.draft_named(value) if isinstance(value, str) else None
    if named is not None:
        return named
    numbers = sorted({form.zarr_format for form in FORMATS.values() if form.zarr_format is not None}, reverse=True)
    names = ", ".join(map(repr, FORMATS))
    raise UnknownExtensionError(
        f"expected zarr_format to be one of {names}, or {', '.join(map(str, numbers))}; found {value!r}",
        extensions=(f"zarr_format {value}",),
    )


def format_of(meta: Node) -> Format:
    """Return the format of a node."""
    found = FORMATS.get(meta.format)
    if found is not None:
        return found
    if meta.format == TAG:
        return V3_IMPLICIT
    from blizzarr.formats.precomputed import NAME, Precomputed

    return Precomputed.of(meta) if meta.format == NAME else format_named(meta.format)


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
