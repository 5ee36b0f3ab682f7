"""What may lie beside the documents of a node: documents of other formats, and the record of a copy."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from blizzarr.formats import v2_separator
from blizzarr.formats.document import Stored, load
from blizzarr.formats.format import Format
from blizzarr.formats.n5 import N5
from blizzarr.formats.reading import get_value
from blizzarr.formats.table import FORMATS, newer_than
from blizzarr.formats.v2 import V2
from blizzarr.formats.v3 import V3
from blizzarr.model import ArrayMeta
from blizzarr.model.names import join
from blizzarr.problems import Notice, Problems, warn
from blizzarr.stores.protocol import Store
from blizzarr.stores.requests import present

PROGRESS: Final = "blizzarr-copy.json"
"""The key, beside the document of a node that is being copied, of the copy's progress; see `blizzarr.copying`."""


@lru_cache
def keys_beside(path: str, number: int | None) -> tuple[str, ...]:
    """Return the keys of documents that make a node in older formats of Zarr, and of a copy's progress."""
    older = [form for form in FORMATS.values() if number and form.zarr_format and form.zarr_format < number]
    return tuple(join(path, name) for name in (*(name for form in older for name in form.node_keys("")), PROGRESS))


def is_doubtful(store: Store, path: str, meta: ArrayMeta) -> bool:
    """Return whether `find` may have warned of an array in a local directory; False for some of v3, v2 and N5 only."""
    form = _SURE.get(meta.format)
    if form is None or not isinstance(meta.source, Stored):
        return True
    notices: list[Notice] = []
    form.decode(path, {join(path, name): raw for name, raw in meta.source.raw.items()}, notices)
    return bool(notices) or has_others_beside(store, path, meta)


def has_others_beside(store: Store, path: str, meta: ArrayMeta) -> bool:
    """Return whether `find` would warn of anything beside the documents of an array, or return another node.

    The array is one of v3, v2 or N5 in a local directory.
    """
    assert isinstance(meta.source, Stored)
    if present(store, _other_keys(path, meta.format, tuple(meta.source.raw))):
        return True
    return v2_separator.lacks_separator(meta) and not v2_separator.shows_dots(store, path, meta)


_SURE: Final[dict[str, Format]] = {form.name: form for form in (V3, V2, N5)}


@lru_cache
def _other_keys(path: str, name: str, own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys beside those of the `own` documents of an array of a format that may change what is found."""
    form = _SURE[name]
    keys = [key for other in (*newer_than(form), form) for key in other.document_keys(path)]
    return (*(key for key in keys if key.rpartition("/")[2] not in own), *keys_beside(path, form.zarr_format))


def unfinished(store: Store, path: str) -> dict[str, Any] | None:
    """Return the record of the copy to a path that is going on or was interrupted; None if there is none."""
    raw = get_value(store, join(path, PROGRESS))
    record = {"complete": True} if raw is None else load(bytes(raw), Problems()) or {}
    return None if record.get("complete") is True else record


def warn_if_unfinished(store: Store, path: str) -> None:
    """Warn of a node whose elements have not all been copied: those that are missing read as the fill value."""
    if unfinished(store, path) is not None:
        where = f"/{path} in {store}" if path else store
        warn(
            f"{where} is an unfinished copy, in which elements are missing, which read as the fill value; unless the "
            "copy is still going on, the same copy with resume=True finishes it"
        )
