"""From a view to the engine's arguments; see `blizzarr.indexing.selection`."""

from __future__ import annotations

from blizzarr.errors import SelectionError
from blizzarr.indexing import Lowered, lower_form
from blizzarr.indexing.form import Form
from blizzarr.views.indexing import Indexed as View

__all__ = ["is_settled", "lower"]


def lower(view: View, shape: tuple[int, ...]) -> Lowered:
    """Return the engine's selection for reading or writing a view of an array of this shape, in the shape of the view.

    Raises
    ------
    ViewOutOfBoundsError
        If the view reaches beyond the array.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> lower(IndexTransform(input_shape=[20, 30])[3, 4:9], (20, 30))
    ((5,), (3, (0, 4, 1)), False)
    """
    form = view._form
    if len(form.maps) != len(shape):
        raise SelectionError(f"expected a view of an array of rank {len(form.maps)}, found one of rank {len(shape)}")
    return lower_form(form, shape)


def is_settled(form: Form, shape: tuple[int, ...]) -> bool:
    """Return whether the implicit bounds of a view agree with this shape; False if that is expensive to tell.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> view = IndexTransform(input_shape=[20, 30], implicit_upper_bounds=[True, True])[5]
    >>> is_settled(view._form, (20, 30)), is_settled(view._form, (20, 40))
    (True, False)
    """
    if True in form.implicit_lower:
        return False
    if True in form.implicit_upper:
        for map_, size in zip(form.maps, shape, strict=True):
            if type(map_) is tuple:
                dim, offset, stride = map_
                if form.implicit_upper[dim] and (stride != 1 or form.upper[dim] + offset != size):
                    return False
    return True
