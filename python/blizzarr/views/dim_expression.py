"""Dimension expressions: a selection of dimensions and operations on them, written before there is a view.

``d["x", 0]`` selects dimensions; operations are added behind it, and each works on what the one before left selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from blizzarr.errors import SelectionError
from blizzarr.indexing.form import Form
from blizzarr.indexing.layout import Arrays
from blizzarr.json_values import quote
from blizzarr.views.dim_selection import DimSpec, as_dim_specs, normalize_dims, shown_range
from blizzarr.views.numpy_index import Mode, Term, Terms, Usage, index_chained, index_initial, parse_terms
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
from blizzarr.views.values import index_vector

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
    lower, upper = (key.start, key.stop) if isinstance(key, slice) else (key, key)
    if not (_is_flag(lower) and _is_flag(upper)) or (isinstance(key, slice) and key.step is not None):
        raise TypeError(f"expected a flag, None, or a slice of two of these, found {key!r}")
    return None if lower is None else bool(lower), None if upper is None else bool(upper)


def _is_flag(value: Any) -> bool:
    """Return whether a value is None, or tells by itself what it is as a flag, as a tuple of two flags does not."""
    return value is None or hasattr(value, "__bool__")


class Operation(NamedTuple):
    """One operation: a function of a form, dimensions and arguments, and its text behind the expression."""

    function: Callable[..., Step]
    arguments: tuple[Any, ...]
    text: str
    """Empty for keys, which are formatted when they are shown."""

    def __str__(self) -> str:
        return self.text or _shown_key(*self.arguments)

    def apply(self, form: Form, dims: list[int]) -> Step:
        return self.function(form, dims, *self.arguments)


def _chained(form: Form, dims: list[int], terms: Terms) -> Step:
    return index_chained(form, terms, dims)


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
    _operations: tuple[Operation, ...]

    def __init__(self) -> None:
        raise TypeError("no constructor: expressions begin with d, like d[0].translate_to[5]")

    @classmethod
    def _of(cls, selection: tuple[DimSpec, ...], operations: tuple[Operation, ...]) -> DimExpression:
        made = cls.__new__(cls)
        made._selection = selection
        made._operations = operations
        return made

    def _with(self, function: Callable[..., Step], text: str, *arguments: Any) -> DimExpression:
        operation = Operation(function, arguments, text)
        return DimExpression._of(self._selection, (*self._operations, operation))

    def _index(self, key: Any, mode: Mode) -> DimExpression:
        terms = parse_terms(key, mode, Usage.CHAINED if self._operations else Usage.INITIAL)
        return self._with(_chained, "", terms)

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
        return self._vector("translate_to", translate, Translation.TO)

    @property
    def translate_by(self) -> Subscript[DimExpression]:
        """Translate the selected dimensions by these offsets."""
        return self._vector("translate_by", translate, Translation.BY)

    @property
    def translate_backward_by(self) -> Subscript[DimExpression]:
        """Translate the selected dimensions back by these offsets."""
        return self._vector("translate_backward_by", translate, Translation.BACKWARD_BY)

    @property
    def stride(self) -> Subscript[DimExpression]:
        """Keep the indices divisible by the stride and divide them by it; unlike a slice, counting from 0.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(inclusive_min=[1], inclusive_max=[8])[d[0].stride[3]]
        { [1, 3) }
        """
        return self._vector("stride", stride)

    @property
    def label(self) -> Subscript[DimExpression]:
        """Name the selected dimensions."""

        def label(key: Any) -> DimExpression:
            labels = given_labels(key)
            return self._with(add_labels, f".label[{','.join(map(_shown_label, labels))}]", labels)

        return Subscript(self, "label", label)

    @property
    def transpose(self) -> Subscript[DimExpression]:
        """Move the selected dimensions to these positions, or next to each other from one position on.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3, 4], labels=["x", "y", "z"])[d["z", "y"].transpose[0]]
        { "z": [0, 4), "y": [0, 3), "x": [0, 2) }
        """

        def transpose(key: Any) -> DimExpression:
            targets = dims_given(key)
            return self._with(move, f".transpose[{_shown_dims(targets)}]", targets)

        return Subscript(self, "transpose", transpose)

    @property
    def mark_bounds_implicit(self) -> Subscript[DimExpression]:
        """Make the bounds of the selected dimensions implicit or explicit: both, or lower and upper as a slice."""

        def mark(key: Any) -> DimExpression:
            flags = given_flags(key)
            lower, upper = ("" if implicit is None else str(implicit) for implicit in flags)
            shown = lower if lower == upper and lower else f"{lower}:{upper}"
            return self._with(mark_implicit, f".mark_bounds_implicit[{shown}]", *flags)

        return Subscript(self, "mark_bounds_implicit", mark)

    @property
    def diagonal(self) -> DimExpression:
        """The diagonal of the selected dimensions, which becomes the first dimension.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3, 4])[d[0, 2].diagonal]
        { [0, 2), [0, 3) }
        """
        return self._with(take_diagonal, ".diagonal")

    def _vector(self, name: str, function: Callable[..., Step], *others: Any) -> Subscript[DimExpression]:
        def operation(key: Any) -> DimExpression:
            vector = index_vector(key)
            return self._with(function, f".{name}[{_shown(vector)}]", vector, *others)

        return Subscript(self, name, operation)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DimExpression):
            return NotImplemented
        return self._selection == other._selection and self._operations == other._operations

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._selection, self._operations)

    def __repr__(self) -> str:
        return f"d[{_shown_dims(self._selection)}]{''.join(map(str, self._operations))}"


def apply_expression(expression: DimExpression, form: Form) -> Form:
    """Return the form of a view after all operations of an expression."""
    if not expression._operations:
        raise SelectionError("Must specify at least one operation in dimension expression")
    first, *others = expression._operations
    if first.function is _chained:
        # The first operation may make the dimensions that the selection names.
        form, dims = index_initial(form, first.arguments[0], expression._selection)
    else:
        form, dims = first.apply(form, normalize_dims(expression._selection, form.labels))
    for operation in others:
        form, dims = operation.apply(form, dims)
    return form


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
        return DimSelection._of(dims_given(key), ())  # type: ignore[return-value]

    def __reduce__(self) -> str:
        return "d"

    def __repr__(self) -> str:
        return "d"


d = _Selector()


def dims_given(key: Any) -> tuple[DimSpec, ...]:
    specs = as_dim_specs(key)
    if specs is None:
        raise TypeError(f"expected dimensions as integers, labels, slices, or sequences of these, found {key!r}")
    return specs


def _shown_label(label: str) -> str:
    return quote(label, "'")


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


def _shown_key(terms: Terms) -> str:
    last = "," if not terms.scalar and len(terms.terms) == 1 else ""
    return f"{terms.mode.value}[{','.join(map(_shown_term, terms.terms))}{last}]"


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
