"""Key-value stores in JSON or as URLs, parsed and written by a table of their drivers; and URLs themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from blizzarr.errors import SpecError, UnsupportedDriverError, UnsupportedOperationError
from blizzarr.json_members import Members, Option, as_bool, as_integer, as_list, as_text, one_of, options_json
from blizzarr.json_values import MISSING, copied, expected, quote
from blizzarr.keywords import what_there_is
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.context import ContextSpec
from blizzarr.spec.driver_table import DRIVERS
from blizzarr.spec.resources import UsesResources, resources_json
from blizzarr.spec.spec_node import KvNode
from blizzarr.stores.credentials import credentials_in, raise_from, without_secrets
from blizzarr.stores.urls import DATABASE_VERSION

_PATH = re.compile(r"[\w./~ -]+")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Url(NamedTuple):
    """The parts of ``scheme://authority/path?query#fragment``; None for a query or fragment that is not there."""

    scheme: str
    has_slashes: bool
    authority: str
    path: str
    query: str | None
    fragment: str | None

    def at(self, path: str) -> str:
        """Return the URL with another path, and without a fragment."""
        return f"{self.scheme}://{self.authority}{path}" + ("" if self.query is None else f"?{self.query}")

    def check(self, slashes: bool | None = None, takes_query: bool = False) -> None:
        """Raise if the URL has parts without a meaning: a fragment, or a query unless the store takes one.

        Raise unless there is ``//`` if `slashes` is true, as where a store is not on top of another, or if there is one
        where it is false.
        """
        if slashes not in (None, self.has_slashes):
            hint = hint_of_path(self.path) if slashes and self.scheme == "file" else ""
            missing = f"{self.scheme}://" if slashes else f"{self.scheme}:"
            raise SpecError(f"Scheme {quote(missing)} not present in url{hint}")
        if self.query is not None and not takes_query:
            raise SpecError("Query string not supported")
        if self.fragment is not None:
            raise SpecError("Fragment identifier not supported")


def hint_of_path(text: str) -> str:
    """Return the hint for a path that was given as a URL."""
    if not _PATH.fullmatch(text):
        return ""
    json = f'{{"driver": "file", "path": {quote(text)}}}'
    if text.startswith("/"):
        return f"; for a path, use {quote('file://' + encoded(text))} or {json}"
    return f'; for a path, use {json}, or "file://" and the absolute path'


def split_url(text: str) -> Url:
    """Split a URL into parts, without decoding.

    >>> split_url("gs://bucket/a/b?c#d")
    Url(scheme='gs', has_slashes=True, authority='bucket', path='/a/b', query='c', fragment='d')
    >>> split_url("zip:a/b")
    Url(scheme='zip', has_slashes=False, authority='', path='a/b', query=None, fragment=None)
    """
    scheme, _, rest = text.partition(":")
    rest, hash_mark, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    has_slashes = rest.startswith("//")
    authority, path = "", rest
    if has_slashes:
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    return Url(scheme, has_slashes, authority, path, query if mark else None, fragment if hash_mark else None)


def decoded(text: str) -> str:
    """Decode ``%20`` and the like.

    >>> decoded("a%20b")
    'a b'
    """
    if bad := _PERCENT.search(text):
        raise SpecError(f"Invalid percent-encoding at position {bad.start()}: {quote(text)}")
    if "%" not in text:
        return text
    from urllib.parse import unquote

    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise SpecError(f"Invalid UTF-8 percent-encoding sequence: {quote(text)}") from error


def encoded(text: str) -> str:
    """Encode a path for a URL."""
    from urllib.parse import quote as percent_quote

    return percent_quote(text, safe="/:@!$&'()*+,;=-._~", errors="surrogateescape")


def with_parts(text: str, apply: Callable[[str, Any], Any]) -> Any:
    """Return what `apply` makes of each part of a URL and what it made of the parts before, None at first.

    A password in the URL is not shown in errors.
    """
    if not text:
        raise SpecError("URL must be non-empty")
    made = None
    try:
        for part in text.split("|"):
            made = apply(part, made)
    except SpecError as error:
        reason, known = f"Parsing spec from url: {quote(text)}: {error.reason}", credentials_in(text)
        kind = UnsupportedDriverError if isinstance(error, UnsupportedDriverError) else SpecError
        raise_from(error, kind(without_secrets(reason, known) if known else reason), known)
    return made


