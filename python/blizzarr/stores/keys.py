"""Which keys, prefixes and node paths may be used: checked once, here."""

from __future__ import annotations

import re

from blizzarr.errors import PathError

__all__ = ["check_key", "check_name", "check_path", "check_prefix", "join"]

# An empty, "." or ".." segment (a slash at either end makes an empty one), NUL, backslash, half of a surrogate pair.
_UNUSABLE = re.compile(r"(?:^|/)\.{0,2}(?:/|$)|[\0\\\ud800-\udfff]")
_DOCUMENTS = frozenset({"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"})


def check_key(key: str) -> str:
    """Give the key back, or say why it may not be used.

    Examples
    --------
    >>> check_key("a/c/0/1")
    'a/c/0/1'
    >>> check_key("a/../b")
    Traceback (most recent call last):
    ...
    blizzarr.errors.PathError: key a/../b: a segment may not be '..'; keys look like 'a/b/zarr.json'
    """
    if _UNUSABLE.search(key):
        raise PathError(f"{_fault(key)}; keys look like 'a/b/zarr.json'", key=key)
    return key


def check_prefix(prefix: str) -> str:
    """The prefix as ``""`` or with one slash at its end.

    Examples
    --------
    >>> check_prefix("a/b"), check_prefix("a/b/"), check_prefix("")
    ('a/b/', 'a/b/', '')
    """
    if not prefix:
        return ""
    bare = prefix.removesuffix("/")
    if _UNUSABLE.search(bare):
        raise PathError(f"{_fault(bare)}; prefixes look like 'a/b/'", key=prefix)
    return bare + "/"


def check_path(path: str) -> str:
    """The path of a node: ``""`` for the root, else names joined by slashes.

    Examples
    --------
    >>> check_path("/a")
    Traceback (most recent call last):
    ...
    blizzarr.errors.PathError: path '/a': it is absolute; node paths are relative to their group or store, like 'a/b'
    """
    if path and _UNUSABLE.search(path):
        raise PathError(f"path {path!r}: {_fault(path)}; node paths are relative to their group or store, like 'a/b'")
    return path


def check_name(path: str) -> str:
    """The path of a node to be made: every name in it must be one that the specification allows.

    Examples
    --------
    >>> check_name("a/__b")
    Traceback (most recent call last):
    ...
    blizzarr.errors.PathError: path 'a/__b': the name '__b' starts with '__', which is reserved
    """
    if not path:
        raise PathError("the name of a node may not be empty")
    check_path(path)
    for name in path.split("/"):
        if not name.strip("."):
            fault = "consists of dots only"
        elif name.startswith("__"):
            fault = "starts with '__', which is reserved"
        elif name in _DOCUMENTS:
            fault = "is the name of a metadata document"
        else:
            continue
        raise PathError(f"path {path!r}: the name {name!r} {fault}")
    return path


def join(path: str, name: str) -> str:
    """The path of a member.

    Examples
    --------
    >>> join("", "a"), join("a", "b/c")
    ('a', 'a/b/c')
    """
    return f"{path}/{name}" if path else name


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
