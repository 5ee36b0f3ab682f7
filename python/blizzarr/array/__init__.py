"""Arrays: what users index, resize and append to."""

from blizzarr.array.array import Array
from blizzarr.array.reopened import Reopening, reopened
from blizzarr.array.selector import Selector
from blizzarr.array.without_data import ArrayWithoutData, without_data

__all__ = ["Array", "ArrayWithoutData", "Reopening", "Selector", "reopened", "without_data"]
