"""What may lie beside the document of a node: documents of older formats, and the record of a copy."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from blizzarr.formats.document import Stored, load
from blizzarr.formats.reading import get_value
from blizzarr.formats.table import FORMATS
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
    """Return whether `find` may have warned of an array in a local directory; False for some arrays of v3 only."""
    if meta.format != V3.name or not isinstance(meta.source, Stored):
        return True
    notices: list[Notice] = []
    (key,) = V3.document_keys(path)
    V3.decode(path, {key: meta.source.raw[key.rpartition("/")[2]]}, notices)
    return bool(notices) or has_others_beside(store, path)


def has_others_beside(store: Store, path: str) -> bool:
    """Return whether `find` would warn of anything beside the document of an array of v3 in a local directory."""
    return bool(present(store, keys_beside(path, V3.zarr_format)))


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
