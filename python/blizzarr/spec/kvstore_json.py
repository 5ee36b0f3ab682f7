"""Key-value stores in JSON or as URLs, parsed and written."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Protocol

from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, copied, expected, plain, quote
from blizzarr.keywords import what_there_is
from blizzarr.spec.altered import altered
from blizzarr.spec.binding import Resource, resource_json
from blizzarr.spec.context import DEFAULT_RESOURCES, ContextSpec, ResourceSpec, resource_spec
from blizzarr.spec.driver_table import DRIVERS, scheme_driver
from blizzarr.spec.kvstore_node import KvNode
from blizzarr.spec.members import Members, as_text
from blizzarr.spec.places import PLACES, SCHEMES
from blizzarr.spec.resources import RESOURCES
from blizzarr.spec.urls import as_place, in_url, split_url
from blizzarr.stores.credentials import credentials_in, raise_from


def kvstore_from_json(value: Any) -> KvNode:
    """Parse a place from JSON or a URL.

    Examples
    --------
    >>> kvstore_from_json("memory://a").path, kvstore_from_json({"driver": "file", "path": "/tmp"}).driver
    ('a', 'file')
    """
    return kvstore_of(plain(value))


def kvstore_of(value: Any) -> KvNode:
    """Parse a place from JSON in plain types, or a URL."""
    if isinstance(value, str):
        return kvstore_from_url(value)
    members = Members(value)
    given = members.left
    driver = given.get("driver")
    if type(driver) is str and driver in PLACES:
        del given["driver"]
    else:
        driver = members.take("driver", _driver)
    place = PLACES[driver]
    context = members.take("context", ContextSpec, None) if "context" in given else None
    path = given.pop("path", "")
    if type(path) is not str:
        given["path"] = path
        path = members.take("path", as_text, "")
    base = members.take("base", _base) if place.on_top else None
    options: dict[str, Any] = {}
    for name, row in place.options.items():
        options[name] = members.take(name, row.parse, row.default)
    resources = take_resources(members, place) if given else _USUAL[driver].copy()
    if given or members.wrong:
        members.end()
    return place.normalize(KvNode(driver, "" if path == place.root else path, options, resources, base, context))


_USUAL: Final[dict[str, dict[str, Resource]]] = {
    driver: {name: DEFAULT_RESOURCES[name] for name in place.resources} for driver, place in PLACES.items()
}
"""The resources of places that name none."""


def _base(value: Any) -> KvNode:
    if value is MISSING:
        raise expected(value, "object")
    return kvstore_of(value)


def _driver(value: Any) -> str:
    name = as_text(value)
    if name not in PLACES:
        if name in DRIVERS:
            raise SpecError(f"{quote(name)} is a TensorStore driver, not a KvStore driver")
        raise SpecError(f"{quote(name)} is not a registered KvStore driver{what_there_is(name, PLACES)}")
    return name


class _Using(Protocol):
    """A driver, with the names of its resources."""

    @property
    def resources(self) -> tuple[str, ...]: ...
    @property
    def optional_resources(self) -> tuple[str, ...]: ...


def take_resources(members: Members, driver: _Using) -> dict[str, Resource]:
    """Take the resources of a node; those that are not given are the defaults of the context."""
    resources: dict[str, Resource] = {}
    for name in driver.resources:
        resources[name] = DEFAULT_RESOURCES[name]
    if not members.left:
        return resources
    for name in (*driver.resources, *driver.optional_resources):
        if name in members.left:
            taken = members.take(name, partial(_resource, name.removeprefix("metadata_")), None)
            if taken is not None:
                resources[name] = taken
    return resources


def _resource(name: str, value: Any) -> ResourceSpec:
    if isinstance(value, list):
        # It was bound when it was written.
        if len(value) != 1:
            raise expected(value, "single-element array")
        value = value[0]
    if value is None:
        raise expected(value, "non-null value")
    return resource_spec(RESOURCES[name], value)


def resources_json(resources: dict[str, Resource], include_defaults: bool) -> dict[str, Any]:
    """Return the JSON of the resources of a node that is not bound."""
    return {
        name: resource_json(resource, include_defaults)
        for name, resource in resources.items()
        if include_defaults or not isinstance(resource, ResourceSpec) or resource.immediate or not resource.is_usual
    }


def kvstore_json(node: KvNode, include_defaults: bool = False) -> dict[str, Any]:
    """Return the JSON of a place that is not bound."""
    place = PLACES[node.driver]
    json: dict[str, Any] = {"driver": node.driver}
    if node.context is not None:
        context = node.context.to_json(include_defaults)
        if context or include_defaults:
            json["context"] = context
    elif include_defaults:
        json["context"] = {}
    if node.path or include_defaults:
        json["path"] = node.path
    if node.base is not None:
        json["base"] = kvstore_json(node.base, include_defaults)
    for name, row in place.options.items():
        value = node.options.get(name, row.default)
        if value != row.default or (include_defaults and not row.optional):
            json[name] = copied(value)
    json.update(resources_json(node.resources, include_defaults))
    return dict(sorted(json.items()))


def kvstore_from_url(text: str) -> KvNode:
    """Parse a URL: a place, followed by ``|`` and a place on top of it, any number of times.

    Examples
    --------
    >>> kvstore_from_url("file:///data/a.zip|zip:b").base.path
    '/data/a.zip'
    """
    if not text:
        raise SpecError("URL must be non-empty")
    node: KvNode | None = None
    for part in text.split("|"):
        try:
            node = url_part(part, node)
        except SpecError as error:
            raise_from(error, in_url(SpecError, text, error), credentials_in(text))
    assert node is not None
    return node


def url_part(part: str, base: KvNode | None) -> KvNode:
    """Parse one part of a URL into a place, on top of `base` if there is one."""
    if not part:
        raise SpecError("URL must be non-empty")
    if ":" not in part:
        if base is None:
            raise SpecError(f"URL scheme must be specified in {quote(part)}{as_place(part)}")
        part += ":"
    scheme = part.partition(":")[0]
    place = SCHEMES.get(scheme)
    if place is None or place.on_top != (base is not None):
        raise unsupported_scheme(scheme, part)
    try:
        node = place.from_url(split_url(part), part)
    except SpecError as error:
        raise SpecError(f"Invalid kvstore URL component {quote(part)}: {error.reason}") from error
    options = {name: node.options.get(name, row.default) for name, row in place.options.items()}
    return place.normalize(altered(node, options=options, resources=_USUAL[place.driver].copy(), base=base))


def unsupported_scheme(scheme: str, part: str) -> SpecError:
    """Return the error about a scheme in the wrong position, which says what kind of scheme it is."""
    place = SCHEMES.get(scheme)
    kind = ""
    if place is not None:
        kind = "kvstore adapter" if place.on_top else "root kvstore"
    elif scheme == "cast":
        kind = "TensorStore adapter"
    elif scheme == "auto" or scheme_driver(scheme) is not None:
        kind = "kvstore-based TensorStore"
    known = f": {quote(scheme)} is a {kind} URL scheme" if kind else what_there_is(scheme, SCHEMES)
    return SpecError(f"unsupported URL scheme {quote(scheme)} in {quote(part)}{known}")


def kvstore_url(node: KvNode) -> str:
    """The URL of a place.

    Examples
    --------
    >>> kvstore_url(kvstore_from_url("memory://a b|zip:c"))
    'memory://a%20b|zip:c'
    """
    url = PLACES[node.driver].to_url(node)
    return url if node.base is None else f"{kvstore_url(node.base)}|{url}"
