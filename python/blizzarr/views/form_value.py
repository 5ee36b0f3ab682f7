"""The base of domains and transforms: immutable objects that consist of their form."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from blizzarr.indexing.form import Form

V = TypeVar("V", bound="FormValue")


class FormValue:
    """A form as a value."""

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
