"""Chunks of objects as nested lists with their shape, as numcodecs stores them in JSON and MessagePack.

After the members along the first axis, the list of a chunk has two more: the data type, ``"|O"``, and the shape. The
axes are always in C order, also if the array is in F order.

>>> nest([1, 2, 3, 4, 5, 6], (3, 2))
[[1, 2], [3, 4], [5, 6], '|O', [3, 2]]
>>> flatten([[1, 2], [3, 4], [5, 6], "|O", [3, 2]], (3, 2))
[1, 2, 3, 4, 5, 6]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blizzarr.errors import CodecError
from blizzarr.problems import describe


def nest(elements: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
    """Return the list for the objects of a chunk, which are given in C order."""
    items: list[Any] = list(elements)
    for length in reversed(shape[1:]):
        items = [items[start : start + length] for start in range(0, len(items), length)]
    return [*items, "|O", list(shape)]


def flatten(items: Any, shape: tuple[int, ...]) -> list[Any]:
    """Return the objects of a chunk of this shape, in C order; objects may be lists themselves.

    Raise `CodecError` if the list does not have this shape.
    """
    if not isinstance(items, list) or len(items) < 2 or items[-1] != list(shape):
        found = describe(items[-1]) if isinstance(items, list) and items else describe(items)
        raise CodecError(f"expected a list that ends with the shape {list(shape)}, found {found}")
    level = items[:-2]
    _check(level, shape[0] if shape else 1)
    for length in shape[1:]:
        for item in level:
            _check(item, length)
        level = [element for item in level for element in item]
    return level


def _check(items: Any, length: int) -> None:
    if not isinstance(items, list) or len(items) != length:
        found = f"{len(items)}" if isinstance(items, list) else describe(items)
        raise CodecError(f"expected a list of {length} elements, found {found}")
