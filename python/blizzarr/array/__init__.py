"""Arrays: what users index, resize and append to."""

from blizzarr.array.array import Array
from blizzarr.array.reopened import reopened
from blizzarr.array.without_data import ArrayWithoutData, without_data
