"""The kinds of data types; types of one kind differ by width only, and share the forms of their fill values."""

from __future__ import annotations

from enum import Enum

__all__ = ["Kind"]


class Kind(Enum):
    """What the values of a data type are."""

    BOOL = "bool"
    INTEGER = "integer"
    FLOAT = "float"
    COMPLEX = "complex"
    RAW = "raw"
    TIME = "time"
    BYTES = "bytes"
    """Byte strings of a fixed length, without the zeros at the end."""
    TEXT = "text"
    """Text of a fixed number of characters."""
    STRUCT = "struct"
    OBJECT = "object"
    """Elements of variable length, which are objects of Python in memory."""
