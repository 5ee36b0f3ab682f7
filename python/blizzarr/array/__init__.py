"""Arrays: what users index, resize and append to."""

from blizzarr.array.array import Array
from blizzarr.array.reopened import Reopening, reopened
from blizzarr.array.selector import Selector

__all__ = ["Array", "Reopening", "Selector", "reopened"]
