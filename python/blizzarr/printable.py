"""Text that may be printed: names, keys and values come from whoever wrote the data, and may hold anything.

A terminal obeys escape sequences, a reader of a log takes a line break for the end of an entry, and marks that change
the direction of writing make one name look like another. Whatever makes text for people passes it through here: errors,
warnings, reports, and the representations of objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HARMLESS = "\u200c\u200d\u00a0\u3000"
"""Joiners within words of Persian and within emoji, and spaces of French and Japanese."""


def printable(text: str) -> str:
    """Return the text on one line, with escapes for control characters and others that a terminal would not show.

    >>> print(printable(f"a{chr(0x1b)}[2J{chr(0x0a)}"))
    a\\x1b[2J\\n
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in _HARMLESS else character.encode("unicode_escape").decode()
        for character in text
    )


def printable_lines(text: str) -> str:
    """Return the same, but with the line breaks of the text, which are then ours.

    >>> print(printable_lines(f"two lines:{chr(0x0a)}a{chr(0x0d)}"))
    two lines:
    a\\r
    """
    return "\n".join(map(printable, text.split("\n")))


def table(rows: Mapping[str, Any], width: int = 13) -> str:
    """Return a line for each name and value, but for those whose value is None.

    >>> print(table({"Name": "/a", "Order": None, "Shape": (2, 3)}, 5))
    Name : /a
    Shape: (2, 3)
    """
    return "\n".join(f"{name:<{width}}: {printable(str(value))}" for name, value in rows.items() if value is not None)


def escape(text: str) -> str:
    """Return text as a part of HTML, without control characters and marks that change the direction of writing.

    >>> escape(f"<b>{chr(0x202E)}")
    '&lt;b&gt;\\\\u202e'
    """
    import html

    return html.escape(printable_lines(text))
