"""Leftovers: temporary files of writers that died before they finished."""

from __future__ import annotations

from contextlib import suppress

from blizzarr.checking.finding import Finding
from blizzarr.checking.keys import Sorted
from blizzarr.checking.nodes import named
from blizzarr.checking.survey import Survey, unwrapped
from blizzarr.errors import BlizzarrError
from blizzarr.stores import LocalStore, Store


def find_leftovers(store: Store, surveyed: Survey, keys: Sorted) -> list[Finding]:
    """Return a finding for each leftover in a local directory; other stores hide theirs or have none."""
    local = unwrapped(store)
    names: set[str] = set()
    if not isinstance(local, LocalStore):
        return []
    for directory in surveyed.temporary:
        # The survey has already reported directories that cannot be listed.
        with suppress(BlizzarrError):
            names.update(local.leftovers(directory))
    message = "a writer that died has left it; nobody reads it"
    return [
        Finding("leftover", named(keys.owner_of(name) or ""), message, key=name, repairable=True)
        for name in sorted(names)
    ]
