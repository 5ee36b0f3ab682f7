"""Fields of records: reading them by name, and writing one of them without the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blizzarr.array.binding import bind
from blizzarr.array.element_bytes import swap_of_bytes
from blizzarr.array.facts import binding_of
from blizzarr.array.selector import Lower, lowered
from blizzarr.errors import SelectionError
from blizzarr.stores import check_writable
from blizzarr.transfer import as_source, write

if TYPE_CHECKING:
    from blizzarr.array.array import Array


def is_fields(key: Any) -> bool:
    """Return whether a key is the name of a field, or a list of names, as for NumPy.

    >>> is_fields("a"), is_fields(["a", "b"]), is_fields([1]), is_fields([])
    (True, True, False, False)
    """
    return isinstance(key, str) or (isinstance(key, list) and bool(key) and all(isinstance(name, str) for name in key))


def take_fields(records: Any, names: str | Sequence[str]) -> Any:
    """Return one field of records, or records of several, in memory of their own.

    Raise `SelectionError` if there is no such field.
    """
    from numpy.lib.recfunctions import repack_fields

    for name in [names] if isinstance(names, str) else names:
        _dtype(records.dtype, name)
    taken = records[names if isinstance(names, str) else list(names)]
    return taken.copy() if isinstance(names, str) else repack_fields(taken)


def write_field(array: Array, lower: Lower, key: Any, name: str, value: npt.ArrayLike) -> None:
    """Write to one field of the records that are selected; the others stay, whoever writes these at the same time.

    Raise `SelectionError` if there is no such field. For other errors see `Array.__setitem__`.
    """
    check_writable(array.store, array.path)
    metadata = array.metadata
    dtype, offset = _dtype(metadata.dtype.numpy, name)
    shape, axes, _ = lowered(array, lower, key)
    source = np.array(as_source(value, (*shape, *dtype.shape), dtype.base), order="C")
    if swap_of_bytes(metadata):
        source = source.byteswap()
    raw = np.frombuffer(source.tobytes(), np.uint8).reshape(*shape, dtype.itemsize)
    write_empty = binding_of(array).write_empty
    binding = replace(bind(array.store, array.path, metadata, by_bytes=True), write_empty=write_empty)
    write(binding, (raw.shape, (*axes, (len(shape), offset, 1)), False), raw)


def _dtype(dtype: np.dtype[Any], name: str) -> tuple[np.dtype[Any], int]:
    """Return the data type of a field, and its offset in a record."""
    if dtype.names is None:
        raise SelectionError(
            f"expected integers, slices and arrays as indices, found the name {name!r}; only records "
            f"have fields, and these elements are {dtype}",
            index=name,
        )
    if name not in dtype.names:
        raise SelectionError(
            f"expected the name of a field ({', '.join(map(repr, dtype.names))}), found {name!r:.80}", index=name
        )
    fields = dtype.fields
    assert fields is not None, "as there are names"
    return fields[name][0], fields[name][1]
