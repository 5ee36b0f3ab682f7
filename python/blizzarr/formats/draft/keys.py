"""The two spellings of the draft, and its keys of documents and chunks: two trees, ``meta/`` and ``data/``.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#storage-keys
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from blizzarr.model import ChunkKeys

_LETTERS: Final = "ASCII letters, digits, '-', '_' and '.', not of dots only: the draft has no others"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


def name_problem(name: str) -> str | None:
    """Return why no node may have this name; `None` if it may. Case matters.

    >>> name_problem("a-1.b_C"), name_problem("größe")
    (None, "a name may only have ASCII letters, digits, '-', '_' and '.', not of dots only: the draft has no others")
    """
    return None if _NAME.fullmatch(name) and name.strip(".") else f"a name may only have {_LETTERS}"


ENTRY: Final = "zarr.json"
"""The key of the entry point, the document of the hierarchy as a whole."""
KINDS: Final = ("array", "group")
"""The kinds of nodes, in the order in which they are searched."""
CONSOLIDATED: Final = "consolidated"
"""The group in which zarr-python keeps consolidated metadata."""


DEFAULT_SUFFIX: Final = ".json"


class Spelling(Enum):
    """A spelling of the draft; the value is the name of the format."""

    DOCUMENT = "v3_draft"
    ZARR_PYTHON = "v3_draft_zarr_python"


@dataclass(frozen=True, slots=True)
class DraftKeys:
    """The keys of nodes, in one spelling and with one suffix of documents; see `Format` for the methods.

    >>> keys = DraftKeys(Spelling.DOCUMENT)
    >>> keys.document("foo/bar", "array"), keys.document("", "group"), keys.chunk_prefix("foo/bar")
    ('meta/foo/bar.array.json', 'meta/group.json', 'data/foo/bar/')
    >>> keys = DraftKeys(Spelling.ZARR_PYTHON)
    >>> keys.document("foo/bar", "array"), keys.document("", "group"), keys.chunk_prefix("foo/bar")
    ('meta/root/foo/bar.array.json', 'meta/root.group.json', 'data/root/foo/bar/')
    """

    spelling: Spelling
    suffix: str = DEFAULT_SUFFIX

    @property
    def name(self) -> str:
        return self.spelling.value + ("" if self.suffix == DEFAULT_SUFFIX else f":{self.suffix}")

    @property
    def _root(self) -> str:
        return "/root" if self.spelling is Spelling.ZARR_PYTHON else ""

    def document(self, path: str, kind: str) -> str:
        """Return the key of the document that makes a node an array or a group."""
        between = f"/{path}." if path else "." if self._root else "/"
        return f"meta{self._root}{between}{kind}{self.suffix}"

    def consolidated(self) -> str:
        """Return the key of the consolidated metadata of the hierarchy."""
        return f"{self.listing_prefix('')}{CONSOLIDATED}/.zmetadata"

    def node_keys(self, path: str) -> tuple[str, ...]:
        return tuple(self.document(path, kind) for kind in KINDS)

    def document_keys(self, path: str) -> tuple[str, ...]:
        return (*self.node_keys(path), *((self.consolidated(),) if self._root and not path else ()))

    def listing_prefix(self, path: str) -> str:
        return f"meta{self._root}/{path}/" if path else f"meta{self._root}/"

    def chunk_prefix(self, path: str) -> str:
        return f"data{self._root}/{path}/" if path else f"data{self._root}/"

    def node_prefixes(self, path: str) -> tuple[str, ...]:
        return self.listing_prefix(path), self.chunk_prefix(path)

    def node_of(self, key: str) -> str | None:
        if self._root and key == self.consolidated():
            return ""
        for kind in KINDS:
            if key == self.document("", kind):
                return ""
            path = self._within(key, self.listing_prefix(""), kind)
            if path is not None:
                return path
        return None

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
        """Return the names of the members of a group, from a listing of `listing_prefix`.

        Keys of documents show arrays and explicit groups, prefixes also implicit groups. The document of the root,
        which is in the listing of the root, is not a member.
        """
        start = self.listing_prefix(path)
        names = [name for key in keys for kind in KINDS if (name := self._within(key, start, kind)) is not None]
        names += [prefix[len(start) :].rstrip("/") for prefix in prefixes]
        return sorted({name for name in names if name_problem(name) is None})

    def _within(self, key: str, start: str, kind: str) -> str | None:
        """Return the part of a key between a prefix and the ending of such documents; `None` if they do not match."""
        end = f".{kind}{self.suffix}"
        if not key.startswith(start) or not key.endswith(end) or len(key) <= len(start) + len(end):
            return None
        return key[len(start) : -len(end)]

    def chunk_keys_with(self, separator: str) -> ChunkKeys:
        """Return the chunk key encoding with this separator, the only option."""
        make = ChunkKeys.draft_zarr_python if self._root else ChunkKeys.draft
        return make(separator)
