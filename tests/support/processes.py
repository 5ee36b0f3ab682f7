"""Pools of processes that start fast, as they are forked from one that has imported what they need."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

__all__ = ["processes"]

PRELOADED = [
    "blizzarr.array",
    "blizzarr.checking",
    "blizzarr.comparing",
    "blizzarr.copying.array",
    "blizzarr.distributing",
    "blizzarr.recording",
    "blizzarr.stores.object_store",
    "blizzarr.upgrading.run",
    "numpy.testing",
]
"""What each of the processes would import otherwise."""


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """A context with a pool of so many processes."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with ProcessPoolExecutor(count, mp_context=context) as made:
        yield made
