"""The options that say who does a command's work: threads, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias

import typer

from blizzarr.errors import UnsupportedOperationError

SchedulerOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let the Dask cluster with this scheduler, like tcp://host:8786, do the work part by part. Each part uses "
        "one thread, or --threads, where the command has that.",
    ),
]

ThreadsOption: TypeAlias = Annotated[int, typer.Option(min=0, help="How many threads to use; 0 means one per core.")]


@contextmanager
def executor_of(scheduler: str | None) -> Iterator[Any]:
    """Connect to the cluster of this scheduler within the context; without a scheduler, yield None.

    Raise `UnsupportedOperationError` if Dask is not installed.
    """
    if scheduler is None:
        yield None
        return
    try:
        import distributed
    except ImportError as error:
        raise UnsupportedOperationError(
            "--scheduler needs Dask's scheduler: pip install 'blizzarr[dask]' here and on all workers"
        ) from error
    client_type: Any = distributed.Client
    with client_type(scheduler, set_as_default=False) as client:
        yield client
