"""Listings made from a sorted list of all keys."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from blizzarr.stores.protocol import Listing

# Follows "/" in the order of characters: prefix[:-1] + _AFTER_SLASH sorts right after all keys under the prefix.
_AFTER_SLASH = chr(ord("/") + 1)


def list_sorted(keys: Sequence[str], prefix: str) -> Sequence[str]:
    """Return those of the sorted keys that are under the prefix, which is empty or ends with a slash."""
    if not prefix:
        return keys
    return keys[bisect_left(keys, prefix) : bisect_left(keys, prefix[:-1] + _AFTER_SLASH)]


def list_sorted_dir(keys: Sequence[str], prefix: str) -> Listing:
    """Return the keys and prefixes directly under the prefix; keys below those are skipped by bisection."""
    keys_here: list[str] = []
    prefixes: list[str] = []
    at = bisect_left(keys, prefix)
    end = bisect_left(keys, prefix[:-1] + _AFTER_SLASH) if prefix else len(keys)
    while at < end:
        key = keys[at]
        slash = key.find("/", len(prefix))
        if slash < 0:
            keys_here.append(key)
            at += 1
        else:
            prefixes.append(key[: slash + 1])
            at = bisect_left(keys, key[:slash] + _AFTER_SLASH, at, end)
    return Listing(tuple(keys_here), tuple(prefixes))
