"""Options of fsspec that are given beside a URL, as ``storage_options`` of pandas, Dask and xarray."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from blizzarr.stores.fsspec_store import FsspecStore

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


def with_storage_options(target: Any, storage_options: Mapping[str, Any] | None) -> Any:
    """Return what to open: with options, the store that fsspec makes of a URL; local paths ignore them, as in fsspec.

    Raise `ValueError` if there are options for something that is neither a path nor a URL. Raise
    `UnsupportedOperationError` or `StoreError` if as for `FsspecStore.from_url`.

    >>> with_storage_options("memory://a.zarr", {"skip_instance_cache": True})
    <FsspecStore MemoryFileSystem:/a.zarr>
    """
    if not storage_options:
        return target
    if not isinstance(target, str | os.PathLike):
        raise ValueError(f"expected a URL with storage_options, found {type(target).__name__}, which has its own")
    text = os.fspath(target)
    return FsspecStore.from_url(text, storage_options) if _URL.match(text) else text
