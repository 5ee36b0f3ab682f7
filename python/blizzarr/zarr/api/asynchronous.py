"""The module ``zarr.api.asynchronous``: the functions of ``zarr``, to be awaited.

Each runs in a thread, and returns an `AsyncArray` or `AsyncGroup` in the place of an array or a group.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from blizzarr.zarr import functions
from blizzarr.zarr.advice import missing
from blizzarr.zarr.awaitable import as_async, awaitable
from blizzarr.zarr.sync import in_thread_to_the_end

__all__ = [*functions.__all__]


async def create_hierarchy(**named: Any) -> AsyncIterator[tuple[str, Any]]:
    """Create arrays and groups from their metadata; see ``zarr.create_hierarchy``."""
    for path, node in await in_thread_to_the_end(lambda: list(functions.create_hierarchy(**named))):
        yield path, as_async(node)


_missing = missing(__name__)


def __getattr__(name: str) -> Any:
    if name not in functions.__all__:
        _missing(name)
    twin = globals()[name] = awaitable(getattr(functions, name))
    return twin
