"""Tasks of Dask: which objects they read, and which targets they cannot write to, as they run in other processes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import cloudpickle
import dask.multiprocessing
from dask.base import get_scheduler

from blizzarr.api.sources import stored_array
from blizzarr.array import Array
from blizzarr.distributing import pickled
from blizzarr.stores import Store


def check_tasks_share(store: Store, collection: Any) -> None:
    """Check that the tasks of a collection, if they were computed now, could write to a store.

    Raise `UnsupportedOperationError` if Dask would work in other processes, and the store is in the memory of this one,
    or is a zip file, which has one writer.

    >>> import dask.array as da
    >>> from blizzarr.stores import MemoryStore
    >>> check_tasks_share(MemoryStore(), da.ones(3))
    """
    get = get_scheduler(collections=[collection])
    # That of an executor is a call of its `submit`, that of a client a method of it.
    owner = getattr(get.args[0] if isinstance(get, partial) else get, "__self__", None)
    # A client whose workers are threads of this process shares some kinds of memory with them.
    address = getattr(getattr(owner, "scheduler", None), "address", "inproc:")
    if get is dask.multiprocessing.get or isinstance(owner, ProcessPoolExecutor) or not address.startswith("inproc:"):
        # As Dask does, so that stores of classes that are local to a function pass.
        pickled(store, store, "compute with scheduler='threads', or write to a directory", cloudpickle.dumps)


def sources(collection: Any) -> Iterator[Array]:
    """Iterate over the stored arrays whose elements the tasks of a collection read, as far as its graph names them.

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
            yield from (array for array in map(stored_array, layer.values()) if array is not None)
