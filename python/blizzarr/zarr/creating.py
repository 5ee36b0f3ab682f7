"""Creating nodes as zarr-python does: under any name, and with its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from blizzarr.hierarchy.place import any_name
from blizzarr.zarr.errors import translated


@contextmanager
def creating(store: Any) -> Iterator[None]:
    """Allow reserved names, which xarray gives to arrays without a name; give errors zarr-python's classes, too."""
    with any_name(), translated(store=store):
        yield
