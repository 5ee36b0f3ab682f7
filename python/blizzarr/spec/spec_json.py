"""Specs of arrays in JSON or as URLs, parsed and written."""

from __future__ import annotations

from typing import Any, Final

from blizzarr.errors import SpecError, UnsupportedDriverError
from blizzarr.indexing.form import identity_maps
from blizzarr.json_members import Members, as_integer, as_text
from blizzarr.json_values import plain, quote
from blizzarr.keywords import what_there_is
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.context import ContextSpec
from blizzarr.spec.driver_table import ELSEWHERE, scheme_driver
from blizzarr.spec.drivers import DRIVERS, Driver, StoredDriver
from blizzarr.spec.drivers.values import as_pointer
from blizzarr.spec.dtype import DTYPES, dtype_json
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
from blizzarr.spec.resources import resources_json
from blizzarr.spec.schema import UNCONSTRAINED, Schema, schema_from_json, set_dtype, set_rank
from blizzarr.spec.spec_node import KvNode, SpecNode
from blizzarr.views import IndexTransform, form_of, transform_of
from blizzarr.views.values import MAX_RANK


def spec_from_json(value: Any) -> SpecNode:
    """Parse an array from JSON or a URL."""
    value = plain(value)
    if isinstance(value, str):
        return spec_from_url(value)
    members = Members(value)
    given = members.left
    name = given.get("driver")
    driver = DRIVERS.find(name) if type(name) is str else None
    if driver is not None:
        name = driver.name
        del given["driver"]
    elif type(name) is str and name in KV_DRIVERS:
        # A key-value store, whose format is detected.
        members = Members({"kvstore": value})
        given, name, driver = members.left, "auto", DRIVERS["auto"]
    else:
        if type(name) is str and (what := ELSEWHERE.get(name)) is not None:
            raise _unsupported(
                f'Error parsing object member "driver": {quote(name)} is not a registered TensorStore driver', what
            )
        name = members.take("driver", _driver)
        driver = DRIVERS[name]
    context = members.take("context", ContextSpec, None) if "context" in given else None
    schema, transform = UNCONSTRAINED, None
    if not _ABOUT_ARRAYS.isdisjoint(given):
        schema, transform = _array_members(members)
    node = SpecNode(name, schema, transform, resources=driver.default_resources.copy(), context=context)
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
    schema = members.take("schema", schema_from_json, UNCONSTRAINED).copy()
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


def _driver(value: Any) -> str:
    name = as_text(value)
    if name not in DRIVERS:
        raise SpecError(f"{quote(name)} is not a registered TensorStore driver{what_there_is(name, _drivers())}")
    return DRIVERS[name].name


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
    parts = {"context": context, "schema": schema}
    json: dict[str, Any] = {
        "driver": node.driver,
        **{name: part for name, part in parts.items() if part or include_defaults},
    }
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
            url.refuse_query()
            if scheme == "auto":
                url.check_slashes(False)
                if url.path:
                    raise SpecError("Path not supported")
            # Slashes behind the scheme mean nothing here.
            return _array(driver.name, decoded(url.authority + url.path), node)
    if scheme == "cast" and node is not None:
        return _cast(part if ":" in part else f"{part}:", node)
    if (what := ELSEWHERE.get(scheme)) is not None:
        raise _unsupported(f"unsupported URL scheme: {quote(scheme)}", what)
    formats = filter(None, (driver.scheme for driver in _drivers().values()))
    raise unsupported_scheme(part, node, () if node is None else (*formats, "auto", "cast"))


def _drivers() -> dict[str, Driver]:
    """Return all drivers by their own names."""
    return {name: driver for name, driver in DRIVERS.items() if name == driver.name}


def _cast(part: str, node: KvNode | SpecNode) -> SpecNode:
    """Return the array before a part such as ``cast:int8``, converted to that data type."""
    below = _array("auto", "", node) if isinstance(node, KvNode) else derived(node)
    with prefixed(f"Invalid TensorStore URL component {quote(part)}"):
        url = split_url(part)
        url.refuse_query()
        name = url.authority + url.path
        if name not in DTYPES:
            raise SpecError(f"Unsupported data type: {quote(name)}")
    return SpecNode("cast", Schema(dtype=name, rank=below.rank), bases=(below,))


def _array(driver: str, path: str, store: KvNode) -> SpecNode:
    """Return the array of a format in a store, without other constraints."""
    if isinstance(DRIVERS[driver], StoredDriver):
        store = store.directory()
        if path:
            store = store.altered(path=store.path + path).directory()
    members = Members({"json_pointer": as_pointer(path)} if driver == "json" else {})
    node = SpecNode(driver, resources=DRIVERS[driver].default_resources.copy())
    return DRIVERS[driver].take(members, node).altered(kvstore=store)
