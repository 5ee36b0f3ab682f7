"""Specs of arrays made from others: converted to another data type, downsampled, or stacked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Final

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form, Map
from blizzarr.json_members import Members, as_integer, as_list, one_of
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import merge_layout
from blizzarr.spec.driver_table import DRIVERS
from blizzarr.spec.drivers.driver import Change, Driver, with_schema
from blizzarr.spec.json_array import dtype_of
from blizzarr.spec.metadata.elements import converted
from blizzarr.spec.open_mode import OpenMode, modes_on
from blizzarr.spec.schema import Schema, without_dtype
from blizzarr.spec.spec import spec_from_json, spec_json, spec_of, with_change
from blizzarr.spec.spec_node import KvNode, SpecNode
from blizzarr.spec.through_view import layout_of_view, units_of_view
from blizzarr.spec.unit import common_units, merge_units
from blizzarr.views import IndexDomain, domain_of, form_of, transform_of
from blizzarr.views.compose import compose

DOWNSAMPLE_METHODS = ("stride", "mean", "min", "max", "median", "mode")


class _OfOne(Driver):
    """An array that is made from one other."""

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        below = node.bases[0]
        if change.kvstore is not None or modes_on(change.open_mode) or change.recheck_cached_data is not None:
            below = DRIVERS[below.driver].changed(below, replace(change, schema=Schema()))
        return with_schema(node.altered(bases=(below,)), change.schema)

    def open_mode(self, node: SpecNode) -> OpenMode:
        return DRIVERS[node.bases[0].driver].open_mode(node.bases[0])

    def base(self, node: SpecNode) -> SpecNode | None:
        return node.bases[0]

    def kvstore(self, node: SpecNode) -> KvNode | None:
        return DRIVERS[node.bases[0].driver].kvstore(node.bases[0])

    def fact(self, node: SpecNode, name: str) -> Any:
        """Return what the array below has, with further constraints; its fill value is not known before it is open."""
        given = super().fact(node, name)
        if name == "fill_value":
            return given
        known = self.of_base(node, name, getattr(spec_of(node.bases[0]), name))
        if name == "chunk_layout":
            merge_layout(known, given)
        if name == "dimension_units" and given:
            return merge_units(known or (), given)
        return given if known is None else known

    def of_base(self, node: SpecNode, name: str, known: Any) -> Any:
        """Return what is known of the array below as it is of this one."""
        return known


def _base(members: Members, **known: Any) -> SpecNode:
    """Take the array below, with what is known of it already."""
    if "base" not in members.left:
        raise SpecError('Error parsing object member "base": Expected object, but member is missing')

    def parse(value: Any) -> SpecNode:
        return spec_from_json({**known, **value} if isinstance(value, dict) else value)

    return members.take("base", parse)


def _base_json(node: SpecNode, include_defaults: bool, *shared: str) -> dict[str, Any]:
    """Return the JSON of the array below; what it shares with this one is written once, but among all defaults."""
    json = spec_json(node.bases[0], include_defaults)
    return json if include_defaults else {name: value for name, value in json.items() if name not in shared}


class CastSpec(_OfOne):
    """An array as another data type."""

    name: ClassVar = "cast"

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        base = _base(members)
        schema = node.schema.copy()
        schema.update(rank=base.rank)
        return self.changed(node.altered(schema=Schema(), bases=(base,)), Change(schema=schema))

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        """The node with a change; all of the schema but the data type is a constraint on the array below."""
        own = Schema(dtype=change.schema.dtype, rank=change.schema.rank)
        below = with_change(node.bases[0], replace(change, schema=without_dtype(change.schema)))
        return with_schema(node.altered(bases=(below,)), own)

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return {"base": _base_json(node, include_defaults, *(() if node.rank is None else ("rank",)))}

    def fact(self, node: SpecNode, name: str) -> Any:
        fill, dtype = spec_of(node.bases[0]).fill_value if name == "fill_value" else None, node.schema.dtype
        if fill is None or dtype is None:
            return super().fact(node, name)
        with suppress(SpecError):  # what cannot be converted is an error when the array is opened
            return converted(fill, dtype_of(fill), dtype, fill.shape)
        return None

    def base(self, node: SpecNode) -> SpecNode | None:
        """The array below, through the same view."""
        below, view = node.bases[0], node.transform
        if view is None or below.transform is None:
            return below if view is None else below.altered(transform=view)
        return below.altered(transform=below.transform[view])

    def url(self, node: SpecNode) -> str:
        if node.schema.dtype is None:
            raise SpecError("cast URL requires target dtype to be specified")
        return f"{DRIVERS[node.bases[0].driver].url(node.bases[0])}|cast:{node.schema.dtype.name}"


class DownsampleSpec(_OfOne):
    """An array with fewer elements, each of which stands for a block."""

    name: ClassVar = "downsample"

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        dtype = node.schema.dtype
        base = _base(members, **({} if dtype is None else {"dtype": dtype.name}))
        rank = base.rank

        def fitting(value: Any) -> tuple[int, ...]:
            factors = tuple(as_list(as_integer(1, 2**62), 32)(value))
            if rank is not None and rank != len(factors):
                raise SpecError(f"Rank specified by downsample_factors ({len(factors)}) does not match rank {rank}")
            return factors

        factors = members.take("downsample_factors", fitting)
        method = members.take("downsample_method", one_of(*DOWNSAMPLE_METHODS))
        schema = node.schema.copy()
        schema.update(rank=len(factors))
        if base.schema.dtype is not None:
            schema.update(dtype=base.schema.dtype)
        base = with_schema(base, Schema(dtype=schema.dtype, rank=schema.rank))
        return node.altered(schema=schema, bases=(base,), options={"factors": factors, "method": method})

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return {
            "base": _base_json(node, include_defaults, "dtype", "rank"),
            "downsample_factors": list(node.options["factors"]),
            "downsample_method": node.options["method"],
        }

    def base(self, node: SpecNode) -> SpecNode | None:
        """The elements below that the view stands for; all of them for views with steps or arrays of indices."""
        below, view = node.bases[0], node.transform
        if view is None or below.transform is None:
            return below
        whole = form_of(below.transform)
        part = blocks_of_view(form_of(view), whole, node.options["factors"])
        return below if part is None else below.altered(transform=transform_of(compose(whole, part)))

    def of_base(self, node: SpecNode, name: str, known: Any) -> Any:
        factors = node.options["factors"]
        if known is None or name == "codec":
            return known
        if name == "domain":
            return downsampled_domain(known, factors, node.options["method"])
        firsts = firsts_of_blocks(factors)
        return layout_of_view(known, firsts) if name == "chunk_layout" else units_of_view(known, firsts)


class StackSpec(Driver):
    """Specs of stacks: each element is that of the last array that has it."""

    name: ClassVar = "stack"
    resources = ("data_copy_concurrency",)

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        layers = tuple(members.take("layers", as_list(spec_from_json, 2**31)))
        schema = node.schema.copy()
        for number, layer in enumerate(layers):
            if None not in (layer.rank, schema.rank) and layer.rank != schema.rank:
                raise SpecError(f"Layer {number}: rank of {layer.rank} does not match existing rank of {schema.rank}")
            schema.update(rank=layer.rank)
            if layer.schema.dtype is not None and schema.dtype is None:
                schema.update(dtype=layer.schema.dtype)
        return node.altered(schema=schema, bases=layers)

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return {"layers": [spec_json(layer, include_defaults) for layer in node.bases]}

    def fact(self, node: SpecNode, name: str) -> Any:
        """Return the smallest domain that contains all layers, and the units that they agree on, unless given."""
        given = super().fact(node, name)
        if name == "dimension_units":
            return common_units(given, (spec_of(layer).dimension_units for layer in node.bases))
        domains = [layer.domain for layer in node.bases if layer.domain is not None]
        if name != "domain" or given is not None or len(domains) < max(1, len(node.bases)):
            return given
        return common_domain(domains)


def common_domain(domains: Sequence[IndexDomain]) -> IndexDomain:
    """Return the smallest domain that contains those of all layers, with explicit bounds."""
    forms = list(map(form_of, domains))
    labels, never = forms[0].labels, (False,) * forms[0].rank
    if all(form.labels == labels and not form.is_empty for form in forms):
        # Of thousands of layers, all at once.
        lower = tuple(map(min, zip(*(form.lower for form in forms), strict=True)))
        upper = tuple(map(max, zip(*(form.upper for form in forms), strict=True)))
        return domain_of(Form(lower, upper, never, never, labels))
    hull = domains[0]
    for number, domain in enumerate(domains[1:], 1):
        with prefixed(f"Layer {number}"):
            hull = hull.hull(domain)
    return domain_of(form_of(hull)._replace(implicit_lower=never, implicit_upper=never))


def firsts_of_blocks(factors: tuple[int, ...]) -> Form:
    """Return the view that has the first element of each block."""
    maps = tuple((dim, 0, factor) for dim, factor in enumerate(factors))
    return form_of(IndexDomain(len(factors)))._replace(maps=maps)


def blocks_of_view(form: Form, whole: Form, factors: tuple[int, ...]) -> Form | None:
    """Return the elements, in terms of the array `whole`, of the blocks that a view of the downsampled one has.

    None if the view has steps or arrays of indices, whose blocks are no box.
    """
    lower, upper = list(form.lower), list(form.upper)
    maps: list[Map] = []
    for map_, factor, low, high in zip(form.maps, factors, whole.lower, whole.upper, strict=True):
        if not isinstance(map_, tuple) or map_[2] != 1 or any(map_[0] == other[0] for other in maps):  # type: ignore[index]
            return None
        dim, offset, _ = map_
        lower[dim] = max(form.lower[dim] * factor, low - offset * factor)
        upper[dim] = min(form.upper[dim] * factor, high - offset * factor)
        maps.append((dim, offset * factor, 1))
    never = (False,) * form.rank
    return Form(tuple(lower), tuple(upper), never, never, form.labels, tuple(maps))


def downsampled_domain(domain: IndexDomain, factors: tuple[int, ...], method: str) -> IndexDomain:
    """Return the domain of the blocks of another one.

    >>> downsampled_domain(IndexDomain(inclusive_min=[-3, 7], exclusive_max=[1, 12]), (2, 3), "mean")
    { [-2, 1), [2, 4) }
    >>> downsampled_domain(IndexDomain(inclusive_min=[-3, 7], exclusive_max=[1, 12]), (2, 3), "stride")
    { [-1, 1), [3, 4) }
    """
    form = form_of(domain)
    unbounded = -(2**62 - 1)
    lower, upper = [], []
    for low, high, factor in zip(form.lower, form.upper, factors, strict=True):
        first = -(-low // factor) if method == "stride" else low // factor
        last = -(-high // factor)
        first = low if low == unbounded else first
        lower.append(first)
        upper.append(high if high == 2**62 else max(first, last) if method == "stride" or high > low else first)
    return domain_of(form._replace(lower=tuple(lower), upper=tuple(upper)))


CAST: Final = CastSpec()
DOWNSAMPLE: Final = DownsampleSpec()
STACK: Final = StackSpec()
