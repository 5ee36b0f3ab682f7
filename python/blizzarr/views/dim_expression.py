"""Dimension expressions: a selection of dimensions and operations on them, written before there is a view.

``d["x", 0]`` selects dimensions; operations are added behind it, and each works on what the one before left selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from blizzarr.errors import SelectionError
from blizzarr.indexing.form import Form
from blizzarr.indexing.layout import Arrays
from blizzarr.views.dim_selection import DimSpec, as_dim_specs, normalize_dims, shown_range
from blizzarr.views.numpy_index import index_chained, index_initial
from blizzarr.views.numpy_terms import Mode, Term, Terms, Usage, parse_terms
from blizzarr.views.operations import (
    Step,
    Translation,
    Vector,
    add_labels,
    mark_implicit,
    move,
    stride,
    take_diagonal,
    translate,
)
from blizzarr.views.values import escaped, flag, index_vector

__all__ = ["DimExpression", "DimSelection", "Subscript", "d", "given_flags", "given_labels"]

Result = TypeVar("Result")


class Subscript(Generic[Result]):
    """A method that is called with brackets: ``view.label["x", "y"]``."""

    __slots__ = ("_call", "_name", "_owner")

    __iter__: ClassVar[None] = None

    def __init__(self, owner: object, name: str, call: Callable[[Any], Result]) -> None:
        self._owner = owner
        self._name = name
        self._call = call

    def __getitem__(self, key: Any) -> Result:
        return self._call(key)

    def __repr__(self) -> str:
        return f"{self._owner!r}.{self._name}"


def given_labels(key: Any) -> tuple[str, ...]:
    """One label, or a sequence of them."""
    labels = (key,) if isinstance(key, str) else tuple(key)
    for label in labels:
        if not isinstance(label, str):
            raise TypeError(f"expected labels as strings, found {label!r}")
    return labels


def given_flags(key: Any) -> tuple[bool | None, bool | None]:
    """Return the flags for the lower and upper bounds, given as one flag or as a slice of two; None leaves a bound."""
    if not isinstance(key, slice):
        both = None if key is None else flag(key)
        return both, both
    if key.step is not None:
        raise TypeError(f"expected a flag, None, or a slice of two of these, found {key!r}")
    return tuple(None if bound is None else flag(bound) for bound in (key.start, key.stop))  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class _Translate:
    vector: Vector
    kind: Translation

    def apply(self, form: Form, dims: list[int]) -> Step:
        return translate(form, dims, self.vector, self.kind)

    def __str__(self) -> str:
        return f".translate_{self.kind.value}[{_shown(self.vector)}]"


@dataclass(frozen=True, slots=True)
class _Stride:
    vector: Vector

    def apply(self, form: Form, dims: list[int]) -> Step:
        return stride(form, dims, self.vector)

    def __str__(self) -> str:
        return f".stride[{_shown(self.vector)}]"


@dataclass(frozen=True, slots=True)
class _Label:
    labels: tuple[str, ...]

    def apply(self, form: Form, dims: list[int]) -> Step:
        return add_labels(form, dims, self.labels)

    def __str__(self) -> str:
        return f".label[{','.join(map(_shown_label, self.labels))}]"


@dataclass(frozen=True, slots=True)
class _Diagonal:
    def apply(self, form: Form, dims: list[int]) -> Step:
        return take_diagonal(form, dims)

    def __str__(self) -> str:
        return ".diagonal"


@dataclass(frozen=True, slots=True)
class _Transpose:
    targets: tuple[DimSpec, ...]

    def apply(self, form: Form, dims: list[int]) -> Step:
        return move(form, dims, self.targets)

    def __str__(self) -> str:
        return f".transpose[{_shown_dims(self.targets)}]"


@dataclass(frozen=True, slots=True)
class _MarkImplicit:
    lower: bool | None
    upper: bool | None

    def apply(self, form: Form, dims: list[int]) -> Step:
        return mark_implicit(form, dims, self.lower, self.upper)

    def __str__(self) -> str:
        lower, upper = ("" if implicit is None else str(implicit) for implicit in (self.lower, self.upper))
        return f".mark_bounds_implicit[{lower if lower == upper and lower else f'{lower}:{upper}'}]"


@dataclass(frozen=True, slots=True)
class _Index:
    terms: Terms

    def apply(self, form: Form, dims: list[int]) -> Step:
        return index_chained(form, self.terms, dims)

    def __str__(self) -> str:
        last = "," if not self.terms.scalar and len(self.terms.terms) == 1 else ""
        return f"{self.terms.mode.value}[{','.join(map(_shown_term, self.terms.terms))}{last}]"


_Operation = _Translate | _Stride | _Label | _Diagonal | _Transpose | _MarkImplicit | _Index


class DimExpression:
    """Dimensions and operations on them, applied by indexing a view or domain with the expression.

    Examples
    --------
    >>> from blizzarr.views import IndexDomain
    >>> expression = d["x", "y"].translate_to[4, 5].label["a", "b"]
    >>> expression
    d['x','y'].translate_to[4,5].label['a','b']
    >>> IndexDomain(shape=[2, 3], labels=["x", "y"])[expression]
    { "a": [4, 6), "b": [5, 8) }
    """

    __slots__ = ("_operations", "_selection")

    # Indexing adds an operation, so that there would be no end.
    __iter__: ClassVar[None] = None

    _selection: tuple[DimSpec, ...]
    _operations: tuple[_Operation, ...]

    def __init__(self) -> None:
        raise TypeError("no constructor: expressions begin with d, like d[0].translate_to[5]")

    @classmethod
    def _of(cls, selection: tuple[DimSpec, ...], operations: tuple[_Operation, ...]) -> DimExpression:
        made = cls.__new__(cls)
        made._selection = selection
        made._operations = operations
        return made

    def _with(self, operation: _Operation) -> DimExpression:
        return DimExpression._of(self._selection, (*self._operations, operation))

    def _applied_to(self, form: Form) -> Form:
        """The form of the view after all operations."""
        if not self._operations:
            raise SelectionError("Must specify at least one operation in dimension expression")
        first, *others = self._operations
        if isinstance(first, _Index):
            # It may make the dimensions that the selection names.
            form, dims = index_initial(form, first.terms, self._selection)
        else:
            form, dims = first.apply(form, normalize_dims(self._selection, form.labels))
        for operation in others:
            form, dims = operation.apply(form, dims)
        return form

    def _index(self, key: Any, mode: Mode) -> DimExpression:
        return self._with(_Index(parse_terms(key, mode, Usage.CHAINED if self._operations else Usage.INITIAL)))

    def __getitem__(self, key: Any) -> DimExpression:
        """Index the selected dimensions as NumPy does; every one of them needs a term.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[20, 30], labels=["x", "y"])[d["y"][5:10]]
        { "x": [0, 20), "y": [5, 10) }
        """
        return self._index(key, Mode.DEFAULT)

    @property
    def oindex(self) -> Subscript[DimExpression]:
        """Indexing in which index arrays are independent of each other."""
        return Subscript(self, "oindex", lambda key: self._index(key, Mode.OINDEX))

    @property
    def vindex(self) -> Subscript[DimExpression]:
        """Indexing in which index arrays select points, whose dimensions come first."""
        return Subscript(self, "vindex", lambda key: self._index(key, Mode.VINDEX))

    @property
    def translate_to(self) -> Subscript[DimExpression]:
        """Translate the selected dimensions so that they begin at these indices; None leaves a dimension."""
        return self._vector("translate_to", lambda vector: _Translate(vector, Translation.TO))

    @property
    def translate_by(self) -> Subscript[DimExpression]:
        """Translate the selected dimensions by these offsets."""
        return self._vector("translate_by", lambda vector: _Translate(vector, Translation.BY))

    @property
    def translate_backward_by(self) -> Subscript[DimExpression]:
        """Translate the selected dimensions back by these offsets."""
        return self._vector("translate_backward_by", lambda vector: _Translate(vector, Translation.BACKWARD_BY))

    @property
    def stride(self) -> Subscript[DimExpression]:
        """Keep the indices divisible by the stride and divide them by it; unlike a slice, counting from 0.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(inclusive_min=[1], inclusive_max=[8])[d[0].stride[3]]
        { [1, 3) }
        """
        return self._vector("stride", _Stride)

    @property
    def label(self) -> Subscript[DimExpression]:
        """Name the selected dimensions."""
        return Subscript(self, "label", lambda key: self._with(_Label(given_labels(key))))

    @property
    def transpose(self) -> Subscript[DimExpression]:
        """Move the selected dimensions to these positions, or next to each other from one position on.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3, 4], labels=["x", "y", "z"])[d["z", "y"].transpose[0]]
        { "z": [0, 4), "y": [0, 3), "x": [0, 2) }
        """
        return Subscript(self, "transpose", lambda key: self._with(_Transpose(_dims_given(key))))

    @property
    def mark_bounds_implicit(self) -> Subscript[DimExpression]:
        """Make the bounds of the selected dimensions implicit or explicit: both, or lower and upper as a slice."""
        return Subscript(self, "mark_bounds_implicit", lambda key: self._with(_MarkImplicit(*given_flags(key))))

    @property
    def diagonal(self) -> DimExpression:
        """The diagonal of the selected dimensions, which becomes the first dimension.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3, 4])[d[0, 2].diagonal]
        { [0, 2), [0, 3) }
        """
        return self._with(_Diagonal())

    def _vector(self, name: str, operation: Callable[[Vector], _Operation]) -> Subscript[DimExpression]:
        return Subscript(self, name, lambda key: self._with(operation(index_vector(key))))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DimExpression):
            return NotImplemented
        return self._selection == other._selection and self._operations == other._operations

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._selection, self._operations)

    def __repr__(self) -> str:
        return f"d[{_shown_dims(self._selection)}]{''.join(map(str, self._operations))}"


class DimSelection(DimExpression):
    """A selection of dimensions, by number, label, or slice; the beginning of a dimension expression.

    Examples
    --------
    >>> d[0:1, 2, "x"], d[[0, 1], d[2, 3]]
    (d[0:1,2,'x'], d[0,1,2,3])
    """

    __slots__ = ()

    @property
    def _dim_specs(self) -> tuple[DimSpec, ...]:
        return self._selection


class _Selector:
    """The class of `d`, which makes selections of dimensions: ``d["x", 0]``."""

    __slots__ = ()

    __iter__: ClassVar[None] = None

    def __getitem__(self, key: Any) -> DimSelection:
        return DimSelection._of(_dims_given(key), ())  # type: ignore[return-value]

    def __reduce__(self) -> str:
        return "d"

    def __repr__(self) -> str:
        return "d"


d = _Selector()


def _dims_given(key: Any) -> tuple[DimSpec, ...]:
    specs = as_dim_specs(key)
    if specs is None:
        raise TypeError(f"expected dimensions as integers, labels, slices, or sequences of these, found {key!r}")
    return specs


def _shown_label(label: str) -> str:
    return f"'{escaped(label)}'"


def _shown_dims(specs: Iterable[DimSpec]) -> str:
    shown = [
        shown_range(spec) if isinstance(spec, tuple) else _shown_label(spec) if isinstance(spec, str) else str(spec)
        for spec in specs
    ]
    return ",".join(shown) or "()"


def _shown(vector: Vector) -> str:
    if not isinstance(vector, tuple):
        return str(vector)
    if not vector:
        return "()"
    return ",".join(map(str, vector)) + ("," if len(vector) == 1 else "")


def _shown_term(term: Term) -> str:
    if isinstance(term, slice):
        start, stop = ("" if bound is None else str(bound) for bound in (term.start, term.stop))
        return f"{start}:{stop}" + (f":{term.step}" if term.step != 1 else "")
    if isinstance(term, Arrays):
        return repr(_mask(term.indices, term.shape) if term.is_mask else np.broadcast_to(term.indices[0], term.shape))
    return "..." if term is Ellipsis else str(term)


def _mask(indices: Sequence[np.ndarray[Any, Any]], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The smallest mask with these true elements."""
    mask = np.zeros([int(along.max(initial=0)) + 1 for along in indices] if indices else (), bool)
    if shape[0]:
        mask[tuple(indices)] = True
    return mask
