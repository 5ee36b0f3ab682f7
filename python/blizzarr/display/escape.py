"""Escaping text for HTML."""

from __future__ import annotations

import html

from blizzarr.printable import printable_lines


def escape(text: str) -> str:
    """Return text as a part of HTML, without control characters and marks that change the direction of writing.

    >>> escape(f"<b>{chr(0x202E)}")
    '&lt;b&gt;\\\\u202e'
    """
    return html.escape(printable_lines(text))
