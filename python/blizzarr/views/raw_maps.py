"""Output maps as users and documents give them, checked against their domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.indexing.form import ArrayMap, Form, IndexArray, Map, identity_maps
from blizzarr.indexing.interval import INF, UNBOUNDED, Bounds
from blizzarr.views.values import MAX_RANK


class RawMap(NamedTuple):
    """An output map that was not checked yet: constant unless it has a dimension or an array."""

    offset: int
    stride: int = 1
    dim: int | None = None
    array: IndexArray | None = None
    bounds: Bounds = UNBOUNDED


def made_maps(domain: Form, raw: Sequence[RawMap] | None) -> Form:
    """Return the domain with these output maps; without any, each position maps to itself.

    Raise `SpecError` if a map does not fit the domain.
    """
    if raw is None:
        return domain._replace(maps=identity_maps(domain.rank))
    if len(raw) > MAX_RANK:
        raise SpecError(f"Number of output dimensions ({len(raw)}) exceeds maximum rank of {MAX_RANK}")
    is_empty = domain.is_empty
    return domain._replace(maps=tuple(_map(map_, domain, is_empty, output) for output, map_ in enumerate(raw)))


def _map(raw: RawMap, domain: Form, is_empty: bool, output: int) -> Map:
    if raw.array is not None:
        dims = _indexing_dims(raw.array, domain, output)
        if is_empty or not raw.stride:
            return 0 if is_empty else raw.offset
        once = tuple(slice(None) if dim in dims else slice(0, 1) for dim in range(domain.rank))
        return ArrayMap(raw.offset, raw.stride, raw.array[once], dims, raw.bounds)
    if raw.dim is None:
        return raw.offset
    if not 0 <= raw.dim < domain.rank:
        raise SpecError(
            f"Input dimension {raw.dim} specified for output dimension {output} is outside valid range "
            f"[0, {domain.rank})"
        )
    return (raw.dim, raw.offset, raw.stride) if raw.stride else raw.offset


def _indexing_dims(array: IndexArray, domain: Form, output: int) -> tuple[int, ...]:
    """Return the dimensions that index an array: those along which it is as long as the domain, not of length 1."""
    if array.ndim != domain.rank:
        raise SpecError(
            f"Index array for output dimension {output} has rank {array.ndim} but must have rank {domain.rank}"
        )
    dims = []
    for dim, (length, size, step) in enumerate(zip(array.shape, domain.shape, array.strides, strict=True)):
        if length == 1:
            continue
        if length != size:
            raise SpecError(
                f"Index array for output dimension {output} has shape {_braced(array.shape)} which does not match "
                f"input_shape {_braced(domain.shape)}"
            )
        if length != 0 and (step == 0 or array.size == 0):
            continue
        if domain.implicit_lower[dim] or domain.implicit_upper[dim]:
            raise SpecError(
                f"Index array for output dimension {output} depends on input dimension {dim} with implicit bounds"
            )
        if domain.lower[dim] == -INF or domain.upper[dim] == INF + 1:
            raise SpecError(
                f"Index array for output dimension {output} depends on input dimension {dim} with infinite bounds"
            )
        dims.append(dim)
    return tuple(dims)


def _braced(shape: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, np.array(shape, object))) + "}"
