"""Selections: every key that picks elements of an array becomes one composable value, a `Selection`."""

from blizzarr.indexing.basic import Lowered, lower_basic
from blizzarr.indexing.dialect import Dialect, selection_of
from blizzarr.indexing.lowering import basic, block, coordinate, mask, numpy_style, orthogonal, vectorised
from blizzarr.indexing.selection import Axes, ConstantMap, IndexArrayMap, OutputMap, Selection, StridedMap

__all__ = [
    "Axes",
    "ConstantMap",
    "Dialect",
    "IndexArrayMap",
    "Lowered",
    "OutputMap",
    "Selection",
    "StridedMap",
    "basic",
    "block",
    "coordinate",
    "lower_basic",
    "mask",
    "numpy_style",
    "orthogonal",
    "selection_of",
    "vectorised",
]
