"""Arrays: what users index, resize and append to."""

from blizzarr.array.array import Array
from blizzarr.array.selector import Selector
from blizzarr.array.without_data import ArrayWithoutData, without_data

__all__ = ["Array", "ArrayWithoutData", "Selector", "without_data"]
