"""Writing arrays that users give, or other views, to a view."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np

from blizzarr.config import config
from blizzarr.errors import NotReadableError, SpecError
from blizzarr.indexing.form import Form, Map
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.dtype import DType, element_dtype
from blizzarr.spec.through_view import layout_of_view
from blizzarr.tensorstore.conversion import as_elements, can_convert, convert, is_implicit
from blizzarr.tensorstore.driver import Driver, Elements
from blizzarr.views.compose import compose
from blizzarr.views.cutting import cut


def as_source(value: Any, shape: tuple[int, ...], dtype: DType) -> Elements:
    """Return what a user gives to be written as elements of the data type of a view.

    Raise `SpecError`, `TypeError` or `OverflowError` when it does not convert.
    """
    if type(value) is np.ndarray and value.shape == shape and value.dtype == element_dtype(dtype):
        return value if value.dtype.kind != "O" else as_elements(value, dtype)
    return as_elements(value, dtype, len(shape))


def fitted(elements: Elements, target: Form) -> Elements:
    """Broadcast elements to the shape of a view.

    Raise `SpecError` when a length does not fit.
    """
    shape = target.shape
    if elements.shape == shape:
        return elements
    align(Form.of_shape(elements.shape), target)
    return np.broadcast_to(elements, shape)


def copy_view(source: Driver, source_form: Form, target: Driver, target_form: Form) -> None:
    """Write one view into another, piece by piece, each of whole chunks of the target.

    Raise `SpecError` when the source cannot be read, its elements cannot become those of the target unasked, or its
    lengths do not fit.
    """
    source_form = source.current(source_form)
    if not source.readable:
        raise NotReadableError("Source does not support reading.")
    if not is_implicit(source.dtype, target.dtype):
        asked = can_convert(source.dtype, target.dtype)
        lead = "Explicit data type conversion required to convert" if asked else "Cannot convert"
        raise SpecError(f"{lead} {source.dtype.name} -> {target.dtype.name}")
    aligned = compose(source_form, align(source_form, target_form))
    layout = layout_of_view(target.schema.chunk_layout, target_form)
    for piece in pieces(target_form, target.dtype.numpy_dtype.itemsize, layout):
        elements = source.read(cut(aligned, piece))
        target.write(cut(target_form, piece), convert(elements, source.dtype, target.dtype))


def pieces(form: Form, itemsize: int, layout: ChunkLayout) -> Iterator[Form]:
    """The domain of a view in boxes of whole write chunks, as large as memory that is set aside for copies allows."""
    shape, itemsize = form.shape, max(itemsize, 1)
    if not prod(shape):
        return
    if prod(shape) * itemsize <= config.copy_bytes:
        yield form.domain
        return
    grid = layout.write_chunk
    lengths = [length or size for length, size in zip(grid.shape or (0,) * len(shape), shape, strict=True)]
    origin = [at or 0 for at in layout.grid_origin or (0,) * len(shape)]
    # Grown from the last dimension on, so that a piece is as contiguous as can be.
    for dim in reversed(range(len(shape))):
        rest = prod(min(length, size) for length, size in zip(lengths, shape, strict=True)) * itemsize
        lengths[dim] *= max(1, min(-(-shape[dim] // lengths[dim]), config.copy_bytes // max(1, rest)))
    starts = []
    for low, size, length, at in zip(form.lower, shape, lengths, origin, strict=True):
        first = at + (low - at) // length * length
        starts.append([(max(low, edge), min(low + size, edge + length)) for edge in range(first, low + size, length)])
    for box in product(*starts):
        yield form.domain._replace(lower=tuple([low for low, _ in box]), upper=tuple([high for _, high in box]))


def align(source: Form, target: Form) -> Form:
    """The transform from the domain of the target to that of the source.

    Raise `SpecError` when a length does not fit.

    >>> align(Form.of_shape((1, 4)), Form.of_shape((2, 3, 4))).maps
    (0, (2, 0, 1))
    """
    matches = _matches(source, target)
    maps: list[Map] = []
    problems = []
    for dim, match in enumerate(matches):
        size = source.upper[dim] - source.lower[dim]
        if match is None:
            if size != 1:
                problems.append(f"unmatched source dimension {dim} {_shown(source, dim)} does not have a size of 1")
            maps.append(source.lower[dim])
        elif size == target.upper[match] - target.lower[match]:
            maps.append((match, source.lower[dim] - target.lower[match], 1))
        else:
            if size != 1:
                problems.append(
                    f"source dimension {dim} {_shown(source, dim)} mismatch with target dimension {match} "
                    f"{_shown(target, match)}"
                )
            maps.append(source.lower[dim])
    if problems:
        raise SpecError(f"Error aligning dimensions: {', '.join(problems)}")
    return target.domain._replace(maps=tuple(maps))


def _matches(source: Form, target: Form) -> list[int | None]:
    if not any(source.labels) or not any(target.labels):
        skipped = target.rank - source.rank
        return [dim + skipped if dim + skipped >= 0 else None for dim in range(source.rank)]
    free = [dim for dim, label in enumerate(target.labels) if not label]
    matches: list[int | None] = []
    for label in reversed(source.labels):
        if label:
            matches.append(target.labels.index(label) if label in target.labels else None)
        else:
            matches.append(free.pop() if free else None)
    return matches[::-1]


def _shown(form: Form, dim: int) -> str:
    label = form.labels[dim]
    # Bounds as they are now, implicit or not.
    return (f'"{label}": ' if label else "") + str(form.interval(dim)).replace("*", "")
