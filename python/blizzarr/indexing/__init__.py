"""Selections: everything that picks elements of an array becomes one composable value, an `IndexTransform`."""

from blizzarr.indexing.basic import Lowered, lower_basic
from blizzarr.indexing.dialect import Dialect, transform_of
from blizzarr.indexing.selection import basic, block, coordinate, mask, numpy_style, orthogonal, vectorised
from blizzarr.indexing.transform import Axes, Constant, Indexed, IndexTransform, Output, Strided

__all__ = [
    "Axes",
    "Constant",
    "Dialect",
    "IndexTransform",
    "Indexed",
    "Lowered",
    "Output",
    "Strided",
    "basic",
    "block",
    "coordinate",
    "lower_basic",
    "mask",
    "numpy_style",
    "orthogonal",
    "transform_of",
    "vectorised",
]
