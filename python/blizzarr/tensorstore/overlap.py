"""Finding chunks that several reads need, so that each is decoded once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blizzarr.tensorstore.driver import Source
    from blizzarr.tensorstore.store import TensorStore

__all__ = ["overlapping"]

_MOST = 1 << 14
"""The most chunks for which the reads that need them are recorded; beyond that, looking costs as much as it saves."""

_WORTH = 1 << 16
"""Bytes that would be decoded again for it to be worth keeping them."""


def overlapping(views: Sequence[TensorStore]) -> set[int]:
    """Return the numbers of the views that need the same chunk as another one.

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> spec = {"driver": "zarr3", "kvstore": "memory://", "metadata": {"codecs": ["bytes", "gzip"]}}
    >>> layout = ts.ChunkLayout(chunk_shape=[50_000])
    >>> store = ts.open(spec, dtype="uint32", shape=[100_000], chunk_layout=layout, create=True).result()
    >>> sorted(overlapping([store[7], store[60_000], store[80_000]]))
    [1, 2]
    """
    users: dict[Any, list[tuple[int, Source]]] = {}
    count = 0
    for number, view in enumerate(views):
        for source in view._driver.sources(view):
            users.setdefault(source.place, []).append((number, source))
            count += 1
    found: set[int] = set()
    if len(users) < count:
        for several in users.values():
            if len(several) > 1:
                found |= _of_array(several)
    return found


def _of_array(several: list[tuple[int, Source]]) -> set[int]:
    first: dict[tuple[int, ...], int] = {}
    found: set[int] = set()
    again, left = 0, _MOST
    for number, source in several:
        ranges = source.chunks()
        left -= prod(map(len, ranges))
        if left < 0:
            return set()
        for chunk in product(*ranges):
            owner = first.setdefault(chunk, number)
            if owner != number:
                found.add(owner)
                found.add(number)
                again += source.chunk_bytes
    return found if again >= _WORTH else set()
