"""Comparing two arrays or hierarchies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blizzarr.api.open import open
from blizzarr.array import Array
from blizzarr.group import Group
from blizzarr.keywords import exact_keywords
from blizzarr.stores import StoreLike

if TYPE_CHECKING:
    from blizzarr.comparing import Comparison
    from blizzarr.distributing import Progress


@exact_keywords
def diff(
    a: StoreLike | Array | Group,
    b: StoreLike | Array | Group,
    *,
    path_a: str = "",
    path_b: str = "",
    rtol: float = 0.0,
    atol: float = 0.0,
    shown: int = 5,
    progress: Progress | None = None,
    executor: Any = None,
) -> Comparison:
    """Compare two arrays, or two groups with everything below them, whatever their formats and layouts.

    Nodes, shapes, data types, fill values, attributes, dimension names and all elements are compared, part by part in
    bounded memory. If both arrays have the same layout, chunks with the same bytes are not decoded; chunks that neither
    has stored are skipped. Anything that cannot be read is reported, and the rest is still compared. Differences in
    formats, chunks and codecs are only noted.

    Parameters
    ----------
    a, b
        Paths, URLs, stores, mappings, arrays or groups.
    path_a, path_b
        The nodes in them; by default their roots.
    rtol, atol
        Numbers count as the same if they differ by no more than ``atol + rtol * abs(b)``. NaN equals NaN.
    shown
        The number of differing elements to keep for each array, with their indices.
    progress
        Called with the bytes that are done, and the bytes in all.
    executor
        Where the work is done, in parts: a `concurrent.futures.Executor`, or a client of Dask. By default it is done
        here, on all cores. See `docs/clusters.md`.

    Returns
    -------
    The comparison: `same` is True if nothing differs, `differences` lists the differences, `unreadable` the nodes that
    could not be compared, and `notes` the differences in layout. Print it for a readable version.

    Raises
    ------
    NodeNotFoundError
        If one of them is not there.
    ValueError
        If a tolerance is negative.
    StoreError
        If a store fails, or cannot list.
    WorkerLostError
        With `executor`, if its workers die again and again.

    Examples
    --------
    >>> import blizzarr
    >>> a = blizzarr.create_array({}, data=[[1, 2, 3], [4, 5, 6]], chunks=(1, 3))
    >>> b = blizzarr.create_array({}, data=[[1, 2, 3], [4, 9, 6]], chunks=(2, 1), zarr_format="v2")
    >>> found = blizzarr.diff(a, b)
    >>> [(difference.kind, difference.elements.first) for difference in found.differences]
    [('elements', [((1, 1), np.int64(5), np.int64(9))])]
    >>> print(found)
    /: elements: 1 of 6 differ, in 1 chunk, within [1:2, 1:2], by at most 4
        [1, 1]  5 against 9
    1 array, 0 groups, 6 elements compared in ... s: 1 difference
    """
    from blizzarr.comparing import Tolerance
    from blizzarr.comparing import diff as compare
    from blizzarr.distributing import check_progress, workers_of

    check_progress(progress)
    if not (rtol >= 0 and atol >= 0):  # also NaN, within which there is everything
        raise ValueError(f"expected tolerances of zero or more, found rtol={rtol}, atol={atol}")
    one, other = _node(a, path_a), _node(b, path_b)
    with workers_of(executor, one.store, other.store) as workers:
        return compare(one, other, Tolerance(rtol, atol), shown, progress, workers)


def _node(source: StoreLike | Array | Group, path: str) -> Array | Group:
    if isinstance(source, Array | Group) and not path:
        return source
    if isinstance(source, Group):
        return source[path]
    return open(source.store if isinstance(source, Array) else source, mode="r", path=path)
