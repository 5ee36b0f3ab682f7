"""Text that may be printed: names, keys and values come from whoever wrote the data, and may hold anything.

A terminal obeys escape sequences, a reader of a log takes a line break for the end of an entry, and marks that change
the direction of writing make one name look like another. Whatever makes text for people passes it through here: errors,
warnings, reports, and the representations of objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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


_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def bytes_text(count: int) -> str:
    """Return a number of bytes in the largest unit that fits, with at least three digits.

    >>> bytes_text(17), bytes_text(1536), bytes_text(8_675_289)
    ('17 bytes', '1.50 KiB', '8.27 MiB')
    """
    value = float(count)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1024
    if unit == "bytes":
        return "1 byte" if count == 1 else f"{count} bytes"
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} {unit}"


def count_text(count: int, noun: str) -> str:
    """Return a number of things, which have the noun with an ``s`` unless there is one.

    >>> count_text(1, "chunk"), count_text(8_675, "chunk")
    ('1 chunk', '8,675 chunks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
