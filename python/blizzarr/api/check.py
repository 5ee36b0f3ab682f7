"""Checking what is stored."""

from __future__ import annotations

from blizzarr import checking
from blizzarr.array import Array
from blizzarr.checking.check import Progress
from blizzarr.checking.report import Report
from blizzarr.group import Group
from blizzarr.model.names import join
from blizzarr.stores import StoreLike, resolve

__all__ = ["check"]


def check(
    store: StoreLike | Array | Group, path: str = "", *, fast: bool = False, progress: Progress | None = None
) -> Report:
    """Check an array, or a group with everything below it: documents, every chunk, and what should not be there.

    Every chunk that is stored is decoded, by all cores, and let go of. Nothing is changed. It takes about as long as
    reading everything; while others write, it finds what is there when it looks.

    Parameters
    ----------
    store
        A path, URL, store, mapping, array or group.
    path
        The node in it; by default the root.
    fast
        Look only at sizes and at the indices of shards, not at every byte.
    progress
        Called with the stored objects that are done, and how many there are.

    Returns
    -------
    What was looked at and found, worst first: `findings`, each with `kind`, `severity`, `path`, `key`, `chunk`,
    `codec`, `message` and `advice`; `ok` says whether nothing is damaged. Printed it is for people.

    Examples
    --------
    >>> import blizzarr
    >>> memory = {}
    >>> z = blizzarr.create_array(memory, name="t", data=[1, 2, 3, 4], chunks=2, dtype="int8")
    >>> memory["t/c/1"] = memory["t/c/1"][:-3]
    >>> report = blizzarr.check(memory)
    >>> report.ok, [(finding.kind, finding.key, finding.chunk) for finding in report.findings]
    (False, [('chunk', 't/c/1', (1,))])
    """
    if isinstance(store, Array | Group):
        return checking.check(store.store, join(store.path, path) if path else store.path, fast=fast, progress=progress)
    found, inner = resolve(store, "r", path)
    return checking.check(found, inner, fast=fast, progress=progress)