@dataclass(frozen=True)
class KvDriver(UsesResources):
    """A driver of key-value stores."""

    name: str
    schemes: tuple[str, ...]
    from_url: Callable[[Url], KvNode]
    """The function that makes a node of a URL, without a base."""
    to_url: Callable[[KvNode], str]
    options: dict[str, Option] = field(default_factory=dict)
    resources: tuple[str, ...] = ()
    optional_resources: tuple[str, ...] = ()
    is_adapter: bool = False
    """True if its stores are made from other stores."""
    normalize: Callable[[KvNode], KvNode] = lambda node: node
    root: str = ""
    """A path that means in JSON the same as none."""
    takes_query: bool = False
    """True if its URLs may have a query, and no slashes."""


# Memory.


_MEMORY = KvDriver(
    "memory",
    ("memory",),
    lambda url: KvNode("memory", decoded(url.authority + url.path)),
    lambda node: f"memory://{encoded(node.path)}",
    {"atomic": Option(as_bool, True)},
    ("memory_key_value_store",),
)


# Directories.


def _file_url(url: Url) -> KvNode:
    if url.authority not in ("", "localhost"):
        relative = quote(decoded(url.authority + url.path))
        raise SpecError(
            f"file: URIs do not support authority: {quote(url.authority)}; write file:///path, or "
            f'{{"driver": "file", "path": {relative}}} if the path is relative'
        )
    return KvNode("file", _absolute(decoded(url.path)))


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise SpecError(f"file: URIs do not support relative paths: {quote(path)}")
    return path


def _file_path(node: KvNode) -> KvNode:
    # A slash at either end is allowed; everything between slashes must be the name of a file or directory.
    inner = node.path.removeprefix("/").removesuffix("/")
    names = inner.split("/")
    lock = ".__lock" in node.path and any(name.endswith(".__lock") for name in names)
    if "\0" in node.path or lock or (inner and not {"", ".", ".."}.isdisjoint(names)):
        raise SpecError(f"Invalid file path: {quote(node.path)}")
    return node


_FILE = KvDriver(
    "file",
    ("file",),
    _file_url,
    lambda node: f"file://{encoded(_absolute(node.path))}",
    {},
    ("file_io_concurrency", "file_io_locking", "file_io_mode", "file_io_retries", "file_io_sync"),
    normalize=_file_path,
)


# Zip files, which are values of another store.


_ZIP = KvDriver(
    "zip",
    ("zip",),
    lambda url: KvNode("zip", decoded(url.path)),
    lambda node: f"zip:{encoded(node.path)}",
    {"compression": Option(one_of("store", "deflate", "zstd", "xz"), "deflate")},
    ("cache_pool", "data_copy_concurrency"),
    is_adapter=True,
)


# Databases of OCDBT, in a directory of another store.

_version = as_integer(1, 2**64 - 1)


def _ocdbt_url(url: Url) -> KvNode:
    # Before decoding: a path that begins with "@" has "%40" there.
    version = DATABASE_VERSION.match(url.path)
    if version is None and url.path.startswith("@"):
        raise SpecError(f"expected a version like '@v5', found {quote(url.path.partition('/')[0])}")
    path = decoded(url.path[version.end() if version else 0 :])
    return KvNode("ocdbt", path, {"version": _version(int(version[1]))} if version else {})


def _to_ocdbt_url(node: KvNode) -> str:
    if node.manifest is not None:
        raise SpecError("OCDBT URL syntax not supported with separate manifest kvstore")
    version = node.options.get("version")
    return f"ocdbt:{'' if version is None else f'@v{version}/'}{encoded(node.path).replace('@', '%40')}"


def _in_directories(node: KvNode) -> KvNode:
    base, manifest = (other and other.directory() for other in (node.base, node.manifest))
    return node.altered(base=base, manifest=manifest)


