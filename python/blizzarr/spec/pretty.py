"""JSON as `repr` shows it: on one line if it fits, else one member per line."""

from __future__ import annotations

from typing import Any

from blizzarr.errors import BlizzarrError
from blizzarr.json_values import dump, quote


class Pretty:
    """Something that `repr` shows as JSON, and that is pickled as the JSON that it is made from."""

    __slots__ = ()

    def _json_shown(self) -> Any:
        """Return the JSON that is shown; by default that of `to_json`."""
        return self.to_json()  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        name = type(self).__qualname__
        try:
            return pretty(self._json_shown(), f"{name}(", ")")
        except BlizzarrError:
            # Functions and raw bytes have no JSON.
            return f"{name}(...)"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_json(),)  # type: ignore[attr-defined]


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
    if len(line) <= width - at or not value or not isinstance(value, dict | list):
        return line
    inner = indent + 2
    parts = [f"{' ' * inner}{name}{_lines(part, width - 1, inner + len(name), inner)}," for name, part in _parts(value)]
    return "\n".join([line[0], *parts, " " * indent + line[-1]])


def _line(value: Any) -> str:
    if isinstance(value, dict | list):
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + ", ".join(name + _line(part) for name, part in _parts(value)) + closing
    if isinstance(value, str):
        return quote(value, "'")
    return str(value) if value is None or isinstance(value, bool) else dump(value)


def _parts(value: dict[str, Any] | list[Any]) -> list[tuple[str, Any]]:
    """Return the members of an object or array, each with the text in front of it."""
    if isinstance(value, list):
        return [("", element) for element in value]
    return [(f"{quote(name, chr(39))}: ", value[name]) for name in sorted(value)]
