"""Which selections zarr-python understands in another way than NumPy, and the names of fields in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from blizzarr.errors import BlizzarrError, OutOfBoundsError, SelectionError
from blizzarr.zarr.errors import VindexInvalidSelectionError, also


def is_orthogonal(key: Any, rank: int) -> bool:
    """Return whether ``array[key]`` is orthogonal in zarr-python: lists or masks with slices, or several masks.

    >>> is_orthogonal((0, slice(None), [1, 3]), 3), is_orthogonal(([0, 1], [1, 3]), 2), is_orthogonal([0, 1], 2)
    (True, False, False)
    """
    if not isinstance(key, tuple):
        return False
    listed = [item for item in key if isinstance(item, list | np.ndarray) and np.ndim(item)]
    if not listed:
        return False
    if any(np.asarray(item).dtype == bool for item in listed):
        return len(key) > 1
    return any(isinstance(item, slice) or item is Ellipsis for item in key) or len(key) < rank


def picks_one(key: Any) -> bool:
    """Return whether a key has nothing but integers of Python: zarr-python makes arrays of elements that these pick.

    >>> picks_one((1, 2)), picks_one(...), picks_one((1, slice(2))), picks_one(np.int64(1))
    (True, False, False, False)
    """
    items = key if isinstance(key, tuple) else (key,)
    return bool(items) and all(isinstance(item, int) for item in items)


def of_way(error: BlizzarrError, way: str, key: Any) -> BlizzarrError:
    """Return an error about a key, which is of zarr-python's class for selecting points, too, if the key does that."""
    items = key if isinstance(key, tuple) else (key,)
    is_of_points = way == "vectorised" or (
        way == "numpy_style" and any(isinstance(item, list | np.ndarray) for item in items)
    )
    is_other = not is_of_points or isinstance(error, OutOfBoundsError)
    return error if is_other else also(error, VindexInvalidSelectionError)


def check_items(key: Any, way: str) -> None:
    """Check that a key has neither None nor a single boolean, with which NumPy adds axes.

    Raise `SelectionError` if it has.
    """
    for item in key if isinstance(key, tuple) else (key,):
        if item is None or isinstance(item, bool | np.bool_):
            reason = f"expected integers, slices and arrays to select, found {item}; NumPy's expand_dims adds axes"
            raise of_way(SelectionError(reason), way, key)


def check_fields(fields: Any, dtype: np.dtype[Any]) -> None:
    """Check that the elements have fields.

    Raise `SelectionError` if they have none.
    """
    if dtype.names is None:
        raise SelectionError(f"expected no fields=, as only records have fields, found {fields!r:.80}")


def split_fields(key: Any) -> tuple[str | list[str] | None, Any]:
    """Take the names of fields out of a key.

    >>> split_fields("a"), split_fields((slice(2), "a", "b")), split_fields((1, 2))
    (('a', Ellipsis), (['a', 'b'], slice(None, 2, None)), (None, (1, 2)))
    """
    items = key if isinstance(key, tuple) else (key,)
    names = [item for item in items if isinstance(item, str)]
    if not names:
        if isinstance(key, list) and key and all(isinstance(item, str) for item in key):
            return key, ...
        return None, key
    rest = tuple(item for item in items if not isinstance(item, str))
    return names[0] if len(names) == 1 else names, rest[0] if len(rest) == 1 else rest or ...


def checked_fields(fields: Any) -> str | list[str]:
    """Return the names of fields as they were given.

    Raise `SelectionError` if they are neither text nor a list of texts.
    """
    if isinstance(fields, str) or (isinstance(fields, list | tuple) and all(isinstance(name, str) for name in fields)):
        return fields if isinstance(fields, str) else list(fields)
    raise SelectionError(f"expected the name of a field or a list of names as fields=, found {fields!r:.80}")


def single_field(fields: Any) -> str:
    """Return the name of the only field.

    Raise `SelectionError` if there are several: zarr-python never wrote more than one at a time.
    """
    names = [fields] if isinstance(fields, str) else checked_fields(fields)
    if len(names) != 1:
        raise SelectionError(f"expected the name of one field to write to, found {names}; write to one after the other")
    return names[0]


class BasicIndexer:
    """What integers and slices select of an array, as far as tifffile asks for it: the shape.

    Examples
    --------
    >>> BasicIndexer((0, slice(1, 3)), shape=(4, 5), chunk_grid=None).shape
    (2,)
    """

    def __init__(self, selection: Any, shape: tuple[int, ...], chunk_grid: Any) -> None:
        self.shape = np.broadcast_to(np.uint8(0), shape)[selection].shape
