"""Durability: what survives a power cut, chosen for the process, for a store, or for a block of code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Literal, ParamSpec, TypeAlias, TypeVar, get_args

from blizzarr import _native

Durability: TypeAlias = Literal["none", "ordered", "full"]
LEVELS: Final[tuple[str, ...]] = get_args(Durability)

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def durable(level: Durability = "full") -> Iterator[None]:
    """Make the writes of this thread in the block, to local directories, survive a power cut.

    At every level a process may be killed at any moment: each chunk, shard and document is the old or the new one. The
    levels differ in the effects of a power cut, or a crash of the whole system:

    ``"none"``
        The last writes (on Linux, usually of the last half minute) may be lost, and chunks may be empty or zero.
        An empty chunk is an error when it is read, and `blizzarr.check` finds it; so is a chunk of zeros, unless it has
        no compression and no checksum. Metadata documents are as with ``"ordered"``.
    ``"ordered"``
        Each chunk, shard and document is the old or the new one, as after a process was killed. The last writes may be
        lost. The bytes of a value are on the device before it gets its name.
    ``"full"``
        All writes of the block are safe once the block has ended. Directories are synchronised at its end, once each;
        without a block, as a setting of `config` or of a store, at the end of each call.

    Other threads keep their own level; to set it for all, use ``config.durability`` or ``LocalStore(durability=...)``.

    Parameters
    ----------
    level
        ``"none"``, ``"ordered"`` or ``"full"``.

    Raises
    ------
    ValueError
        If there is no such level.
    StoreError
        At the end of the block, if the device reports a failure; then any write of the block may be lost.

    Examples
    --------
    >>> import tempfile
    >>> import blizzarr
    >>> z = blizzarr.zeros(8, store=tempfile.mkdtemp() + "/z.zarr", chunks=2)
    >>> with blizzarr.durable():
    ...     z[:4] = 1
    ...     z[4:] = 2
    """
    if level not in LEVELS:
        raise ValueError(f"expected a durability of {', '.join(LEVELS)}, found {level!r}")
    begun = _native.durability_failures()
    before = _native.durability_choose(level, level == "full")
    try:
        yield
    finally:
        _native.durability_choose(*before)
        if level == "full" and not before[1]:
            _native.durability_commit(begun)


def as_durable_as_here(work: Callable[P, R]) -> Callable[P, R]:
    """Return the function with the durability that this thread has chosen, to call it in other threads.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with durable("ordered"), ThreadPoolExecutor() as pool:
    ...     pool.submit(as_durable_as_here(_native.durability_choice)).result()
    ('ordered', False)
    """
    chosen = _native.durability_choice()

    def helping(*args: P.args, **kwargs: P.kwargs) -> R:
        before = _native.durability_choose(*chosen)
        try:
            return work(*args, **kwargs)
        finally:
            _native.durability_choose(*before)

    return helping
