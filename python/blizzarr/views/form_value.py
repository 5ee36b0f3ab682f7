"""The base of domains and transforms: immutable objects that consist of their form."""

from __future__ import annotations

from typing import Any, Self

from blizzarr.indexing.form import Form

__all__ = ["FormValue"]


class FormValue:
    """A form as a value."""

    __slots__ = ("_bare",)

    _bare: Form

    @classmethod
    def _of(cls, form: Form) -> Self:
        value = cls.__new__(cls)
        value._bare = form
        return value

    @property
    def _form(self) -> Form:
        return self._bare

    def _with_form(self, form: Form) -> Self:
        return self._of(form)

    @property
    def ndim(self) -> int:
        """The number of dimensions of the domain, as NumPy calls it."""
        return len(self._bare.lower)

    @property
    def implicit_lower_bounds(self) -> tuple[bool, ...]:
        """For each dimension, True if its lower bound is implicit."""
        return self._bare.implicit_lower

    @property
    def implicit_upper_bounds(self) -> tuple[bool, ...]:
        """For each dimension, True if its upper bound is implicit."""
        return self._bare.implicit_upper

    def __eq__(self, other: object) -> bool:
        return self._bare == other._bare if isinstance(other, type(self)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_bare, (type(self), tuple(self._bare))


def _of_bare(kind: type[FormValue], bare: tuple[Any, ...]) -> FormValue:
    return kind._of(Form(*bare))