_OCDBT = KvDriver(
    "ocdbt",
    ("ocdbt",),
    _ocdbt_url,
    _to_ocdbt_url,
    {
        "version": Option(_version, None, optional=True),
        # What follows is for writers.
        "config": Option(lambda value: dict(Members(value).left), {}),
        "assume_config": Option(as_bool, False),
        "coordinator": Option(lambda value: value, "ocdbt_coordinator"),
        "target_data_file_size": Option(as_integer(0, 2**64 - 1), None, optional=True),
        **{f"{kind}_data_prefix": Option(as_text, "d/") for kind in ("value", "btree_node", "version_tree_node")},
    },
    ("cache_pool", "data_copy_concurrency"),
    is_adapter=True,
    normalize=_in_directories,
)


# Object stores and web servers.


def _bucket_url(driver: str, option: Option, url: Url) -> KvNode:
    return KvNode(driver, decoded(url.path.removeprefix("/")), {"bucket": option.parse(url.authority)})


def _bucket(pattern: str, name: str) -> Option:
    valid = re.compile(pattern)

    def parse(value: Any) -> str:
        text = as_text(value)
        if not valid.fullmatch(text):
            raise SpecError(f"Invalid {name} bucket name: {quote(text)}")
        return text

    return Option(parse)


_GCS_BUCKET = _bucket(r"(?!goog|.*\.\.)[a-z0-9](?:[a-z0-9._-]{1,220}[a-z0-9])", "GCS")
_S3_BUCKET = _bucket(r"(?!.*\.\.)[a-zA-Z0-9](?:[a-zA-Z0-9._-]{1,253}[a-zA-Z0-9])", "S3")


def _s3_url(node: KvNode) -> str:
    if node.options.get("endpoint"):
        raise UnsupportedOperationError("S3 URL syntax not supported with explicit endpoint")
    return f"s3://{node.options['bucket']}/{encoded(node.path)}"


def _s3_headers(node: KvNode) -> KvNode:
    if node.options.get("host_header") and not node.options.get("endpoint"):
        raise SpecError('"host_header" cannot be set without also setting "endpoint"')
    return node


_GCS = KvDriver(
    "gcs",
    ("gs",),
    partial(_bucket_url, "gcs", _GCS_BUCKET),
    lambda node: f"gs://{node.options['bucket']}/{encoded(node.path)}",
    {"bucket": _GCS_BUCKET},
    ("data_copy_concurrency", "gcs_request_concurrency", "gcs_request_retries", "gcs_user_project"),
    ("experimental_gcs_rate_limiter",),
)

_S3 = KvDriver(
    "s3",
    ("s3",),
    partial(_bucket_url, "s3", _S3_BUCKET),
    _s3_url,
    {
        "bucket": _S3_BUCKET,
        "aws_region": Option(as_text, ""),
        "endpoint": Option(as_text, None, optional=True),
        "host_header": Option(as_text, None, optional=True),
        "requester_pays": Option(as_bool, False),
    },
    ("aws_credentials", "data_copy_concurrency", "s3_request_concurrency", "s3_request_retries"),
    ("experimental_s3_rate_limiter",),
    normalize=_s3_headers,
)


def _base_url(value: Any) -> str:
    url = split_url(as_text(value)) if ":" in as_text(value) else None
    if url is None or url.scheme not in ("http", "https"):
        raise SpecError(f'Expected scheme of "http" or "https" but received: {quote(url.scheme if url else "")}')
    url.check(takes_query=True)
    return as_text(value)


def _http_path(node: KvNode) -> KvNode:
    """Move the path of the base URL into the path."""
    url = split_url(node.options["base_url"])
    if not url.path:
        return node
    if node.path.startswith("/") and url.path != "/":
        base = quote(node.options["base_url"])
        raise SpecError(f"expected a relative path, as {base} has the path {quote(url.path)}, found {quote(node.path)}")
    above = KvNode("http", "" if node.path.startswith("/") else decoded(url.path))
    return node.altered(options={**node.options, "base_url": url.at("")}, path=above.below(node.path).path)


def _to_http_url(node: KvNode) -> str:
    path = encoded(node.path)
    slash = "" if not path or path.startswith("/") else "/"
    return split_url(node.options["base_url"]).at(slash + path)


