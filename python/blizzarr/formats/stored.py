"""Parsed documents that keep their bytes.

If a node has several documents, a change to one of them must not touch the others, not even their white space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Stored(dict[str, Any]):
    """The parsed document that makes a node, with the bytes of all documents of that node.

    - `document`: the parsed document.
    - `raw`: the bytes of each document of the node, by the last part of its key.

    >>> stored = Stored({"zarr_format": 2}, {".zgroup": b'{"zarr_format":2}'})
    >>> stored["zarr_format"], stored.raw[".zgroup"]
    (2, b'{"zarr_format":2}')
    """

    __slots__ = ("frame", "raw")

    raw: Mapping[str, bytes]
    frame: object
    """The bytes around the shape, for `v3_resized`, if they are known."""

    def __init__(self, document: Mapping[str, Any], raw: Mapping[str, bytes]) -> None:
        super().__init__(document)
        self.raw, self.frame = raw, None

    def __reduce__(self) -> tuple[Any, ...]:
        return Stored, (dict(self), dict(self.raw))
