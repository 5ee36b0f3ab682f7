"""JSON as `repr` shows it: on one line if it fits, else one member per line."""

from __future__ import annotations

from typing import Any

from blizzarr.json_values import dump, quote


def pretty(value: Any, prefix: str = "", suffix: str = "", width: int = 80) -> str:
    """Format JSON for `repr`: `prefix`, the sorted members, `suffix`.

    >>> print(pretty({"driver": "memory", "path": None}, "KvStore.Spec(", ")"))
    KvStore.Spec({'driver': 'memory', 'path': None})
    >>> print(pretty({"shape": [1, 2], "name": "x"}, width=20))
    {
      'name': 'x',
      'shape': [1, 2],
    }
    """
    return f"{prefix}{_lines(value, width, 0, 0)}{suffix}"


def _lines(value: Any, width: int, at: int, indent: int) -> str:
    """Format a value that begins at column `at`; further lines are indented by `indent`."""
    line = _line(value)
    if len(line) <= width - at or not isinstance(value, dict | list):
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = []
        for name in sorted(value):
            head = f"{quote(name, chr(39))}: "
            parts.append(inner + head + _lines(value[name], width - 1, indent + 2 + len(head), indent + 2))
    else:
        parts = [inner + _lines(element, width - 1, indent + 2, indent + 2) for element in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not parts:
        return opening + closing
    return opening + "".join(f"\n{part}," for part in parts) + f"\n{' ' * indent}{closing}"


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(name, chr(39))}: {_line(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_line, value)) + "]"
    if isinstance(value, str):
        return quote(value, "'")
    return str(value) if value is None or isinstance(value, bool) else dump(value)
