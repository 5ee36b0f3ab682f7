"""Where documents and chunks of the draft are: two trees, ``meta/`` and ``data/``.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#storage-keys
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from blizzarr.formats.draft.names import is_name
from blizzarr.formats.draft.spelling import Spelling

__all__ = ["CONSOLIDATED", "ENTRY", "KINDS", "NodeKeys"]

ENTRY: Final = "zarr.json"
"""The document of the hierarchy as a whole, the entry point."""
KINDS: Final = ("array", "group")
"""In the order in which they are looked for."""
CONSOLIDATED: Final = "consolidated"
"""The group in which zarr-python keeps consolidated metadata."""


@dataclass(frozen=True, slots=True)
class NodeKeys:
    """The keys of nodes, in one spelling and with one suffix.

    Examples
    --------
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
        """The key of the document that makes a node an array or a group."""
        root = "meta/root" if self._rooted else "meta"
        if path:
            return f"{root}/{path}.{kind}{self.suffix}"
        return f"{root}.{kind}{self.suffix}" if self._rooted else f"{root}/{kind}{self.suffix}"

    def consolidated(self) -> str:
        """The key of the consolidated metadata of the hierarchy."""
        return f"{self.children('')}{CONSOLIDATED}/.zmetadata"

    def children(self, path: str) -> str:
        """What the keys of documents below a group begin with."""
        root = "meta/root/" if self._rooted else "meta/"
        return f"{root}{path}/" if path else root

    def chunks(self, path: str) -> str:
        """What the keys of an array's chunks begin with, and those of the arrays below a group."""
        root = "data/root/" if self._rooted else "data/"
        return f"{root}{path}/" if path else root

    def node_of(self, key: str) -> str | None:
        """The path of the node that a document with this key belongs to; `None` for other keys.

        Examples
        --------
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
        """The names of what is below a group, by a listing of `children`.

        Documents name arrays and explicit groups, prefixes those and implicit groups. The document of the root, which
        shows up in the listing of the root too, names none.
        """
        start = self.children(path)
        found = [name for key in keys for kind in KINDS if (name := self._within(key, start, kind)) is not None]
        found += [prefix[len(start) :].rstrip("/") for prefix in prefixes]
        return sorted({name for name in found if is_name(name)})

    def _within(self, key: str, start: str, kind: str) -> str | None:
        """What stands in a key between a prefix and the ending of documents of this kind."""
        end = f".{kind}{self.suffix}"
        if not key.startswith(start) or not key.endswith(end) or len(key) <= len(start) + len(end):
            return None
        return key[len(start) : -len(end)]
