"""Node names: the rules for them, and paths made of them.

A path is the names from the root joined by ``/``, without a leading or trailing slash; the path of the root is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from blizzarr.errors import PathError


def unusable(name: str, documents: tuple[str, ...] = ("zarr.json",)) -> str | None:
    """Return the rule that a node name breaks, of the rules for all formats; None if it breaks none.

    `documents` are the keys of metadata, which are no names. Two of the rules are in no specification: a backslash or a
    NUL could lead to another place in some stores.

    >>> unusable("__x"), unusable("..")
    (None, "a name may not be '.' or '..'")
    """
    if not name:
        return "a name may not be empty (no leading, trailing or doubled slash)"
    if name in (".", ".."):
        return "a name may not be '.' or '..'"
    if name in documents:
        return f"a name may not be {name}, which is the key of metadata"
    for character, called in (("/", "a slash"), ("\\", "a backslash"), ("\0", "a NUL")):
        if character in name:
            return f"a name may not contain {called}"
    return None


def reserved(name: str) -> str | None:
    """Return the rule of v3 that the name of a new node breaks; None if it breaks none.

    There are nodes with such names: xarray calls unnamed arrays ``__xarray_dataarray_variable__``.
    https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#node-names

    >>> reserved("temperature"), reserved("...")
    (None, 'a name may not consist of dots only')
    """
    if name and not name.strip("."):
        return "a name may not consist of dots only"
    return 'a name may not start with "__", which is reserved' if name.startswith("__") else None


def check_path(path: str, rule: Callable[[str], str | None] = unusable) -> str:
    """Return the path, if nodes may have all the names in it; ``"/"`` becomes ``""``, the root.

    Raise `PathError` if a name breaks a rule, which the text says. Raise `TypeError` if the path is not a string.

    - `rule`: returns what is wrong with a name, or None; each format has its own.

    >>> check_path("a/b"), check_path("/")
    ('a/b', '')
    """
    if not isinstance(path, str):
        raise TypeError(f"expected a path as text, like 'a/b', found {path!r}")
    if path in ("", "/"):
        return ""
    for name in path.split("/"):
        problem = rule(name)
        if problem is not None:
            raise PathError(f"{path!r} is no path of a node: {problem}")
    return path


def ancestors(path: str) -> list[str]:
    """Return the paths above a path, outermost first.

    >>> ancestors("a/b/c"), ancestors("")
    (['', 'a', 'a/b'], [])
    """
    names = path.split("/") if path else []
    return ["/".join(names[:depth]) for depth in range(len(names))]


def depth(path: str) -> int:
    """Return how many nodes are above a path.

    >>> depth("a/b"), depth("a"), depth("")
    (2, 1, 0)
    """
    return path.count("/") + 1 if path else 0


def innermost(key: str, prefixes: Container[str]) -> str | None:
    """Return the longest of these prefixes, which are empty or end with a slash, that a key has; None if it has none.

    >>> innermost("a/b/c", {"", "a/"}), innermost("a/b/c", {"b/"})
    ('a/', None)
    """
    end = len(key)
    while end > 0:
        end = key.rfind("/", 0, end - 1) + 1
        if key[:end] in prefixes:
            return key[:end]
    return None


def join(path: str, name: str) -> str:
    """Return the path of the node `name` below the node at `path`, which may itself be a path, or empty.

    >>> join("a", "b/c"), join("", "b"), join("a", "")
    ('a/b/c', 'b', 'a')
    """
    return f"{path}/{name}" if path and name else path or name
