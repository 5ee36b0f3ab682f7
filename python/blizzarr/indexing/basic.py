"""The fast path for keys of integers, slices, `...` and `newaxis`, which most calls use.

It builds the engine's axes directly, because it runs on every `array[key]`. It raises no errors: any key that it does
not take, for whatever reason, goes through `blizzarr.indexing.dialect`, which decides the meaning of all keys and says
what is wrong with a bad one. Tests show that the two agree wherever this one gives an answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blizzarr.indexing.selection import Axis, Lowered


def lower_basic(key: Any, shape: tuple[int, ...]) -> Lowered | None:
    """Lower a basic key for an array of this shape; return None for all other keys, valid or not.

    >>> lower_basic((slice(None, None, 2), -1), (10, 4))
    ((5,), ((0, 0, 2), 3), False)
    >>> lower_basic(10, (10, 4)) is None
    True
    """
    items = key if type(key) is tuple else (key,)
    rank = len(shape)
    domain: list[int] = []
    axes: list[Axis] = []
    axis = 0
    scalar = True
    for item in items:
        kind = type(item)
        if kind is slice:
            if axis == rank:
                return None
            try:
                start, stop, step = item.indices(shape[axis])
            except (TypeError, ValueError):
                return None
            count = len(range(start, stop, step))
            # The step of a slice with fewer than two elements may not fit into 64 bits.
            axes.append((len(domain), start, step if count > 1 else 1))
            domain.append(count)
            axis += 1
        elif kind is int or (isinstance(item, np.integer) and kind is not np.timedelta64):
            if axis == rank:
                return None
            index = int(item)
            size = shape[axis]
            if index < 0:
                index += size
            if not 0 <= index < size:
                return None
            axes.append(index)
            axis += 1
        elif item is Ellipsis:
            # It stands for the axes that the other items leave. Masks, which take several axes each, go the long way.
            taken = len(items) - 1
            for other in items:
                if other is None:
                    taken -= 1
            if taken > rank or not scalar:
                return None
            scalar = False
            for length in shape[axis : axis + rank - taken]:
                axes.append((len(domain), 0, 1))
                domain.append(length)
            axis += rank - taken
        elif item is None:
            domain.append(1)
        else:
            return None
    for length in shape[axis:]:
        axes.append((len(domain), 0, 1))
        domain.append(length)
    return tuple(domain), tuple(axes), scalar and not domain
