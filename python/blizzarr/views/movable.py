"""What domains and views share: translation, labels, transposition; and what domains and transforms are: their form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import prod
from typing import Any, Self, TypeVar

from blizzarr.errors import SelectionError, SpecError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import INT64_MAX
from blizzarr.indexing.layout import permute
from blizzarr.views.dim_expression import Subscript, apply_expression, d, dims_given
from blizzarr.views.operations import transpose

V = TypeVar("V", bound="FormValue")


def form_of(view: Movable) -> Form:
    """Return the form of a domain or of a view.

    >>> from blizzarr.views import IndexTransform
    >>> form_of(IndexTransform(input_shape=[4, 6])[3]).maps
    (3, (0, 0, 1))
    """
    return view._form


class Movable(ABC):
    """A domain or view. These operations apply to all dimensions; `d` applies them to some."""

    __slots__ = ()

    @property
    @abstractmethod
    def _form(self) -> Form:
        """The bare form."""

    @abstractmethod
    def _with_form(self, form: Form) -> Self:
        """Return the same object with another form."""

    @property
    def origin(self) -> tuple[int, ...]:
        """The lower bounds of the domain."""
        return self._form.lower

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions of the domain."""
        return self._form.shape

    @property
    def size(self) -> int:
        """The number of elements of the domain, at most ``2**63 - 1``.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[3, 4, 5]).size
        60
        """
        return min(prod(self._form.shape), INT64_MAX)

    def _changed(self, change: Callable[[Form], Form]) -> Self:
        form = self._form
        try:
            return self._with_form(change(form))
        except SelectionError as error:
            # Not an index is wrong, but a value that was given.
            raise SpecError(str(error)) from None

    def _on_all(self, name: str) -> Subscript[Self]:
        """Return an operation of dimension expressions, on all dimensions."""

        def call(key: Any) -> Any:
            expression = getattr(d[:], name)[key]
            return self._changed(lambda form: apply_expression(expression, form))

        return Subscript(self, name, call)

    @property
    def translate_to(self) -> Subscript[Self]:
        """The object translated so that it begins at the indices in brackets; None leaves a dimension.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3]).translate_to[5, None]
        { [5, 7), [0, 3) }
        """
        return self._on_all("translate_to")

    @property
    def translate_by(self) -> Subscript[Self]:
        """The object translated by the offsets in brackets."""
        return self._on_all("translate_by")

    @property
    def translate_backward_by(self) -> Subscript[Self]:
        """The object translated back by the offsets in brackets."""
        return self._on_all("translate_backward_by")

    @property
    def label(self) -> Subscript[Self]:
        """The object with the labels in brackets.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3]).label["x", "y"]
        { "x": [0, 2), "y": [0, 3) }
        """
        return self._on_all("label")

    @property
    def mark_bounds_implicit(self) -> Subscript[Self]:
        """The object with implicit (True) or explicit bounds: one flag for both, or a slice of two; None leaves them.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3]).mark_bounds_implicit[:True]
        { [0, 2*), [0, 3*) }
        """
        return self._on_all("mark_bounds_implicit")

    def transpose(self, axes: Any = None) -> Self:
        """Return the object with its dimensions in the order of `axes`, by default reversed.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3], labels=["x", "y"]).transpose(["y", 0])
        { "y": [0, 3), "x": [0, 2) }
        """
        specs = None if axes is None else dims_given(axes)
        return self._changed(lambda form: transpose(form, specs))

    @property
    def T(self) -> Self:  # noqa: N802
        """The object with its dimensions in reversed order."""
        form = self._form
        return self._with_form(permute(form, range(len(form.lower))[::-1]))


class FormValue:
    """The base of domains and transforms: immutable objects that consist of their form."""

    __slots__ = ("_form",)

    _form: Form

    def _with_form(self, form: Form) -> Self:
        return _made(type(self), form)

    @property
    def ndim(self) -> int:
        """The number of dimensions of the domain, as NumPy calls it."""
        return len(self._form.lower)

    @property
    def implicit_lower_bounds(self) -> tuple[bool, ...]:
        """For each dimension, True if its lower bound is implicit."""
        return self._form.implicit_lower

    @property
    def implicit_upper_bounds(self) -> tuple[bool, ...]:
        """For each dimension, True if its upper bound is implicit."""
        return self._form.implicit_upper

    def __eq__(self, other: object) -> bool:
        return self._form == other._form if isinstance(other, type(self)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), tuple(self._form))


def _made(kind: type[V], form: Form) -> V:
    value = object.__new__(kind)
    value._form = form
    return value


def _unpickled(kind: type[V], members: tuple[Any, ...]) -> V:
    return _made(kind, Form(*members))
