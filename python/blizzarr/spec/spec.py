"""Specs of arrays: parsed from JSON or URLs, and written; and `Spec`, which users have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Never

import numpy as np

from blizzarr.errors import SpecError, UnsupportedDriverError
from blizzarr.indexing.form import Form, identity_maps
from blizzarr.json_members import Members, as_integer
from blizzarr.json_values import MISSING, expected, plain, quote
from blizzarr.keywords import name_keywords, unknown_keywords, what_there_is
from blizzarr.spec.arguments import Argument, apply_arguments, instance_of, prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.context import Context, ContextSpec
from blizzarr.spec.driver_table import ELSEWHERE, scheme_driver
from blizzarr.spec.drivers import DRIVERS, Change, Driver, StoredDriver
from blizzarr.spec.drivers.values import as_pointer
from blizzarr.spec.dtype import DType, dtype_json
from blizzarr.spec.kvstore import KvStoreSpec, NodeSpec, at_node, changed_context, kvstore_node
from blizzarr.spec.kvstore_json import (
    KV_DRIVERS,
    KV_SCHEMES,
    decoded,
    kvstore_json,
    split_url,
    unsupported_scheme,
    url_part,
    with_parts,
)
from blizzarr.spec.open_mode import MODES, OpenMode, modes_on, recheck_argument
from blizzarr.spec.resources import resources_json
from blizzarr.spec.schema import (
    SCHEMA_ARGUMENTS,
    UNCONSTRAINED,
    Schema,
    is_unconstrained,
    schema_of_base,
    set_dtype,
    set_rank,
    unknown_rank,
)
from blizzarr.spec.spec_node import KvNode, SpecNode
from blizzarr.spec.through_view import fill_of_view, layout_of_view, units_of_view
from blizzarr.spec.unit import Unit
from blizzarr.views import IndexDomain, Indexed, IndexTransform, form_of, transform_of
from blizzarr.views.values import MAX_RANK


def spec_from_json(value: Any) -> SpecNode:
    """Parse an array from JSON or a URL."""
    value = plain(value)
    if isinstance(value, str):
        return spec_from_url(value)
    members = Members(value)
    given = members.left
    name = given.pop("driver", MISSING)
    driver = DRIVERS.find(name) if type(name) is str else None
    if driver is None:
        if type(name) is not str or name not in KV_DRIVERS:
            raise _unknown_driver(name)
        # A key-value store, whose format is detected.
        members = Members({"kvstore": value})
        given, driver = members.left, DRIVERS["auto"]
    context = members.take("context", ContextSpec, None) if "context" in given else None
    schema, transform = UNCONSTRAINED, None
    if not _ABOUT_ARRAYS.isdisjoint(given):
        schema, transform = _array_members(members)
    node = SpecNode(driver.name, schema, transform, resources=driver.default_resources.copy(), context=context)
    try:
        node = driver.take(members, node)
        if given:
            node.resources.update(driver.take_resources(members))
    except SpecError as error:
        members.wrong.append(error)
        members.refuse()
    if given or members.wrong:
        members.end()
    return node if schema is node.schema is UNCONSTRAINED else derived(node)


_ABOUT_ARRAYS: Final = frozenset(("schema", "dtype", "transform", "rank"))


def _array_members(members: Members) -> tuple[Schema, IndexTransform | None]:
    """Take the constraints on the array that specs of all drivers may have."""
    schema = members.take("schema", Schema, UNCONSTRAINED).copy()
    members.take("dtype", lambda value: set_dtype(schema, dtype_json(value)), None)
    transform = members.take("transform", lambda value: IndexTransform(json=value), None)
    members.take("rank", lambda value: _check_rank(as_integer(0, MAX_RANK)(value), transform, schema), None)
    if transform is not None:
        set_rank(schema, transform.output_rank)
    return schema, transform


def _check_rank(rank: int, transform: IndexTransform | None, schema: Schema) -> None:
    if transform is None:
        set_rank(schema, rank)
    elif transform.input_rank != rank:
        raise SpecError(f"Specified rank ({rank}) does not match input rank of transform ({transform.input_rank})")


def _unknown_driver(name: Any) -> SpecError:
    """Return the error about a member ``driver`` that is not the name of a driver."""
    lead = 'Error parsing object member "driver":'
    if type(name) is not str:
        return SpecError(f"{lead} {expected(name, 'string').reason}")
    problem = f"{lead} {quote(name)} is not a registered TensorStore driver"
    if (what := ELSEWHERE.get(name)) is not None:
        return _unsupported(problem, what)
    return SpecError(problem + what_there_is(name, _drivers()))


def _unsupported(problem: str, what: str) -> UnsupportedDriverError:
    drivers = _drivers().items()
    stored = ", ".join(quote(name) for name, driver in drivers if isinstance(driver, StoredDriver))
    made = ", ".join(quote(name) for name, driver in drivers if not isinstance(driver, StoredDriver))
    return UnsupportedDriverError(
        f"{problem}: TensorStore has it, for {what}; this library reads and writes {stored}, and has {made}"
    )


def derived(node: SpecNode) -> SpecNode:
    """Return the node with the identity as its transform, if it has none and its domain is known."""
    if node.transform is not None:
        return node
    domain = DRIVERS[node.driver].fact(node, "domain")
    if domain is None:
        return node
    form = form_of(domain)
    return node.altered(transform=transform_of(form._replace(maps=identity_maps(form.rank))))


def spec_json(node: SpecNode, include_defaults: bool = False) -> dict[str, Any]:
    """Return the JSON of an array whose resources are not bound."""
    driver = DRIVERS[node.driver]
    schema = node.schema.to_json(include_defaults)
    if not include_defaults:
        # These two stand beside it.
        schema = {name: value for name, value in schema.items() if name not in ("rank", "dtype")}
    context = {} if node.context is None else node.context.to_json(include_defaults)
    json: dict[str, Any] = {"driver": node.driver}
    if context or include_defaults:
        json["context"] = context
    if schema or include_defaults:
        json["schema"] = schema
    if node.schema.dtype is not None:
        json["dtype"] = node.schema.dtype.name
    if node.transform is not None:
        json["transform"] = node.transform.to_json()
    elif node.schema.rank is not None:
        json["rank"] = node.schema.rank
    if node.kvstore is not None:
        json["kvstore"] = kvstore_json(node.kvstore, include_defaults)
    json.update(driver.to_json(node, include_defaults))
    # A driver that takes every resource writes only those that are not the defaults.
    json.update(resources_json(node.resources, include_defaults and driver.name != "auto"))
    return dict(sorted(json.items()))


# URLs.


def spec_from_url(text: str) -> SpecNode:
    """Parse a URL: a key-value store, stores made from it, a format, and arrays made from that array."""
    node: KvNode | SpecNode = with_parts(text, _applied)
    return _array("auto", "", node) if isinstance(node, KvNode) else derived(node)


def _applied(part: str, node: KvNode | SpecNode | None) -> KvNode | SpecNode:
    """Apply one part of a URL to what the parts before it give."""
    scheme = part.partition(":")[0]
    if scheme in KV_SCHEMES and not isinstance(node, SpecNode):
        return url_part(part, node)
    driver = DRIVERS["auto"] if scheme == "auto" else scheme_driver(scheme)
    if driver is not None and isinstance(node, KvNode):
        with prefixed(f"Invalid TensorStore URL component {quote(part)}"):
            url = split_url(part)
            # Slashes behind the scheme mean nothing in other URLs.
            url.check(False if scheme == "auto" else None)
            if scheme == "auto" and url.path:
                raise SpecError("Path not supported")
            return _array(driver.name, decoded(url.authority + url.path), node)
    if scheme == "cast" and node is not None:
        return _cast(part if ":" in part else f"{part}:", node)
    if (what := ELSEWHERE.get(scheme)) is not None:
        raise _unsupported(f"unsupported URL scheme: {quote(scheme)}", what)
    formats = filter(None, (driver.scheme for driver in _drivers().values()))
    raise unsupported_scheme(part, node, () if node is None else (*formats, "auto", "cast"))


def _drivers() -> dict[str, Driver]:
    return {name: driver for name, driver in DRIVERS.items() if name == driver.name}


def _cast(part: str, node: KvNode | SpecNode) -> SpecNode:
    """Return the array before a part such as ``cast:int8``, converted to that data type."""
    below = _array("auto", "", node) if isinstance(node, KvNode) else derived(node)
    with prefixed(f"Invalid TensorStore URL component {quote(part)}"):
        url = split_url(part)
        url.check()
        dtype = dtype_json(url.authority + url.path)
    return SpecNode("cast", Schema(dtype=dtype, rank=below.rank), bases=(below,))


def _array(driver: str, path: str, store: KvNode) -> SpecNode:
    """Return the array of a format in a store, without other constraints."""
    if isinstance(DRIVERS[driver], StoredDriver):
        store = store.directory()
        if path:
            store = store.altered(path=store.path + path).directory()
    members = Members({"json_pointer": as_pointer(path)} if driver == "json" else {})
    node = SpecNode(driver, resources=DRIVERS[driver].default_resources.copy())
    return DRIVERS[driver].take(members, node).altered(kvstore=store)


class Spec(NodeSpec, Indexed):
    """The spec of an array to open or create: parsed JSON.

    Indexing gives the spec of a view of the array.

    Parameters
    ----------
    json
        A URL, or an object with a member ``driver``.

    Examples
    --------
    >>> spec = Spec({"driver": "zarr3", "kvstore": "memory://a/", "dtype": "int8"})
    >>> spec.update(shape=[4, 5], create=True)
    >>> spec.shape, spec.open_mode, spec.url
    ((4, 5), OpenMode(create=True), 'memory://a/|zarr3:')
    """

    __slots__ = ("__weakref__", "_node")
    _node: SpecNode
    _node_json = staticmethod(spec_json)

    def __init__(self, json: Any, **unknown: Never) -> None:
        if unknown:
            hint = unknown_keywords(Spec.update, unknown)
            raise TypeError(
                f"Spec() takes JSON alone, create=True and the like are for Spec.update() and open(); {hint}"
            )
        self._node = node_of(json)

    def update(self, **changes: Any) -> None:
        """Change the spec in place, or constrain it further.

        They are ``open_mode``, ``open``, ``create``, ``delete_existing``, ``assume_metadata``,
        ``assume_cached_metadata``, ``unbind_context``, ``strip_context``, ``context``, ``kvstore``, ``minimal_spec``,
        ``recheck_cached_metadata``, ``recheck_cached_data``, ``recheck_cached``, and what constrains a `Schema`.

        Examples
        --------
        >>> spec = Spec({"driver": "zarr3", "kvstore": "memory://"})
        >>> spec.update(rank=2, recheck_cached_data="open")
        >>> spec
        Spec({
          'driver': 'zarr3',
          'kvstore': {'driver': 'memory'},
          'rank': 2,
          'recheck_cached_data': 'open',
        })
        """
        self._node = changed(self._node, change_of(Spec.update, changes))

    # Properties

    @property
    def rank(self) -> int | None:
        """The number of dimensions, if it is known."""
        return self._node.rank

    ndim = rank

    @property
    def dtype(self) -> DType | None:
        """The data type, if it is known."""
        return self._node.schema.dtype

    @property
    def open_mode(self) -> OpenMode:
        """The open mode: what opening may do."""
        return self._driver.open_mode(self._node)

    @property
    def transform(self) -> IndexTransform | None:
        """The map from positions of this view to those of the stored array, if it is known."""
        return self._node.transform

    @property
    def domain(self) -> IndexDomain | None:
        """The indices of elements, if they are known."""
        return self._node.domain

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The chunk layout, as far as it is known."""
        layout: ChunkLayout = self._driver.fact(self._node, "chunk_layout")
        return layout if self._node.transform is None else layout_of_view(layout, form_of(self._node.transform))

    @property
    def codec(self) -> CodecSpec | None:
        """The codec that turns elements into bytes, as far as it is known."""
        return self._driver.fact(self._node, "codec")

    @property
    def fill_value(self) -> np.ndarray[Any, Any] | None:
        """The value of elements that were never written, if it is known."""
        fill: np.ndarray[Any, Any] | None = self._driver.fact(self._node, "fill_value")
        if fill is None:
            return None
        if self._node.transform is not None:
            fill = fill_of_view(fill, form_of(self._node.transform), self._node.schema.domain)
        # Other specs may have the same one.
        fill = fill.view()
        fill.flags.writeable = False
        return fill

    @property
    def dimension_units(self) -> tuple[Unit | None, ...] | None:
        """The unit of each dimension, if the rank is known; None where it is not known."""
        rank = self._node.schema.rank
        if rank is None:
            return None
        units = self._driver.fact(self._node, "dimension_units") or (None,) * rank
        return units if self._node.transform is None else units_of_view(units, form_of(self._node.transform))

    @property
    def kvstore(self) -> KvStoreSpec | None:
        """The store, if there is one."""
        node = self._driver.kvstore(self._node)
        return None if node is None else at_node(KvStoreSpec, node)

    @property
    def base(self) -> Spec | None:
        """The spec of the array that this one is made from, if there is one."""
        node = self._driver.base(self._node)
        return None if node is None else spec_of(node)

    @property
    def schema(self) -> Schema:
        """The schema: everything that is known of the array."""
        names = ("dtype", "rank", "domain", "chunk_layout", "codec", "dimension_units", "fill_value")
        return Schema(**{name: getattr(self, name) for name in names})

    @property
    def url(self) -> str:
        """The array as a URL."""
        return self._driver.url(self._node)

    @property
    def _driver(self) -> Driver:
        return DRIVERS[self._node.driver]

    # Views of it

    @property
    def _form(self) -> Form:
        if self._node.transform is not None:
            return form_of(self._node.transform)
        if self._node.schema.rank is None:
            raise unknown_rank(self)
        return form_of(IndexTransform(input_rank=self._node.schema.rank))

    def _with_form(self, form: Form) -> Spec:
        return spec_of(self._node.altered(transform=transform_of(form)))


