"""The kinds of data types. Types of one kind differ only in width, and their fill values have the same forms."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """The kind of a data type: what its values are."""

    BOOL = "bool"
    INTEGER = "integer"
    FLOAT = "float"
    COMPLEX = "complex"
    RAW = "raw"
    TIME = "time"
    BYTES = "bytes"
    """Byte strings of a fixed length; trailing zeros are padding."""
    TEXT = "text"
    """Text of a fixed number of characters."""
    STRUCT = "struct"
    OBJECT = "object"
    """Elements of variable length, which are Python objects in memory."""
