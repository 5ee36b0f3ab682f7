"""Refusing targets that tasks of Dask in other processes cannot write to."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import dask.multiprocessing
from dask.base import get_scheduler

from blizzarr.distributing import refuse_memory
from blizzarr.stores import Store


def check_tasks_share(store: Store, collection: Any) -> None:
    """Check that the tasks of a collection, if they were computed now, could write to a store.

    Raise `UnsupportedOperationError` if the store is in the memory of this process, and Dask would work in others.

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
        refuse_memory(store, "compute with scheduler='threads', or write to a directory")
