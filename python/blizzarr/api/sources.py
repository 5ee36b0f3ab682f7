"""The stored array that an object of another library reads."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from blizzarr.api.open import open_array
from blizzarr.array import Array
from blizzarr.array.lazy import LazyArray
from blizzarr.errors import BlizzarrError
from blizzarr.lazy_imports import is_instance
from blizzarr.stores.impossible_keys import innermost


def stored_array(data: Any) -> Array | None:
    """Return the stored array whose elements an object reads: itself, or what it is a layer around; None if not known.

    Layers are views, and those of xarray, around an array of this library or of zarr-python.

    >>> import blizzarr
    >>> z = blizzarr.create_array({}, data=[1, 2, 3])
    >>> stored_array(z) is z, stored_array(z.lazy[1:]) is z, stored_array([1, 2, 3])
    (True, True, None)
    """
    # Indexing and decoding are layers around what is stored.
    while is_instance(data, "xarray.core.utils:NDArrayMixin"):
        data = data.array
    if is_instance(data, "xarray.backends.zarr:ZarrArrayWrapper"):
        data = data.get_array()
    elif is_instance(data, "xarray.backends.common:BackendArray"):
        data = getattr(data, "source", None)  # as the arrays of our own engine call it
    if is_instance(data, "zarr:Array"):
        with suppress(BlizzarrError):  # a store that only zarr-python knows is none that could be replaced here
            # The place is that of the store which wrappers of zarr-python are around.
            return open_array(innermost(data.store), mode="r", path=data.path)
    if isinstance(data, LazyArray):
        data = data.array
    return data if isinstance(data, Array) else None
