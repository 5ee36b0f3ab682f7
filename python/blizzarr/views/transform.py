"""Views, and transforms as users see them: a domain, and how each position in it maps to an element of an array.

First, how views are indexed: by NumPy's terms, domains, dimension expressions and transforms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final, Self

import numpy as np

from blizzarr.errors import OutOfBoundsError, SpecError
from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.indexing.interval import check_contains
from blizzarr.json_values import quote
from blizzarr.keywords import exact_keywords
from blizzarr.views.compose import compose, cut
from blizzarr.views.descriptions import domain_of_vectors, form_of_dims, parse_transform, transform_to_json
from blizzarr.views.dim import Dim
from blizzarr.views.dim_expression import DimExpression, Subscript, apply_expression
from blizzarr.views.domain import FormValue, IndexDomain, Movable, domain_of, form_of
from blizzarr.views.numpy_index import Mode, index_direct
from blizzarr.views.output_map import OutputIndexMap, OutputIndexMaps, made_maps, raw_map, shown_array
from blizzarr.views.values import to_indices

_KEYS: Final = (tuple, int, slice, list)
"""The types of the most frequent keys, all of which are terms of NumPy."""


def index(form: Form, key: Any) -> Form:
    if type(key) not in _KEYS:
        if isinstance(key, IndexDomain):
            return cut(form, form_of(key))
        if isinstance(key, Movable):
            return compose(form, form_of(key))
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


class IndexTransform(FormValue, Indexed):
    """A domain and, for each dimension of an array, how its index follows from a position in the domain.

    Made from a domain, or from the vectors that describe one (see `IndexDomain`), and from output maps; or from `json`.
    Without output maps, each position maps to itself.

    Transforms are immutable; indexing them gives new ones, which are views of what they map to.

    Examples
    --------
    >>> transform = IndexTransform(input_shape=[3, 2], output=[OutputIndexMap(offset=7, input_dimension=1)])
    >>> print(transform, end="")
    Rank 2 -> 1 index space transform:
      Input domain:
        0: [0, 3)
        1: [0, 2)
      Output index maps:
        out[0] = 7 + 1 * in[1]
    >>> transform([2, 1])
    (8,)
    """

    __slots__ = ()

    __iter__: ClassVar[None] = None

    @exact_keywords
    def __init__(
        self,
        input_rank: int | IndexDomain | Iterable[Dim] | None = None,
        output: Iterable[OutputIndexMap] | None = None,
        *,
        input_inclusive_min: Iterable[int] | None = None,
        implicit_lower_bounds: Iterable[bool] | None = None,
        input_exclusive_max: Iterable[int] | None = None,
        input_inclusive_max: Iterable[int] | None = None,
        input_shape: Iterable[int] | None = None,
        implicit_upper_bounds: Iterable[bool] | None = None,
        input_labels: Iterable[str | None] | None = None,
        domain: IndexDomain | Iterable[Dim] | None = None,
        json: Any = None,
    ) -> None:
        lower = input_inclusive_min, implicit_lower_bounds
        upper = input_exclusive_max, input_inclusive_max, input_shape, implicit_upper_bounds
        vectors = (*lower, *upper, input_labels)
        if isinstance(input_rank, Iterable) and domain is None:
            input_rank, domain = None, input_rank
        given = input_rank is not None or any(vector is not None for vector in vectors)
        if given + (domain is not None) + (json is not None) > 1 or (json is not None and output is not None):
            raise TypeError("IndexTransform() takes a domain, json, or vectors, and only one of these")
        if json is not None:
            self._form = parse_transform(json)
            return
        if isinstance(domain, IndexDomain):
            form = form_of(domain)
        elif domain is not None:
            form = form_of_dims(domain)
        else:
            form = domain_of_vectors("input_", input_rank, *vectors)
        self._form = made_maps(form, None if output is None else list(map(raw_map, output)))

    @property
    def domain(self) -> IndexDomain:
        """The domain: the positions for which the transform is defined.

        Examples
        --------
        >>> IndexTransform(input_shape=[3, 4], input_labels=["x", "y"])[1:2].domain
        { "x": [1, 2), "y": [0, 4) }
        """
        return domain_of(self._form)

    @property
    def input_rank(self) -> int:
        """The number of dimensions of the domain."""
        return len(self._form.lower)

    @property
    def output_rank(self) -> int:
        """The number of dimensions of the array."""
        return len(self._form.maps)

    @property
    def input_origin(self) -> tuple[int, ...]:
        """The lower bounds of the domain."""
        return self._form.lower

    @property
    def input_inclusive_min(self) -> tuple[int, ...]:
        """The lower bounds of the domain."""
        return self._form.lower

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions of the domain."""
        return self._form.shape

    @property
    def input_exclusive_max(self) -> tuple[int, ...]:
        """The upper bounds of the domain: the indices after the last."""
        return self._form.upper

    @property
    def input_inclusive_max(self) -> tuple[int, ...]:
        """The last indices of the domain."""
        return tuple(upper - 1 for upper in self._form.upper)

    @property
    def input_labels(self) -> tuple[str, ...]:
        """The labels of the domain."""
        return self._form.labels

    @property
    def output(self) -> OutputIndexMaps:
        """The output maps, one for each dimension of the array.

        Examples
        --------
        >>> IndexTransform(input_shape=[30])[2:9:3].output
        [OutputIndexMap(offset=2, stride=3, input_dimension=0)]
        """
        return OutputIndexMaps(self._form.maps)

    def to_json(self) -> dict[str, Any]:
        """The transform as JSON.

        Examples
        --------
        >>> IndexTransform(input_shape=[30])[2:9:3].to_json()
        {'input_exclusive_max': [3], 'input_inclusive_min': [0], 'output': [{'input_dimension': 0, 'offset': 2, 'stride': 3}]}
        """  # noqa: E501
        return transform_to_json(self._form)

    def __call__(self, indices: Iterable[int]) -> tuple[int, ...]:
        """Return the element to which a position maps.

        Examples
        --------
        >>> IndexTransform(input_shape=[3, 4]).transpose()([3, 1])
        (1, 3)
        """
        position = to_indices(indices)
        form = self._form
        if len(position) != form.rank:
            raise SpecError(
                f"input indices vector of length {len(position)} cannot be used with index transform with input rank "
                f"{form.rank}"
            )
        for dim, index in enumerate(position):
            if not form.allowed(dim).contains(index):
                raise SpecError(
                    f"OUT_OF_RANGE: Index {index} is not contained in the domain {form.interval(dim)} "
                    f"for input dimension {dim}"
                )
        return tuple(_index(map_, form, position, output) for output, map_ in enumerate(form.maps))

    def __repr__(self) -> str:
        form = self._form
        lines = [f"Rank {form.rank} -> {len(form.maps)} index space transform:", "  Input domain:"]
        for dim, label in enumerate(form.labels):
            lines.append(f"    {dim}: {form.interval(dim)}{' ' + quote(label) if label else ''}")
        lines.append("  Output index maps:")
        lines.extend(f"    out[{output}] = {_shown(map_)}" for output, map_ in enumerate(form.maps))
        return "\n".join(lines) + "\n"


def transform_of(form: Form) -> IndexTransform:
    """Return the transform of a form."""
    transform = object.__new__(IndexTransform)
    transform._form = form
    return transform


def _index(map_: Map, form: Form, position: tuple[int, ...], output: int) -> int:
    if isinstance(map_, int):
        return map_
    if isinstance(map_, tuple):
        dim, offset, stride = map_
        return offset + stride * position[dim]
    at = tuple(position[dim] - form.lower[dim] if dim in map_.dims else 0 for dim in range(form.rank))
    index = int(map_.array[at])
    doing = f"Computing index for output dimension {output}: Checking result of index array output index map"
    try:
        check_contains(map_.bounds, index, doing)
    except OutOfBoundsError as error:
        raise SpecError(str(error)) from None
    return map_.offset + map_.stride * index


def _shown(map_: Map) -> str:
    if isinstance(map_, int):
        return str(map_)
    if isinstance(map_, ArrayMap):
        head = f"{map_.offset} + {map_.stride} * bounded({map_.bounds}, array(in)), where array =\n      "
        return head + shown_array(np.asarray(map_.array))
    return f"{map_[1]} + {map_[2]} * in[{map_[0]}]"
