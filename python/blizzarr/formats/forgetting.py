"""Documents that are remembered, and forgetting them: the warnings about one are given when it is parsed."""

from __future__ import annotations

from blizzarr.formats import n5, v1, v2, v3
from blizzarr.formats.draft import entry

__all__ = ["forget_documents"]

_CLEAR = [
    value.cache_clear
    for module in (n5, v1, v2, v3, entry)
    for value in vars(module).values()
    if hasattr(value, "cache_clear") and not isinstance(value, type)
]


def forget_documents() -> None:
    """Have each document parsed again when it is asked for next, with the warnings that it gives."""
    for clear in _CLEAR:
        clear()
