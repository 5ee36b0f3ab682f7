"""Searching for nodes of the draft without a document at a known key: implicit groups, and other key suffixes.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#operations
"""

from __future__ import annotations

from collections.abc import Sequence

from blizzarr.errors import BlizzarrError
from blizzarr.formats.draft.entry import read
from blizzarr.formats.draft.form import Draft
from blizzarr.formats.draft.keys import ENTRY
from blizzarr.formats.format import Found, Store
from blizzarr.formats.implicit import is_implicit
from blizzarr.model import GroupMeta
from blizzarr.problems import Notice


def search(store: Store, paths: Sequence[str]) -> list[Found | BlizzarrError | None]:
    """Return the nodes at these paths of a hierarchy of the draft, or their errors; `None` where there is no node."""
    raw = store.get(ENTRY)
    try:
        entry = None if raw is None else read(bytes(raw))
    except BlizzarrError as error:
        return [error] * len(paths)
    if entry is None:
        return [None] * len(paths)
    form = Draft(entry.spelling, entry.suffix)
    return [_search(store, form, bytes(raw), path) for path in paths]


def _search(store: Store, form: Draft, entry: bytes, path: str) -> Found | BlizzarrError | None:
    pairs = ((key, store.get(key)) for key in form.document_keys(path))
    documents = {key: bytes(value) for key, value in pairs if value is not None}
    notices: list[Notice] = []
    try:
        meta = form.decode(path, {**documents, ENTRY: entry}, notices)
    except BlizzarrError as error:
        return error
    if meta is not None:
        return Found(meta, documents, notices)
    return Found(GroupMeta(format=form.name), {}) if is_implicit(store, form, path) else None
