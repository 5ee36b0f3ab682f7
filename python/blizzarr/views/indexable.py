"""The base of everything that has a transform: its views are the same thing with another transform."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form
from blizzarr.views.domain import IndexDomain
from blizzarr.views.indexing import Indexed
from blizzarr.views.movable import form_of
from blizzarr.views.transform import IndexTransform, transform_of


class Indexable(Indexed):
    """Something with a transform, such as an array; indexing composes transforms and reads nothing.

    Subclasses give `_transform` and `_with_transform`. While the rank is not known, `_transform` is None, and indexing
    is an error.

    Examples
    --------
    >>> class Pixels(Indexable):
    ...     def __init__(self, transform):
    ...         self._mine = transform
    ...
    ...     @property
    ...     def _transform(self):
    ...         return self._mine
    ...
    ...     def _with_transform(self, transform):
    ...         return Pixels(transform)
    >>> Pixels(IndexTransform(input_shape=[20, 30])).label["x", "y"][5:10].domain
    { "x": [5, 10), "y": [0, 30) }
    """

    __slots__ = ()

    @property
    @abstractmethod
    def _transform(self) -> IndexTransform | None:
        """The map from positions in the domain to elements; None while the rank is not known."""

    @abstractmethod
    def _with_transform(self, transform: IndexTransform) -> Self:
        """Return the same object with another transform."""

    @property
    def _form(self) -> Form:
        transform = self._transform
        if transform is None:
            raise SpecError(f"Cannot perform indexing operations on {type(self).__name__} with unspecified rank")
        return form_of(transform)

    def _with_form(self, form: Form) -> Self:
        return self._with_transform(transform_of(form))

    @property
    def domain(self) -> IndexDomain | None:
        """The positions for which it is defined; None while that is not known."""
        return None if self._transform is None else self._transform.domain

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None while it is not known."""
        return None if self._transform is None else self._transform.input_rank

    @property
    def ndim(self) -> int | None:
        """The number of dimensions, as NumPy calls it; None while it is not known."""
        return self.rank
