"""Elements that are objects of Python, as text and as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def text_of(element: Any) -> str:
    """An object as text: text as it is, any other object as JSON.

    >>> text_of("a"), text_of(b"a\\xff"), text_of([1, None]), text_of(np.array([1, 2]))
    ('a', 'a\\\\xff', '[1, null]', '[1, 2]')
    """
    if isinstance(element, str):
        return element
    return element.decode("utf-8", "backslashreplace") if isinstance(element, bytes) else json_of(element)


def json_of(element: Any) -> str:
    """An object as JSON; parts that JSON cannot express become text."""
    return json.dumps(element, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return text_of(value) if isinstance(value, bytes) else str(value)
