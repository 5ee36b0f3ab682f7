"""Parts of chunks: what is gathered in memory is copied when a part of it is written, so that small parts cost less."""

from __future__ import annotations

from functools import lru_cache
from math import prod

__all__ = ["parts"]

# Below this, copying costs less than looking after one more part.
SMALL = 1 << 17
# More of them in a chunk take longer to go through than one copy of it.
MOST = 1 << 12


@lru_cache(256)
def parts(chunk: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The shape of equal parts of a chunk, which are small, split along the first axes first.

    That leaves what is contiguous in memory together, and suits slices, which are written along the first axis mostly.

    Examples
    --------
    >>> parts((64, 128, 128), 8)
    (1, 128, 128)
    >>> parts((500, 200), 1)
    (500, 200)
    """
    shape = list(chunk)
    count = 1
    for axis, length in enumerate(chunk):
        enough = -(-prod(shape) * itemsize // SMALL)
        if enough <= 1:
            break
        splits = [split for split in range(1, min(length, MOST // count) + 1) if length % split == 0]
        chosen = next((split for split in splits if split >= enough), splits[-1])
        shape[axis] = length // chosen
        count *= chosen
        if shape[axis] > 1:
            break  # a prime number, say: what is split along later axes only is no longer contiguous
    return tuple(shape)
