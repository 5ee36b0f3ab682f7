"""What writers that died have left: values that they had not finished."""

from __future__ import annotations

from blizzarr.checking.finding import Finding
from blizzarr.checking.nodes import named
from blizzarr.checking.survey import unwrapped
from blizzarr.stores import Store

__all__ = ["find_leftovers"]


def find_leftovers(store: Store, prefixes: tuple[str, ...]) -> list[Finding]:
    """The leftovers in a directory; other stores hide theirs, or have none."""
    leftovers = getattr(unwrapped(store), "leftovers", None)
    if leftovers is None:
        return []
    names = sorted({name for prefix in prefixes for name in leftovers(prefix)})
    said = "a writer that died has left it; nobody reads it"
    return [Finding("leftover", named(name.rpartition("/")[0]), said, key=name, repairable=True) for name in names]
