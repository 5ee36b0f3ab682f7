"""Domains and transforms from descriptions, and as JSON.

There are two kinds of descriptions: vectors of bounds, shapes and labels, any of which may be missing; and JSON, whose
errors name the place in TensorStore's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, SupportsIndex, TypeVar

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.indexing.form import ArrayMap, Form, IndexArray, Map, identity_maps
from blizzarr.indexing.interval import INF, INT64_MAX, INT64_MIN, UNBOUNDED, Bounds, Interval, closed, half_open, sized
from blizzarr.json_members import Members, as_index, as_integer, as_list, as_text, integer_of_text, nested, number_in
from blizzarr.json_values import dump, plain, quote
from blizzarr.views.dim import Dim, interval_of
from blizzarr.views.output_map import RawMap, made_maps
from blizzarr.views.values import MAX_RANK, check_unique, flags, labels_of, to_index, to_indices

T = TypeVar("T")
Upper = tuple[str, tuple[int, ...]]

_UPPER: Final = {"shape": 2 * INF + 1, "inclusive_max": INF, "exclusive_max": INF + 1}
"""The members for upper bounds, and what is infinite in them."""


def domain_of_vectors(
    prefix: str,
    rank: Any,
    inclusive_min: Iterable[int] | None,
    implicit_lower_bounds: Iterable[bool] | None,
    exclusive_max: Iterable[int] | None,
    inclusive_max: Iterable[int] | None,
    shape: Iterable[int] | None,
    implicit_upper_bounds: Iterable[bool] | None,
    labels: Iterable[str | None] | None,
) -> Form:
    """Return the domain of these components; errors name the parameters with the prefix."""
    known: tuple[str, int] | None = None
    if rank is not None:
        known = f"{prefix}rank", to_index(rank)
        if not 0 <= known[1] <= MAX_RANK:
            raise SpecError(f"Invalid {prefix}rank: {rank}")

    def vector(name: str, values: Any, parse: Callable[[Any], tuple[T, ...]]) -> tuple[T, ...] | None:
        nonlocal known
        if values is None:
            return None
        result = parse(values)
        if known is None:
            if len(result) > MAX_RANK:
                raise SpecError(f"Rank specified by `{name}` ({len(result)}) exceeds maximum rank of {MAX_RANK}")
            known = name, len(result)
        elif known[1] != len(result):
            raise SpecError(
                f"Rank specified by `{name}` ({len(result)}) does not match rank specified by `{known[0]}` ({known[1]})"
            )
        return result

    lower = vector(f"{prefix}inclusive_min", inclusive_min, to_indices)
    implicit_lower = vector("implicit_lower_bounds", implicit_lower_bounds, flags)
    upper: Upper | None = None
    for name, values in (("exclusive_max", exclusive_max), ("inclusive_max", inclusive_max), ("shape", shape)):
        if values is not None and upper is not None:
            raise SpecError(f"Cannot specify both `{prefix}{upper[0]}` and `{prefix}{name}`")
        ends = vector(f"{prefix}{name}", values, to_indices)
        upper = upper if ends is None else (name, ends)
    implicit_upper = vector("implicit_upper_bounds", implicit_upper_bounds, flags)
    names = vector(f"{prefix}labels", labels, labels_of)
    if known is None:
        raise SpecError(f"Must specify `{prefix}rank`")
    return complete(known[1], lower, implicit_lower, upper, implicit_upper, names)


def complete(
    rank: int,
    lower: tuple[int, ...] | None,
    implicit_lower: tuple[bool, ...] | None,
    upper: Upper | None,
    implicit_upper: tuple[bool, ...] | None,
    labels: tuple[str, ...] | None,
) -> Form:
    """Return the domain with missing parts filled in: bounds that are not given are infinite and implicit."""
    of_shape = upper is not None and upper[0] == "shape"
    if implicit_lower is None:
        implicit_lower = (lower is None and not of_shape,) * rank
    if implicit_upper is None:
        implicit_upper = (upper is None,) * rank
    if lower is None:
        lower = (0 if of_shape else -INF,) * rank
    labels = labels or ("",) * rank
    check_unique(labels)
    kind, ends = upper or ("exclusive_max", (INF + 1,) * rank)
    intervals = [
        Interval(*_between(kind, low, end), *implicit)
        for low, end, *implicit in zip(lower, ends, implicit_lower, implicit_upper, strict=True)
    ]
    return Form.of_dims(list(zip(intervals, labels, strict=True)))


def _between(kind: str, lower: int, end: int) -> Bounds:
    if kind == "shape":
        return sized(lower, INF + 1 - lower if end == 2 * INF + 1 else end)
    return closed(lower, end) if kind == "inclusive_max" else half_open(lower, end)


def form_of_dims(dims: Iterable[Any]) -> Form:
    intervals = []
    for dim in dims:
        if not isinstance(dim, Dim):
            hint = "; a shape is given as shape=[...]" if isinstance(dim, SupportsIndex) else ""
            raise TypeError(f"expected dimensions (Dim), found {dim!r}{hint}")
        intervals.append((interval_of(dim), dim.label))
    if len(intervals) > MAX_RANK:
        raise SpecError(f"Rank {len(intervals)} is outside valid range [0, {MAX_RANK}]")
    check_unique([label for _, label in intervals])
    return Form.of_dims(intervals)


def parse_domain(document: Any) -> Form:
    """The domain that a document describes.

    >>> parse_domain({"inclusive_min": [7, ["-inf"]], "exclusive_max": [10, [8]]}).interval(1).effective
    Bounds(lower=-4611686018427387903, upper=4611686018427387904)
    """
    try:
        members = Members(plain(document))
        described = _domain(members, "")
        members.end()
        return complete(*described)
    except SpecError as error:
        raise SpecError(f"Error parsing index domain from JSON: {error}") from None


def parse_transform(document: Any) -> Form:
    """The transform that a document describes."""
    try:
        members = Members(plain(document))
        described = _domain(members, "input_")
        raw = members.take("output", as_list(_output), None)
        members.end()
        return made_maps(complete(*described), None if raw is None else list(raw))
    except SpecError as error:
        raise SpecError(f"Error parsing index transform from JSON: {error}") from None


def _domain(members: Members, prefix: str) -> tuple[Any, ...]:
    """Parse the members that describe a domain into the arguments of `complete`."""
    names = [prefix + name for name in ("rank", "inclusive_min", *_UPPER, "labels")]
    if members.left.keys().isdisjoint(names):
        raise SpecError(f"At least one of {', '.join(map(quote, names))} members must be specified")
    given = [name for name in _UPPER if prefix + name in members.left]
    rank: int | None = members.take(names[0], as_integer(0, MAX_RANK), None)

    def vector(name: str, parse: Callable[[Any], T]) -> tuple[T, ...] | None:
        def each(value: Any) -> tuple[T, ...]:
            nonlocal rank
            if isinstance(value, list):
                if rank not in (None, len(value)) and len(value) <= MAX_RANK:
                    raise SpecError(f"Array has length {len(value)} but should have length {rank}")
                rank = len(value)
            parsed = as_list(parse, MAX_RANK)(value)
            if name == "labels":
                check_unique(parsed)  # type: ignore[arg-type]  # they are texts
            return parsed

        return members.take(prefix + name, each, None)

    lower = vector("inclusive_min", lambda value: _implicit(value, {"-inf": -INF}))
    if len(given) > 1:
        members.refuse()
        raise SpecError(f"At most one of {', '.join(quote(prefix + name) for name in _UPPER)} members is allowed")
    upper: Upper | None = None
    implicit_upper: tuple[bool, ...] | None = None
    if given:
        ends = vector(given[0], lambda value: _implicit(value, {"+inf": _UPPER[given[0]]})) or ()
        upper, implicit_upper = (given[0], tuple(end for end, _ in ends)), tuple(implicit for _, implicit in ends)
    labels = vector("labels", as_text)
    members.refuse()
    if rank is None:
        raise SpecError(f"expected {quote(names[0])}")
    starts = None if lower is None else tuple(bound for bound, _ in lower)
    implicit_lower = None if lower is None else tuple(implicit for _, implicit in lower)
    return rank, starts, implicit_lower, upper, implicit_upper, labels


def _bound(value: Any, infinite: dict[str, int]) -> int:
    # No bound is beyond infinity.
    ((name, limit),) = infinite.items()
    if value == name:
        return limit
    parse = as_integer(*((INT64_MIN, limit) if limit > 0 else (limit, INT64_MAX)))
    try:
        return parse(number_in(value, integer_of_text))
    except SpecError:
        raise SpecError(f"Expected 64-bit signed integer or {quote(name)}, but received: {dump(value)}") from None


def _implicit(value: Any, infinite: dict[str, int]) -> tuple[int, bool]:
    """Parse a bound; an implicit one is enclosed in an array."""
    if not isinstance(value, list):
        return _bound(value, infinite), False
    if len(value) != 1:
        raise SpecError(f"Expected array of size 1 indicating an implicit value, but received: {dump(value)}")
    return _bound(value[0], infinite), True


def _output(document: Any) -> RawMap:
    members = Members(document)
    if "input_dimension" in members.left and "index_array" in members.left:
        raise SpecError('At most one of "input_dimension", "index_array" members is allowed')
    has_array = "index_array" in members.left
    is_map = has_array or "input_dimension" in members.left
    offset = members.take("offset", as_index, 0)
    dim = members.take("input_dimension", as_index, None)
    array = members.take("index_array", _index_array, None)
    bounds = members.take("index_array_bounds", lambda value: _bounds(value, has_array), UNBOUNDED)
    stride = members.take("stride", lambda value: _stride(value, is_map), 1)
    members.end()
    return RawMap(offset, stride, dim, array, bounds)


def _stride(value: Any, meant: bool) -> int:
    if not meant:
        raise SpecError('Either "input_dimension" or "index_array" must be specified in conjunction with "stride"')
    return as_index(value)


def _bounds(value: Any, meant: bool) -> Bounds:
    if not meant:
        raise SpecError('"index_array_bounds" is only valid with "index_array"')
    if isinstance(value, list) and len(value) != 2:
        raise SpecError(f"Array has length {len(value)} but should have length 2")
    infinite = iter(({"-inf": -INF}, {"+inf": INF}))
    return closed(*as_list(lambda bound: _bound(bound, next(infinite)))(value))


def _index_array(value: Any) -> IndexArray:
    shape, integers = nested(value, lambda element: as_index(number_in(element, integer_of_text)))
    return np.array(integers, np.int64).reshape(shape)


def domain_to_json(form: Form, prefix: str = "") -> dict[str, Any]:
    """The domain; bounds that are infinite and implicit in all dimensions are left out.

    >>> domain_to_json(Form((0,), (5,), (False,), (True,), ("x",)))
    {'exclusive_max': [[5]], 'inclusive_min': [0], 'labels': ['x']}
    """
    result: dict[str, Any] = {}
    for name, bounds, implicit, text, infinite in (
        ("exclusive_max", form.upper, form.implicit_upper, "+inf", INF + 1),
        ("inclusive_min", form.lower, form.implicit_lower, "-inf", -INF),
    ):
        pairs = list(zip(bounds, implicit, strict=True))
        if any(pair != (infinite, True) for pair in pairs):
            values = [(text if bound == infinite else bound, is_implicit) for bound, is_implicit in pairs]
            result[f"{prefix}{name}"] = [[value] if is_implicit else value for value, is_implicit in values]
    if any(form.labels):
        result[f"{prefix}labels"] = list(form.labels)
    if not result:
        result[f"{prefix}rank"] = form.rank
    return result


def transform_to_json(form: Form) -> dict[str, Any]:
    """Return the JSON of a transform, without output maps that map each position to itself."""
    result = domain_to_json(form, "input_")
    if form.maps != identity_maps(form.rank):
        result["output"] = [_map_to_json(map_) for map_ in form.maps]
    # In the order of their names.
    return dict(sorted(result.items()))


def _map_to_json(map_: Map) -> dict[str, Any]:
    if isinstance(map_, int):
        return {"offset": map_} if map_ else {}
    result: dict[str, Any] = {}
    if isinstance(map_, ArrayMap):
        offset, stride = map_.offset, map_.stride
        result["index_array"] = map_.array.tolist()
        lower, upper = map_.bounds
        if map_.bounds != UNBOUNDED and bool(((map_.array < lower) | (map_.array >= upper)).any()):
            # Bounds that contain all indices are left out.
            ends = "-inf" if lower == -INF else lower, "+inf" if upper == INF + 1 else upper - 1
            result["index_array_bounds"] = list(ends)
    else:
        dim, offset, stride = map_
        result["input_dimension"] = dim
    if offset:
        result["offset"] = offset
    if stride != 1:
        result["stride"] = stride
    return result
