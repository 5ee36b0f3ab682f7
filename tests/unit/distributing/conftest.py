"""A pool of processes that start fast, as they are forked from one that has imported what they need."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

PRELOADED = [
    "blizzarr.array",
    "blizzarr.checking",
    "blizzarr.comparing",
    "blizzarr.copying.array",
    "blizzarr.distributing",
    "blizzarr.recording.record",
    "blizzarr.stores.object_store",
    "blizzarr.upgrading.run",
    "numpy.testing",
]
"""What each of the processes would import otherwise."""


@pytest.fixture(params=[4])
def pool(request: pytest.FixtureRequest) -> Iterator[ProcessPoolExecutor]:
    """A pool of four processes, or of as many as the test asks for."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with ProcessPoolExecutor(request.param, mp_context=context) as made:
        yield made
