"""Key-value stores in JSON or as URLs, parsed and written."""

from __future__ import annotations

from typing import Any

from blizzarr.errors import SpecError
from blizzarr.json_members import Members, as_text, options_json
from blizzarr.json_values import copied, plain, quote
from blizzarr.keywords import what_there_is
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.context import ContextSpec
from blizzarr.spec.driver_table import DRIVERS, scheme_driver
from blizzarr.spec.kvstore_drivers import KV_DRIVERS, KV_SCHEMES
from blizzarr.spec.resources import resources_json
from blizzarr.spec.spec_node import KvNode
from blizzarr.spec.urls import hint_of_path, split_url, with_parts


def kvstore_from_json(value: Any) -> KvNode:
    """Parse a key-value store from JSON or a URL.

    >>> kvstore_from_json("memory://a").path, kvstore_from_json({"driver": "file", "path": "/tmp"}).driver
    ('a', 'file')
    """
    return kvstore_of(plain(value))


def kvstore_of(value: Any) -> KvNode:
    """Parse a key-value store from JSON in plain types, or a URL."""
    if isinstance(value, str):
        return kvstore_from_url(value)
    members = Members(value)
    given = members.left
    driver = given.get("driver")
    if type(driver) is str and driver in KV_DRIVERS:
        del given["driver"]
    else:
        driver = members.take("driver", _driver)
    kind = KV_DRIVERS[driver]
    context = members.take("context", ContextSpec, None) if "context" in given else None
    path = given.pop("path", "")
    if type(path) is not str:
        given["path"] = path
        path = members.take("path", as_text, "")
    base = members.take("base", kvstore_of) if kind.is_adapter else None
    options = members.take_all(kind.options) if kind.options else {}
    resources = kind.take_resources(members) if given else kind.default_resources.copy()
    if given or members.wrong:
        members.end()
    return kind.normalize(KvNode(driver, "" if path == kind.root else path, options, resources, base, context))


def _driver(value: Any) -> str:
    name = as_text(value)
    if name not in KV_DRIVERS:
        if name in DRIVERS:
            raise SpecError(f"{quote(name)} is a TensorStore driver, not a KvStore driver")
        raise SpecError(f"{quote(name)} is not a registered KvStore driver{what_there_is(name, KV_DRIVERS)}")
    return name


def kvstore_json(node: KvNode, include_defaults: bool = False) -> dict[str, Any]:
    """Return the JSON of a key-value store that is not bound."""
    kind = KV_DRIVERS[node.driver]
    json: dict[str, Any] = {"driver": node.driver}
    context = {} if node.context is None else node.context.to_json(include_defaults)
    if context or include_defaults:
        json["context"] = context
    if node.path or include_defaults:
        json["path"] = node.path
    if node.base is not None:
        json["base"] = kvstore_json(node.base, include_defaults)
    json.update(copied(options_json(node.options, kind.options, include_defaults)))
    json.update(resources_json(node.resources, include_defaults))
    return dict(sorted(json.items()))


def kvstore_from_url(text: str) -> KvNode:
    """Parse a URL: a store, followed by ``|`` and a store on top of it, any number of times.

    >>> kvstore_from_url("file:///data/a.zip|zip:b").base.path
    '/data/a.zip'
    """
    node: KvNode = with_parts(text, url_part)
    return node


def url_part(part: str, base: KvNode | None) -> KvNode:
    """Parse one part of a URL into a store, on top of `base` if there is one."""
    if not part:
        raise SpecError("URL must be non-empty")
    if base is None and ":" not in part:
        raise SpecError(f"URL scheme must be specified in {quote(part)}{hint_of_path(part)}")
    scheme = part.partition(":")[0]
    kind = KV_SCHEMES.get(scheme)
    if kind is None or kind.is_adapter != (base is not None):
        raise unsupported_scheme(scheme, part)
    with prefixed(f"Invalid kvstore URL component {quote(part)}"):
        url = split_url(part if ":" in part else f"{part}:")
        if not kind.takes_query:
            url.check_slashes(not kind.is_adapter)
            url.refuse_query()
        node = kind.from_url(url)
    options = {name: node.options.get(name, row.default) for name, row in kind.options.items()}
    return kind.normalize(node.altered(options=options, resources=kind.default_resources.copy(), base=base))


def unsupported_scheme(scheme: str, part: str) -> SpecError:
    """Return the error about a scheme in the wrong position, which says what kind of scheme it is."""
    driver = KV_SCHEMES.get(scheme)
    if driver is not None:
        hint = f": {quote(scheme)} is a {'kvstore adapter' if driver.is_adapter else 'root kvstore'} URL scheme"
    elif scheme == "cast":
        hint = f": {quote(scheme)} is a TensorStore adapter URL scheme"
    elif scheme == "auto" or scheme_driver(scheme) is not None:
        hint = f": {quote(scheme)} is a kvstore-based TensorStore URL scheme"
    else:
        hint = what_there_is(scheme, KV_SCHEMES)
    return SpecError(f"unsupported URL scheme {quote(scheme)} in {quote(part)}{hint}")


def kvstore_url(node: KvNode) -> str:
    """Return the URL of a key-value store.

    >>> kvstore_url(kvstore_from_url("memory://a b|zip:c"))
    'memory://a%20b|zip:c'
    """
    url = KV_DRIVERS[node.driver].to_url(node)
    return url if node.base is None else f"{kvstore_url(node.base)}|{url}"
