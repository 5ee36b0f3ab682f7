"""Examples in docstrings that have no heading, and literal blocks, as Markdown has them."""

from __future__ import annotations

import re
from typing import Any

import griffe

_HEADING = re.compile(r"^[A-Z][A-Za-z ]*\n-{3,}$", re.MULTILINE)
_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)
_LITERAL = re.compile(r"(\s*)::$", re.MULTILINE)


def as_markdown(text: str) -> str:
    """Return the text with its examples fenced and without the marks of literal blocks.

    - `text`: the docstring. What stands below a heading of numpydoc is left alone.
    """
    heading = _HEADING.search(text)
    end = heading.start() if heading else len(text)
    head = _EXAMPLE.sub(lambda match: f"```python\n{match[0]}\n```", text[:end])
    # Marks behind a space, or on a line of their own, stand for nothing else.
    return _LITERAL.sub(lambda match: "" if match[1] else ":", head) + text[end:]


class Docstrings(griffe.Extension):
    """Adapts the docstrings of whatever has one."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Adapt the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
