"""Comparing elements that are stored with elements that were to be stored, for appends that are repeated.

Equal elements need not be what comes back: an object codec returns a list for a tuple, and lossy codecs return other
numbers. So elements that differ are compared again after they have been through the codecs themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.array.binding import bind
from blizzarr.equality import differing
from blizzarr.model import ArrayMeta
from blizzarr.stores import MappingStore
from blizzarr.transfer import read, write


class _Scratch(MappingStore):
    """A store of chunks without documents."""

    has_documents = False


def stored_alike(stored: npt.NDArray[Any], given: npt.NDArray[Any], metadata: ArrayMeta) -> bool:
    """Return whether `stored` is what reading `given` back from an array with this metadata would return.

    NaN equals NaN, at any depth of an element. The arrays have the same shape and data type.
    """
    if not stored.dtype.hasobject and stored.tobytes() == given.tobytes():
        return True
    return not differing(stored, given).any() or not differing(stored, _read_back(given, metadata)).any()


def written_in_part(stored: npt.NDArray[Any], given: npt.NDArray[Any], metadata: ArrayMeta) -> bool:
    """Return whether `stored` is `given` but for elements, at least one, that read as the fill value."""
    everything = (given.shape, tuple((dim, 0, 1) for dim in range(given.ndim)), False)
    fill = read(bind(_Scratch({}), "", metadata.with_shape(given.shape)), everything)
    blank = ~differing(stored, np.asarray(fill, stored.dtype))
    return bool(blank.any()) and stored_alike(np.where(blank, given, stored), given, metadata)


def _read_back(given: npt.NDArray[Any], metadata: ArrayMeta) -> npt.NDArray[Any]:
    binding = bind(_Scratch({}), "", metadata.with_shape(given.shape))
    everything = (given.shape, tuple((dim, 0, 1) for dim in range(given.ndim)), False)
    write(binding, everything, given)
    return np.asarray(read(binding, everything), given.dtype)
