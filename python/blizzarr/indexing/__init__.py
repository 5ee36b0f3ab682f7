"""Selections: every key that picks elements of an array becomes one composable value, a `Form`."""

from blizzarr._native import lower_basic
from blizzarr.indexing.dialect import (
    Dialect,
    basic,
    block,
    coordinate,
    mask,
    numpy_style,
    orthogonal,
    selection_of,
    vectorised,
)
from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.indexing.keys import true_indices
from blizzarr.indexing.selection import Axes, Lowered, lower_form