def spec_of(node: SpecNode) -> Spec:
    return at_node(Spec, node)


def node_of(json: Any) -> SpecNode:
    """Return the node of a spec, which may be given as JSON or as a URL."""
    return json._node if isinstance(json, Spec) else spec_from_json(json)


def _set(convert: Any, *names: str) -> Argument:
    def apply(change: Change, value: Any) -> None:
        for name in names:
            setattr(change, name, value)

    return Argument(convert, apply)


def _mode_with(name: str, on: Any) -> OpenMode:
    return OpenMode(**{name: on})


def _join(change: Change, mode: OpenMode) -> None:
    for name in modes_on(mode):
        setattr(change.open_mode, name, True)


def _constrain(row: Argument, change: Change, value: Any) -> None:
    row.apply(change.schema, value)


CHANGES: Final[dict[str, Argument]] = {
    "open_mode": Argument(instance_of(OpenMode), _join),
    **{name: Argument(partial(_mode_with, name), _join) for name in MODES},
    **{name: _set(bool, name) for name in ("unbind_context", "strip_context", "minimal_spec")},
    "context": _set(instance_of(Context), "context"),
    "kvstore": Argument(instance_of(KvStoreSpec), lambda change, spec: setattr(change, "kvstore", kvstore_node(spec))),
    "recheck_cached_metadata": _set(recheck_argument, "recheck_cached_metadata"),
    "recheck_cached_data": _set(recheck_argument, "recheck_cached_data"),
    "recheck_cached": _set(recheck_argument, "recheck_cached_data", "recheck_cached_metadata"),
    **{name: Argument(row.convert, partial(_constrain, row)) for name, row in SCHEMA_ARGUMENTS.items()},
}
"""The changes to a spec by keyword, in the order in which they are applied."""

name_keywords(Spec.__init__)
name_keywords(Spec.update, list(CHANGES))


def change_of(function: Callable[..., Any], changes: dict[str, Any]) -> Change:
    """Convert the keywords of a function to changes; unknown and contradictory ones are errors."""
    change = Change()
    apply_arguments(function, change, CHANGES, changes)
    return change


def changed(node: SpecNode, change: Change, default: Context | None = None) -> SpecNode:
    """Return the node with a change; resources that are not bound then are bound to its context, or to the default."""
    node = with_change(changed_context(node, change.unbind_context, change.strip_context, None), change)
    return changed_context(node, False, False, default if change.context is None else change.context)


def with_change(node: SpecNode, change: Change) -> SpecNode:
    """Return the node with a change but for its context."""
    had_none = node.transform is None and change.schema.domain is not None
    if node.transform is not None and not is_unconstrained(change.schema):
        change = replace(change, schema=schema_of_base(change.schema, node.transform))
    node = DRIVERS[node.driver].changed(node, change)
    return derived(node) if had_none else node
