"""Writing arrays that users give, or other views, to a view."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from blizzarr.config import config
from blizzarr.errors import NotReadableError, SpecError
from blizzarr.indexing.form import Form, Map
from blizzarr.tensorstore.conversion import can_convert, convert, is_implicit
from blizzarr.tensorstore.driver import Elements
from blizzarr.tensorstore.elements import as_elements
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.compose import compose

if TYPE_CHECKING:
    from blizzarr.tensorstore.store import TensorStore


def as_source(value: Any, target: TensorStore) -> Elements:
    """Return what a user gives to be written as elements of the data type of a view.

    Raises
    ------
    SpecError, TypeError, OverflowError
        When it does not convert.
    """
    shape = target.shape
    if type(value) is np.ndarray and value.shape == shape and value.dtype == target.dtype._element_dtype:
        return value if value.dtype.kind != "O" else as_elements(value, target.dtype)
    return as_elements(value, target.dtype, len(shape))


def fitted(found: Elements, target: TensorStore) -> Elements:
    """Broadcast elements to the shape of a view.

    Raises
    ------
    SpecError
        When a length does not fit.
    """
    shape = target.shape
    if found.shape == shape:
        return found
    align(IndexDomain(shape=found.shape)._form, target._form)
    return np.broadcast_to(found, shape)


def check_source(source: TensorStore, target: TensorStore) -> TensorStore:
    """Check that a source can be written to a target, and return the view of it with the target's domain.

    Raises
    ------
    SpecError
        When it cannot be read, its elements cannot become those of the target unasked, or its lengths do not fit.
    """
    if not source.readable:
        raise NotReadableError("Source does not support reading.")
    if not is_implicit(source.dtype, target.dtype):
        asked = can_convert(source.dtype, target.dtype)
        lead = "Explicit data type conversion required to convert" if asked else "Cannot convert"
        raise SpecError(f"{lead} {source.dtype.name} -> {target.dtype.name}")
    aligned = align(source._form, target._form)
    return source._with_form(compose(source._form, aligned))


def copy_view(source: TensorStore, target: TensorStore) -> None:
    """Write one view into another of the same domain, piece by piece, each of whole chunks of the target."""
    for piece in pieces(target):
        part = source._with_form(compose(source._form, piece._form))
        found = part._driver.read(part)
        elements = convert(found, source.dtype, target.dtype)
        into = target._with_form(compose(target._form, piece._form))
        into._driver.write(into, elements)


def pieces(store: TensorStore) -> Iterator[IndexTransform]:
    """The domain of a view in boxes of whole write chunks, as large as memory that is set aside for copies allows."""
    domain, shape = store.domain, store.shape
    itemsize = max(store.dtype.numpy_dtype.itemsize, 1)
    explicit = domain._form._replace(implicit_lower=(False,) * len(shape), implicit_upper=(False,) * len(shape))
    whole = IndexTransform(IndexDomain._of(explicit))
    if not prod(shape):
        return
    if prod(shape) * itemsize <= config.copy_bytes:
        yield whole
        return
    grid = store.chunk_layout.write_chunk
    lengths = [length or size for length, size in zip(grid.shape or (0,) * len(shape), shape, strict=True)]
    origin = [at or 0 for at in store.chunk_layout.grid_origin or (0,) * len(shape)]
    # Grown from the last dimension on, so that a piece is as contiguous as can be.
    for dim in reversed(range(len(shape))):
        rest = prod(min(length, size) for length, size in zip(lengths, shape, strict=True)) * itemsize
        lengths[dim] *= max(1, min(-(-shape[dim] // lengths[dim]), config.copy_bytes // max(1, rest)))
    starts = []
    for low, size, length, at in zip(domain.origin, shape, lengths, origin, strict=True):
        first = at + (low - at) // length * length
        starts.append([(max(low, edge), min(low + size, edge + length)) for edge in range(first, low + size, length)])
    for box in product(*starts):
        yield whole[IndexDomain(inclusive_min=[low for low, _ in box], exclusive_max=[high for _, high in box])]


def align(source: Form, target: Form) -> Form:
    """The transform from the domain of the target to that of the source.

    Raises
    ------
    SpecError
        When a length does not fit.

    Examples
    --------
    >>> from blizzarr.views import IndexDomain
    >>> align(IndexDomain(shape=[1, 4])._form, IndexDomain(shape=[2, 3, 4])._form).maps
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
