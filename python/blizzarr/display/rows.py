"""Elements of an array as lines of text: for people, as CSV, as JSON; read in parts, so that arrays of any size fit."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from blizzarr.display.region import Region, chunk_lengths
from blizzarr.dtypes.value_text import value_text
from blizzarr.printable import printable

_BLOCK_BYTES: Final = 32 << 20
_TEXT_BYTES: Final = 4 << 20
"""The same for elements that become text, which takes about 30 times as much memory, and a second."""
_MOST_BYTES: Final = 256 << 20
"""Whole chunks are read at once unless they take more than this."""
_OF_OTHERS: Final = 2
"""The value of `numpy.dtype.isbuiltin` for types of other packages, which NumPy cannot convert to text."""

Texts: TypeAlias = NDArray[Any]


def blocks(region: Region, most: int = _BLOCK_BYTES) -> Iterator[NDArray[Any]]:
    """Yield the elements of a region in parts along its first axis, in order, of at most so many bytes or one chunk."""
    if not region.axes or 0 in map(len, region.axes):
        yield region.read()
        return
    rows = max(1, most // max(1, _row_bytes(region)))
    length = _chunk_length(region)
    if not _is_too_large(region):
        # The parts are whole chunks, so that no chunk is decoded twice.
        rows = max(length, rows // length * length)
    for start in range(0, len(region.axes[0]), rows):
        yield region.narrowed(0, slice(start, start + rows)).read()


def _row_bytes(region: Region) -> int:
    return math.prod(len(axis) for axis in region.axes[1:]) * region.array.dtype.itemsize


def _chunk_length(region: Region) -> int:
    chunks = chunk_lengths(region.array)
    return chunks[region.axes[0].number] if chunks else 1


def _is_too_large(region: Region) -> bool:
    """Return whether the rows that a chunk has along the first axis are too large to be read at once."""
    return min(len(region.axes[0]), _chunk_length(region)) * _row_bytes(region) > _MOST_BYTES


def as_text(region: Region) -> Iterator[str]:
    """Yield lines for people: aligned columns; of more than two axes, one table for each index along the first ones."""
    for indices, start, table in _tables(region):
        if indices is not None and start == 0:
            yield f"# [{', '.join(map(str, indices))}, :, :]"
        cells = table.tolist()
        if region.array.dtype.kind in "SUO":
            # Elements are data of others: a terminal must not obey their control characters.
            cells = [list(map(printable, row)) for row in cells]
        wide = max((len(cell) for row in cells for cell in row), default=0)
        if len(region.axes) < 2 and region.array.dtype.kind in "SUO":
            wide = 0  # grep and uniq would take the blanks for a part of the text
        for row in cells:
            yield " ".join(f"{cell:>{wide}}" for cell in row)


def as_csv(region: Region) -> Iterator[str]:
    """Yield comma-separated lines; of more than two axes, the first ones have columns for their indices.

    Records along a single axis are the rows of a table, which begins with the names of their fields.
    """
    if len(region.axes) == 1 and region.array.dtype.names is not None:
        yield from _table_of_records(region, region.array.dtype.names)
        return
    if len(region.axes) > 2:
        names = [axis.name for axis in region.axes[:-1]]
        yield ",".join([*map(_quoted, names), *(str(index) for index in region.axes[-1].indices)])
    for indices, start, table in _tables(region):
        for number, row in enumerate(table, start):
            leading = [] if indices is None else [*map(str, indices), str(region.axes[-2].indices[number])]
            yield ",".join(chain(leading, map(_quoted, row)))


def _table_of_records(region: Region, names: tuple[str, ...]) -> Iterator[str]:
    yield ",".join(map(_quoted, names))
    for block in blocks(region, _TEXT_BYTES):
        fields = [block[name] for name in names]
        columns = [list(map(_json, field)) if field.ndim > 1 else _texts(field).tolist() for field in fields]
        for row in zip(*columns, strict=True):
            yield ",".join(map(_quoted, row))


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\n\r') else cell


def _tables(region: Region) -> Iterator[tuple[tuple[int, ...] | None, int, Texts]]:
    """Yield the elements as tables of text over the last two axes, with the indices along the other axes.

    A large table comes in parts, each with the number of its first row.
    """
    rank = len(region.axes)
    start = 0
    if rank >= 3 and _is_too_large(region):
        for number, index in enumerate(region.axes[0].indices):
            for others, first, table in _tables(region.at(0, number)):
                yield (index, *(others or ())), first, table
        return
    for block in blocks(region, _TEXT_BYTES):
        texts = _texts(block)
        if rank < 3:
            yield None, start, texts.reshape(-1, 1) if rank < 2 else texts
        else:
            for position in np.ndindex(texts.shape[:-2]):
                along = (position[0] + start, *position[1:])
                indices = tuple(axis.indices[index] for axis, index in zip(region.axes, along, strict=False))
                yield indices, 0, texts[position]
        start += len(block) if rank else 1


def _texts(values: NDArray[Any]) -> Texts:
    """Return each element as text; numbers have as many digits as distinguish them."""
    if values.dtype.kind == "S":
        return np.char.decode(values, "utf-8", "backslashreplace")
    if values.dtype.names is not None:
        flat = [json_value(element) for element in values.reshape(-1, 1)]
        return np.array(flat, object).reshape(values.shape)
    if values.dtype.kind == "V" and values.dtype.type is np.void:
        flat = [element.tobytes().hex() for element in values.ravel()]
        return np.array(flat, np.str_).reshape(values.shape)
    if values.dtype.kind == "O":
        # NumPy's own text would lose zeros at its end.
        return np.fromiter(map(text_of, values.ravel().tolist()), np.dtype(object), values.size).reshape(values.shape)
    kind = values.dtype.kind
    if kind == "m" or (kind == "M" and np.datetime_data(values.dtype)[0] == "generic"):
        # NumPy's own conversion cuts off the units of durations, and fails for times without a unit.
        return np.array([value_text(element) for element in values.ravel()], np.str_).reshape(values.shape)
    if values.dtype.isbuiltin == _OF_OTHERS:
        return np.array([str(element) for element in values.ravel()], np.str_).reshape(values.shape)
    return values.astype(np.str_)


def as_json(region: Region) -> Iterator[str]:
    """Return nested lists as JSON text; complex numbers become pairs, and not-a-numbers text like ``"NaN"``."""
    if not region.axes:
        elements = region.read()
        yield json_of(elements[()]) if elements.dtype == object else _json(elements)
        return
    yield "["
    first = True
    for block in blocks(region):
        for row in block:
            yield ("\n" if first else ",\n") + (json_of(row) if block.dtype == object else _json(np.asarray(row)))
            first = False
    yield "\n]"


def _json(values: NDArray[Any]) -> str:
    if values.dtype.kind in "biu" or (values.dtype == np.float64 and np.isfinite(values).all()):
        return json.dumps(values.tolist())
    if values.ndim:
        return "[" + ", ".join(_json(np.asarray(part)) for part in values) + "]"
    return json_value(values)


def json_value(value: NDArray[Any]) -> str:
    """Return one element as JSON.

    >>> json_value(np.array(0.1, "float32")), json_value(np.array(np.inf)), json_value(np.array(1 + 2j))
    ('0.1', '"Infinity"', '[1.0, 2.0]')
    >>> json_value(np.array((1, b"x"), [("i", "i4"), ("s", "S2")]))
    '{"i": 1, "s": "x"}'
    """
    if value.dtype.names is not None:
        record = value.reshape(())
        return "{" + ", ".join(f"{json.dumps(name)}: {_json(record[name])}" for name in value.dtype.names) + "}"
    if value.dtype.kind == "c":
        return f"[{json_value(value.real)}, {json_value(value.imag)}]"
    text = str(_texts(value)[()])
    if value.dtype.kind == "b":
        return text.lower()
    if value.dtype.kind in "iu":
        return text
    try:
        number = float(text) if value.dtype.kind not in "SUmM" else None
    except ValueError:
        number = None
    if number is None:
        return json.dumps(text)
    if math.isfinite(number):
        return text
    return '"NaN"' if math.isnan(number) else '"Infinity"' if number > 0 else '"-Infinity"'


def text_of(element: Any) -> str:
    """Return an object as text: text as it is, any other object as JSON.

    >>> text_of("a"), text_of(b"a\\xff"), text_of([1, None]), text_of(np.array([1, 2]))
    ('a', 'a\\\\xff', '[1, null]', '[1, 2]')
    """
    if isinstance(element, str):
        return element
    return element.decode("utf-8", "backslashreplace") if isinstance(element, bytes) else json_of(element)


def json_of(element: Any) -> str:
    """Return an object as JSON; parts that JSON cannot express become text."""
    return json.dumps(element, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return text_of(value) if isinstance(value, bytes) else str(value)
