"""Marks of conditional writes, which an object carries on from writer to writer.

The answer to a write may be lost. The request is made again then, and refused, as the object is of another version: our
own, or one that others have made of it since. So each write has a mark, and an object has those of the last writes that
led to it: a write that finds its own was made, one that finds the mark before its own, and not its own, was not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from secrets import token_hex
from typing import Any, Final, TypeAlias

__all__ = ["Marks", "as_metadata", "marks_in", "new_mark", "origin_of"]

Marks: TypeAlias = tuple[str, ...]
"""Those of the last writes, the newest last."""

# Azure takes no hyphens.
_NAME: Final = "blizzarrwrite"
# S3 allows 2 KB of metadata.
_MOST: Final = 48
_BYTES: Final = 8
_MARK: Final = re.compile(rf"[0-9a-f]{{{2 * _BYTES}}}", re.ASCII)


def new_mark() -> str:
    """Return the mark of a write.

    Examples
    --------
    >>> len(new_mark())
    16
    """
    return token_hex(_BYTES)


def origin_of(version: str | None) -> str:
    """Return what stands for the marks of an object that has none, or of no object.

    Examples
    --------
    >>> origin_of(None), origin_of('"5d41"') == origin_of('"5d42"')
    ('536fd5a56c585c00', False)
    """
    return blake2b(repr(version).encode(), digest_size=_BYTES).hexdigest()


def as_metadata(marks: Marks) -> dict[str, str]:
    """Return the metadata with which an object is written; only the last marks are kept.

    Examples
    --------
    >>> as_metadata(("00" * 8, "01" * 8))
    {'blizzarrwrite': '0000000000000000.0101010101010101'}
    """
    return {_NAME: ".".join(marks[-_MOST:])}


def marks_in(metadata: Mapping[Any, Any]) -> Marks:
    """Return the marks in the metadata of an object, none if they are not ours.

    Examples
    --------
    >>> marks_in({"blizzarrwrite": "0000000000000000.0101010101010101"})
    ('0000000000000000', '0101010101010101')
    >>> marks_in({"blizzarrwrite": "something"}), marks_in({})
    ((), ())
    """
    marks = tuple(str(metadata.get(_NAME, "")).split(".")[-_MOST:])
    return marks if all(map(_MARK.fullmatch, marks)) else ()
