"""Domains and transforms from JSON; errors name the place in the document in TensorStore's words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form, IndexArray
from blizzarr.indexing.interval import INF, INT64_MAX, INT64_MIN, UNBOUNDED, Bounds, closed
from blizzarr.number_text import integer_of_text
from blizzarr.views.components import Upper, complete
from blizzarr.views.raw_maps import RawMap, made_maps
from blizzarr.views.values import MAX_RANK, check_unique, quoted

T = TypeVar("T")

_UPPER = ("shape", "inclusive_max", "exclusive_max")


def parse_domain(document: Any) -> Form:
    """The domain that a document describes.

    Examples
    --------
    >>> parse_domain({"inclusive_min": [7, ["-inf"]], "exclusive_max": [10, [8]]}).interval(1).effective
    Bounds(lower=-4611686018427387903, upper=4611686018427387904)
    """
    try:
        members = _members(document)
        described = _domain(members, "")
        _check_no_more(members)
        return complete(*described)
    except SpecError as error:
        raise SpecError(f"Error parsing index domain from JSON: {error}") from None


def parse_transform(document: Any) -> Form:
    """The transform that a document describes."""
    try:
        members = _members(document)
        described = _domain(members, "input_")
        raw: list[RawMap] | None = None
        if "output" in members:
            raw = _at("output", lambda: _each(members.pop("output"), _output))
        _check_no_more(members)
        return made_maps(complete(*described), raw)
    except SpecError as error:
        raise SpecError(f"Error parsing index transform from JSON: {error}") from None


def _members(document: Any) -> dict[str, Any]:
    if hasattr(document, "to_json"):
        document = document.to_json()
    if not isinstance(document, Mapping):
        raise SpecError(f"Expected object, but received: {_shown(document)}")
    return dict(document)


def _check_no_more(members: Mapping[str, Any]) -> None:
    if members:
        raise SpecError(f"Object includes extra members: {','.join(map(quoted, sorted(members)))}")


def _at(name: str, parse: Callable[[], T]) -> T:
    try:
        return parse()
    except SpecError as error:
        raise SpecError(f"Error parsing object member {quoted(name)}: {error}") from None


def _shown(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), default=repr, ensure_ascii=False)


def _each(value: Any, parse: Callable[[Any], T]) -> list[T]:
    if not isinstance(value, list | tuple | np.ndarray):
        raise SpecError(f"Expected array, but received: {_shown(value)}")
    result = []
    for position, item in enumerate(value):
        try:
            result.append(parse(item))
        except SpecError as error:
            raise SpecError(f"Error parsing value at position {position}: {error}") from None
    return result


def _integer(value: Any, lower: int = INT64_MIN, upper: int = INT64_MAX) -> int:
    whole = isinstance(value, float) and value.is_integer()
    if not isinstance(value, int | float) or isinstance(value, bool) or (isinstance(value, float) and not whole):
        result = None
    else:
        result = int(value)
    if result is None or not lower <= result <= upper:
        wanted = (
            "64-bit signed integer"
            if (lower, upper) == (INT64_MIN, INT64_MAX)
            else (f"integer in the range [{lower}, {upper}]")
        )
        raise SpecError(f"Expected {wanted}, but received: {_shown(value)}")
    return result


def _of_text(value: Any) -> Any:
    """Parse an integer in a text; return other values, and other texts, unchanged."""
    number = integer_of_text(value) if isinstance(value, str) else None
    return value if number is None else number


def _bound(value: Any, infinite: dict[str, int]) -> int:
    if isinstance(value, str) and value in infinite:
        return infinite[value]
    # No bound is beyond infinity.
    ((_, limit),) = infinite.items()
    try:
        return _integer(_of_text(value), *((INT64_MIN, limit) if limit > 0 else (limit, INT64_MAX)))
    except SpecError:
        names = " or ".join(map(quoted, infinite))
        raise SpecError(f"Expected 64-bit signed integer or {names}, but received: {_shown(value)}") from None


def _domain(members: dict[str, Any], prefix: str) -> tuple[Any, ...]:
    """Parse the members that describe a domain into the arguments of `complete`."""
    names = [prefix + name for name in ("rank", "inclusive_min", "shape", "inclusive_max", "exclusive_max", "labels")]
    if not any(name in members for name in names):
        raise SpecError(f"At least one of {', '.join(map(quoted, names))} members must be specified")
    rank: int | None = None
    if names[0] in members:
        rank = _at(names[0], lambda: _integer(members.pop(names[0]), 0, MAX_RANK))

    def vector(name: str, parse: Callable[[Any], T]) -> list[T]:
        nonlocal rank

        def each() -> list[T]:
            nonlocal rank
            value = members.pop(name)
            if isinstance(value, list | tuple):
                if len(value) > MAX_RANK:
                    raise SpecError(f"Rank {len(value)} is outside valid range [0, {MAX_RANK}]")
                if rank is not None and len(value) != rank:
                    raise SpecError(f"Array has length {len(value)} but should have length {rank}")
                rank = len(value)
            return _each(value, parse)

        return _at(name, each)

    lower: list[tuple[int, bool]] | None = None
    if prefix + "inclusive_min" in members:
        lower = vector(prefix + "inclusive_min", lambda value: _implicit(value, {"-inf": -INF}))
    given = [name for name in _UPPER if prefix + name in members]
    if len(given) > 1:
        raise SpecError(f"At most one of {', '.join(quoted(prefix + name) for name in _UPPER)} members is allowed")
    upper: Upper | None = None
    implicit_upper: tuple[bool, ...] | None = None
    if given:
        infinite = {"shape": 2 * INF + 1, "inclusive_max": INF, "exclusive_max": INF + 1}[given[0]]
        ends = vector(prefix + given[0], lambda value: _implicit(value, {"+inf": infinite}))
        upper = given[0], tuple(end for end, _ in ends)
        implicit_upper = tuple(implicit for _, implicit in ends)
    labels: tuple[str, ...] | None = None
    if prefix + "labels" in members:
        labels = tuple(vector(prefix + "labels", _string))
        _at(prefix + "labels", lambda: check_unique(labels or ()))
    if rank is None:
        raise SpecError(f"expected {quoted(prefix + 'rank')}")
    return (
        rank,
        None if lower is None else tuple(bound for bound, _ in lower),
        None if lower is None else tuple(implicit for _, implicit in lower),
        upper,
        implicit_upper,
        labels,
    )


def _implicit(value: Any, infinite: dict[str, int]) -> tuple[int, bool]:
    """Parse a bound; an implicit one is enclosed in an array."""
    if not isinstance(value, list | tuple):
        return _bound(value, infinite), False
    if len(value) != 1:
        raise SpecError(f"Expected array of size 1 indicating an implicit value, but received: {_shown(value)}")
    return _bound(value[0], infinite), True


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise SpecError(f"Expected string, but received: {_shown(value)}")
    return value


def _output(document: Any) -> RawMap:
    members = _members(document)
    offset = _at("offset", lambda: _integer(members.pop("offset"))) if "offset" in members else 0
    if "input_dimension" in members and "index_array" in members:
        raise SpecError('At most one of "input_dimension", "index_array" members is allowed')
    dim = array = None
    if "input_dimension" in members:
        dim = _at("input_dimension", lambda: _integer(members.pop("input_dimension")))
    if "index_array" in members:
        array = _at("index_array", lambda: _nested(members.pop("index_array")))
    bounds = UNBOUNDED
    if "index_array_bounds" in members:
        bounds = _at("index_array_bounds", lambda: _bounds(members.pop("index_array_bounds"), array is not None))
    stride = 1
    if "stride" in members:
        stride = _at("stride", lambda: _stride(members.pop("stride"), dim is not None or array is not None))
    _check_no_more(members)
    return RawMap(offset, stride, dim, array, bounds)


def _stride(value: Any, meant: bool) -> int:
    if not meant:
        raise SpecError('Either "input_dimension" or "index_array" must be specified in conjunction with "stride"')
    return _integer(value)


def _bounds(value: Any, meant: bool) -> Bounds:
    if not meant:
        raise SpecError('"index_array_bounds" is only valid with "index_array"')
    if isinstance(value, list | tuple) and len(value) != 2:
        raise SpecError(f"Array has length {len(value)} but should have length 2")
    infinite = iter(({"-inf": -INF}, {"+inf": INF}))
    lower, last = _each(value, lambda bound: _bound(bound, next(infinite)))
    return closed(lower, last)


def _nested(value: Any) -> IndexArray:
    """Parse nested arrays of integers, all of one shape; errors name the position."""
    result = value.tolist() if isinstance(value, np.ndarray) else value
    shape: list[int] = []
    part = result
    while isinstance(part, list | tuple):
        shape.append(len(part))
        if not part:
            break
        part = part[0]
    integers: list[int] = []
    _gather(result, shape, (), integers)
    return np.array(integers, np.int64).reshape(shape)


def _gather(part: Any, shape: list[int], position: tuple[int, ...], integers: list[int]) -> None:
    at = f"position {{{', '.join(map(str, position))}}}"
    is_array = isinstance(part, list | tuple)
    if len(position) == len(shape):
        if is_array:
            raise SpecError(f"Expected rank-{len(shape)} array, but found array element {_shown(part)} at {at}.")
        try:
            integers.append(_integer(_of_text(part)))
        except SpecError as error:
            raise SpecError(f"Error parsing array element at {at}: {error}") from None
        return
    if not is_array:
        raise SpecError(f"Expected rank-{len(shape)} array, but found non-array element {_shown(part)} at {at}.")
    if len(part) != shape[len(position)]:
        raise SpecError(
            f"Expected array of shape {{{', '.join(map(str, shape))}}}, but found array element {_shown(part)} of "
            f"length {len(part)} at {at}."
        )
    for index, item in enumerate(part):
        _gather(item, shape, (*position, index), integers)
