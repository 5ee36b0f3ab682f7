"""Marks that tie consolidated metadata to the moment at which the documents for it were listed.

A mark is a last line of white space, which every JSON parser skips, in the document that makes the group. Whoever
changes a node below the group removes it. So consolidated metadata in a document of its own (v2, zarr-python's draft)
counts only while the group has the same mark; without a mark, as other programs write it, it always counts.
"""

from __future__ import annotations

import os
import re
from typing import Final

_BITS: Final = 64
_MARK: Final = re.compile(rb"\n[ \t]{%d}" % _BITS)


def new_mark() -> bytes:
    """Return a mark that no document has."""
    return b"\n" + f"{int.from_bytes(os.urandom(_BITS // 8)):0{_BITS}b}".translate({48: " ", 49: "\t"}).encode()


def mark_of(document: bytes | None) -> bytes | None:
    """Return the mark at the end of a document; `None` if there is none.

    >>> mark = new_mark()
    >>> mark_of(b"{}" + mark) == mark, mark_of(b"{}"), unmarked(marked(b"{}", mark))
    (True, None, b'{}')
    """
    end = b"" if document is None else document[-_BITS - 1 :]
    return end if _MARK.fullmatch(end) else None


def marked(document: bytes, mark: bytes) -> bytes:
    """Return a document with this mark in place of any other."""
    return unmarked(document) + mark


def unmarked(document: bytes) -> bytes:
    """Return a document without a mark."""
    return document if mark_of(document) is None else document[: -_BITS - 1]


def is_outdated(consolidated: bytes, group: bytes | None) -> bool:
    """Return whether a node was changed after the documents in this consolidated metadata of a group were listed.

    >>> mark = new_mark()
    >>> is_outdated(b"{}" + mark, b"{}" + mark), is_outdated(b"{}" + mark, b"{}"), is_outdated(b"{}", b"{}" + mark)
    (False, True, False)
    """
    mark = mark_of(consolidated)
    return mark is not None and mark != mark_of(group)
