"""Indexing of views: by NumPy's terms, domains, dimension expressions and transforms."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from blizzarr.indexing.form import Form
from blizzarr.views.compose import compose, cut
from blizzarr.views.dim_expression import DimExpression, Subscript, apply_expression
from blizzarr.views.domain import IndexDomain
from blizzarr.views.movable import Movable, form_of
from blizzarr.views.numpy_index import index_direct
from blizzarr.views.numpy_terms import Mode

_KEYS: Final = (tuple, int, slice, list)
"""The types of the most frequent keys, all of which are terms of NumPy."""


def index(form: Form, key: Any) -> Form:
    """The form of ``view[key]``."""
    if type(key) not in _KEYS:
        if isinstance(key, Movable):
            return cut(form, form_of(key)) if isinstance(key, IndexDomain) else compose(form, form_of(key))
        if isinstance(key, DimExpression):
            return apply_expression(key, form)
    return index_direct(form, key, Mode.DEFAULT)


class Indexed(Movable):
    """Something that is indexed through its form."""

    __slots__ = ()

    _indexing: ClassVar[type[Subscript[Any]]] = Subscript
    """The class of `oindex` and `vindex`."""

    # Every index gives a view, wherever the domain ends: Python's iteration by `__getitem__` would not stop.
    __iter__: ClassVar[None] = None

    def __getitem__(self, key: Any) -> Self:
        """Return a view: by NumPy's terms, a domain, a dimension expression, or a transform.

        Indices are those of the domain, which may begin anywhere: none is counted from the end, and slices keep
        their place.

        Examples
        --------
        >>> from blizzarr.views import IndexTransform, d
        >>> view = IndexTransform(input_shape=[20, 30], input_labels=["x", "y"])
        >>> view[5:10, 3].domain, view[d["y"][:4]].domain
        ({ "x": [5, 10) }, { "x": [0, 20), "y": [0, 4) })
        """
        return self._with_form(index(self._form, key))

    @property
    def oindex(self) -> Subscript[Self]:
        """Indexing in which index arrays are independent of each other; stores can be assigned to.

        Examples
        --------
        >>> from blizzarr.views import IndexTransform
        >>> IndexTransform(input_shape=[20, 30]).oindex[[1, 2], [3, 4, 5]].shape
        (2, 3)
        """
        return self._indexing(self, "oindex", lambda key: self._with_form(index_direct(self._form, key, Mode.OINDEX)))

    @property
    def vindex(self) -> Subscript[Self]:
        """Indexing in which index arrays select points, whose dimensions come first; stores can be assigned to.

        Examples
        --------
        >>> from blizzarr.views import IndexTransform
        >>> IndexTransform(input_shape=[20, 30, 4]).vindex[:, [3, 4, 5]].shape
        (3, 20, 4)
        """
        return self._indexing(self, "vindex", lambda key: self._with_form(index_direct(self._form, key, Mode.VINDEX)))