_HTTP = KvDriver(
    "http",
    ("http", "https"),
    lambda url: KvNode("http", decoded(url.path), {"base_url": url.at("")}),
    _to_http_url,
    {"base_url": Option(_base_url), "headers": Option(lambda value: list(as_list(as_text)(value)), [])},
    ("data_copy_concurrency", "http_request_concurrency", "http_request_retries"),
    normalize=_http_path,
    root="/",
    takes_query=True,
)


KV_DRIVERS: dict[str, KvDriver] = {driver.name: driver for driver in (_MEMORY, _FILE, _ZIP, _OCDBT, _GCS, _S3, _HTTP)}

KV_SCHEMES: dict[str, KvDriver] = {scheme: driver for driver in KV_DRIVERS.values() for scheme in driver.schemes}


def kvstore_of(value: Any) -> KvNode:
    """Parse a key-value store from JSON in plain types, or a URL."""
    if isinstance(value, str):
        # A store, followed by ``|`` and a store on top of it, any number of times.
        return with_parts(value, url_part)
    members = Members(value)
    given = members.left
    driver = given.pop("driver", MISSING)
    if type(driver) is not str or driver not in KV_DRIVERS:
        raise _unknown_driver(driver)
    kind = KV_DRIVERS[driver]
    context = members.take("context", ContextSpec, None) if "context" in given else None
    path = given.pop("path", "")
    if type(path) is not str:
        given["path"] = path
        path = members.take("path", as_text, "")
    base = members.take("base", kvstore_of) if kind.is_adapter else None
    manifest = members.take("manifest", kvstore_of, None) if driver == "ocdbt" else None
    options = members.take_all(kind.options) if kind.options else {}
    resources = kind.take_resources(members) if given else kind.default_resources.copy()
    if given or members.wrong:
        members.end()
    node = KvNode(driver, "" if path == kind.root else path, options, resources, base, context, manifest)
    return kind.normalize(node)


def _unknown_driver(name: Any) -> SpecError:
    """Return the error about a member ``driver`` that is not the name of a driver of key-value stores."""
    if type(name) is not str:
        reason = expected(name, "string").reason
    elif name in DRIVERS:
        reason = f"{quote(name)} is a TensorStore driver, not a KvStore driver"
    else:
        reason = f"{quote(name)} is not a registered KvStore driver{what_there_is(name, KV_DRIVERS)}"
    return SpecError(f'Error parsing object member "driver": {reason}')


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
    if node.manifest is not None:
        json["manifest"] = kvstore_json(node.manifest, include_defaults)
    json.update(copied(options_json(node.options, kind.options, include_defaults)))
    json.update(resources_json(node.resources, include_defaults))
    return dict(sorted(json.items()))


def url_part(part: str, base: KvNode | None) -> KvNode:
    """Parse one part of a URL into a store, on top of `base` if there is one."""
    if not part:
        raise SpecError("URL must be non-empty")
    kind = KV_SCHEMES.get(part.partition(":")[0])
    if kind is None or kind.is_adapter != (base is not None):
        raise unsupported_scheme(part, base)
    with prefixed(lambda: f"Invalid kvstore URL component {quote(part)}"):
        url = split_url(part)
        url.check(None if kind.takes_query else not kind.is_adapter, kind.takes_query)
        node = kind.from_url(url)
    # A URL names the options that have to be there.
    options = {name: row.default for name, row in kind.options.items()} | node.options
    return kind.normalize(node.altered(options=options, resources=kind.default_resources.copy(), base=base))


def unsupported_scheme(part: str, base: object, others: Iterable[str] = ()) -> SpecError:
    """Return the error about the scheme of a part of a URL on top of `base`; `others` are possible there, too."""
    if base is None and ":" not in part:
        return SpecError(f"URL scheme must be specified in {quote(part)}{hint_of_path(part)}")
    scheme = part.partition(":")[0]
    schemes = [name for name, driver in KV_SCHEMES.items() if driver.is_adapter == isinstance(base, KvNode)]
    there = what_there_is(scheme, [*(schemes if base is None or isinstance(base, KvNode) else ()), *others])
    return SpecError(f"unsupported URL scheme {quote(scheme)} in {quote(part)}{there}")


def kvstore_url(node: KvNode) -> str:
    url = KV_DRIVERS[node.driver].to_url(node)
    return url if node.base is None else f"{kvstore_url(node.base)}|{url}"
