"""The objects whose elements Dask's tasks read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def sources(collection: Any) -> Iterator[Any]:
    """Iterate over the objects whose elements the tasks of a collection read, as far as its graph names them.

    Dask's functions that read arrays do so, unless they are told to put them into each task (``inline_array=True``).

    >>> import dask.array as da
    >>> import numpy as np
    >>> import blizzarr
    >>> z = blizzarr.create_array({}, data=[1, 2, 3])
    >>> [found] = sources(da.from_array(z) + 1)
    >>> found is z
    True
    """
    for name, layer in collection.__dask_graph__().layers.items():
        if name.startswith("original-"):
            yield from layer.values()
