"""``acme.difference`` (array -> array): each element less the one before it, along one axis."""

from dataclasses import dataclass

import numpy as np

from blizzarr.codecs import ArrayArrayCodec


@dataclass(frozen=True)
class DifferenceCodec(ArrayArrayCodec):
    """Differences of integers, which wrap around, so that the sums are exact again.

    Parameters
    ----------
    axis
        The axis of the chunk; the last one by default.
    """

    name = "acme.difference"

    axis: int = -1

    def encode(self, array):
        made = array.copy()
        rows, differences = np.moveaxis(array, self.axis, 0), np.moveaxis(made, self.axis, 0)
        np.subtract(rows[1:], rows[:-1], out=differences[1:])
        return made

    def decode(self, array):
        return np.cumsum(array, axis=self.axis, dtype=array.dtype)
