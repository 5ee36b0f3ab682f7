"""Domains and transforms as JSON."""

from __future__ import annotations

from typing import Any

from blizzarr.indexing.form import ArrayMap, Form, Map, identity_maps
from blizzarr.indexing.interval import INF, UNBOUNDED


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
            result[f"{prefix}{name}"] = [_bound(bound, text, infinite, is_implicit) for bound, is_implicit in pairs]
    if any(form.labels):
        result[f"{prefix}labels"] = list(form.labels)
    if not result:
        result[f"{prefix}rank"] = form.rank
    return result


def transform_to_json(form: Form) -> dict[str, Any]:
    """Return the JSON of a transform, without output maps that map each position to itself.

    Examples
    --------
    >>> transform_to_json(Form((0,), (5,), (False,), (False,), ("",), (7, (0, 0, 2))))
    {'input_exclusive_max': [5], 'input_inclusive_min': [0], 'output': [{'offset': 7}, {'input_dimension': 0, 'stride': 2}]}
    """  # noqa: E501
    result = domain_to_json(form, "input_")
    if form.maps != identity_maps(form.rank):
        result["output"] = [_map_to_json(map_) for map_ in form.maps]
    # In the order of their names.
    return dict(sorted(result.items()))


def _bound(bound: int, text: str, infinite: int, implicit: bool) -> Any:
    value = text if bound == infinite else bound
    return [value] if implicit else value


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
            result["index_array_bounds"] = [_bound(lower, "-inf", -INF, False), _bound(upper - 1, "+inf", INF, False)]
    else:
        dim, offset, stride = map_
        result["input_dimension"] = dim
    if offset:
        result["offset"] = offset
    if stride != 1:
        result["stride"] = stride
    return result
