"""The rules for keys and prefixes, and listings made from a sorted list of all keys."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from blizzarr.errors import PathError
from blizzarr.stores.protocol import Listing

# An empty, "." or ".." segment (a slash at either end makes an empty one), NUL, backslash, half of a surrogate pair.
UNUSABLE = re.compile(r"(?:^|/)\.{0,2}(?:/|\Z)|[\0\\\ud800-\udfff]")
"""What no key may contain; `check_key` raises the error."""
_CONTROL = re.compile(r"[\0-\x1f\x7f]")
# Follows "/" in the order of characters: prefix[:-1] + _AFTER_SLASH sorts right after all keys under the prefix.
_AFTER_SLASH = chr(ord("/") + 1)


def check_key(key: str) -> str:
    """Return the key; raise `PathError` if a store may not have such a key.

    >>> check_key("a/c/0/1")
    'a/c/0/1'
    >>> check_key("a/../b")
    Traceback (most recent call last):
    ...
    blizzarr.errors.PathError: key a/../b: a segment may not be '..'; keys look like 'a/b/zarr.json'
    """
    if UNUSABLE.search(key):
        raise PathError(f"{_fault(key)}; keys look like 'a/b/zarr.json'", key=key)
    return key


def check_keys(keys: Iterable[str]) -> None:
    """Check each key as `check_key` does."""
    for key in keys:
        check_key(key)


def check_prefix(prefix: str) -> str:
    """Return the prefix as ``""`` or with one slash at its end; raise `PathError` if no key may begin so."""
    if not prefix:
        return ""
    bare = prefix.removesuffix("/")
    if UNUSABLE.search(bare):
        raise PathError(f"{_fault(bare)}; prefixes look like 'a/b/'", key=prefix)
    return bare + "/"


def is_key(name: object) -> bool:
    """Return whether a store may have such a key."""
    return isinstance(name, str) and UNUSABLE.search(name) is None


def are_keys(names: Iterable[str]) -> bool:
    """Return whether a store may have all of these keys.

    >>> are_keys(["a/b", "c"]), are_keys(["a/", "c"]), are_keys(["a", ""])
    (True, False, False)
    """
    # Joined by slashes, they have the segments that they have one by one.
    return UNUSABLE.search("/".join(names)) is None


def check_object_key(key: str) -> str:
    """Return the key, if it can be that of an object in an object store: it has no control characters.

    Raise `PathError` if it cannot; the text says why.
    """
    control = _CONTROL.search(check_key(key))
    if control is not None:
        raise PathError(f"it contains {control[0]!r}, which keys in object stores may not", key=key)
    return key


def is_object_key(name: object) -> bool:
    """Return whether an object may have such a key."""
    return is_key(name) and _CONTROL.search(str(name)) is None


def keys_and_others(
    names: Iterable[object], is_usable: Callable[[object], bool] = is_key
) -> tuple[list[str], list[str]]:
    """Return the names that are keys, and those that are not, as texts; both sorted."""
    keys: list[str] = []
    others: list[str] = []
    for name in names:
        if is_usable(name):
            keys.append(str(name))
        else:
            others.append(str(name))
    return sorted(keys), sorted(others)


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


def _fault(key: str) -> str:
    if not key:
        return "it is empty"
    if "\0" in key:
        return "it contains NUL"
    if "\\" in key:
        return "it contains a backslash; segments are separated by '/'"
    if key.startswith("/"):
        return "it is absolute"
    for segment in key.split("/"):
        if not segment:
            return "a segment is empty"
        if segment in (".", ".."):
            return f"a segment may not be {segment!r}"
    return "it is not valid Unicode"
