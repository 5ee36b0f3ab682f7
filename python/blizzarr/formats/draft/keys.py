"""Keys of documents and chunks in the draft: two trees, ``meta/`` and ``data/``.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#storage-keys
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from blizzarr.formats.draft.spelling import Spelling
from blizzarr.problems import Problems

_LETTERS: Final = "ASCII letters, digits, '-', '_' and '.', not of dots only: the draft has no others"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


def is_name(name: str) -> bool:
    """Return whether a node may have this name; case matters.

    >>> is_name("a-1.b_C"), is_name(""), is_name(".."), is_name("größe")
    (True, False, False, False)
    """
    return _NAME.fullmatch(name) is not None and name.strip(".") != ""


def name_problem(name: str) -> str | None:
    """Return why no node may have this name; `None` if it may."""
    return None if is_name(name) else f"a name may only have {_LETTERS}"


def check_path(path: str, problems: Problems) -> None:
    """Add a problem for each invalid name in a path."""
    for name in path.split("/") if path else ():
        if not is_name(name):
            problems.add("the path", f"names of {_LETTERS}", name)


ENTRY: Final = "zarr.json"
"""The key of the entry point, the document of the hierarchy as a whole."""
KINDS: Final = ("array", "group")
"""The kinds of nodes, in the order in which they are searched."""
CONSOLIDATED: Final = "consolidated"
"""The group in which zarr-python keeps consolidated metadata."""


@dataclass(frozen=True, slots=True)
class NodeKeys:
    """The keys of nodes, in one spelling and with one suffix.

    >>> keys = NodeKeys(Spelling.DOCUMENT, ".json")
    >>> keys.document("foo/bar", "array"), keys.document("", "group"), keys.chunks("foo/bar")
    ('meta/foo/bar.array.json', 'meta/group.json', 'data/foo/bar/')
    >>> keys = NodeKeys(Spelling.ZARR_PYTHON, ".json")
    >>> keys.document("foo/bar", "array"), keys.document("", "group"), keys.chunks("foo/bar")
    ('meta/root/foo/bar.array.json', 'meta/root.group.json', 'data/root/foo/bar/')
    """

    spelling: Spelling
    suffix: str

    @property
    def _rooted(self) -> bool:
        return self.spelling is Spelling.ZARR_PYTHON

    def document(self, path: str, kind: str) -> str:
        """Return the key of the document that makes a node an array or a group."""
        root = "meta/root" if self._rooted else "meta"
        if path:
            return f"{root}/{path}.{kind}{self.suffix}"
        return f"{root}.{kind}{self.suffix}" if self._rooted else f"{root}/{kind}{self.suffix}"

    def consolidated(self) -> str:
        """Return the key of the consolidated metadata of the hierarchy."""
        return f"{self.children('')}{CONSOLIDATED}/.zmetadata"

    def children(self, path: str) -> str:
        """Return the prefix of the keys of documents below a group."""
        root = "meta/root/" if self._rooted else "meta/"
        return f"{root}{path}/" if path else root

    def chunks(self, path: str) -> str:
        """Return the prefix of the chunk keys of an array, or of the arrays below a group."""
        root = "data/root/" if self._rooted else "data/"
        return f"{root}{path}/" if path else root

    def node_of(self, key: str) -> str | None:
        """Return the path of the node to which a document with this key belongs; `None` for other keys.

        >>> keys = NodeKeys(Spelling.DOCUMENT, ".json")
        >>> keys.node_of("meta/foo/baz.array.json"), keys.node_of("meta/array.json"), keys.node_of("data/foo/c0")
        ('foo/baz', '', None)
        """
        if self._rooted and key == self.consolidated():
            return ""
        for kind in KINDS:
            if key == self.document("", kind):
                return ""
            path = self._within(key, self.children(""), kind)
            if path is not None:
                return path
        return None

    def names(self, path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
        """Return the names of the members of a group, from a listing of `children`.

        Keys of documents show arrays and explicit groups, prefixes also implicit groups. The document of the root,
        which is in the listing of the root, is not a member.
        """
        start = self.children(path)
        names = [name for key in keys for kind in KINDS if (name := self._within(key, start, kind)) is not None]
        names += [prefix[len(start) :].rstrip("/") for prefix in prefixes]
        return sorted({name for name in names if is_name(name)})

    def _within(self, key: str, start: str, kind: str) -> str | None:
        """Return the part of a key between a prefix and the ending of such documents; `None` if they do not match."""
        end = f".{kind}{self.suffix}"
        if not key.startswith(start) or not key.endswith(end) or len(key) <= len(start) + len(end):
            return None
        return key[len(start) : -len(end)]
