"""The table of key-value stores: their JSON, their URLs, and their resources."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.json_members import Option, as_bool, as_list, as_text, one_of
from blizzarr.json_values import quote
from blizzarr.spec.resources import UsesResources
from blizzarr.spec.spec_node import KvNode
from blizzarr.spec.urls import Url, decoded, encoded, split_url


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
    is_remote: bool = False
    """True if its stores are on other machines."""
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
        raise SpecError(f"file: URIs do not support authority: {quote(url.authority)}")
    path = decoded(url.path)
    if not path.startswith("/"):
        raise SpecError(f"file: URIs do not support relative paths: {quote(path)}")
    return KvNode("file", path)


def _to_file_url(node: KvNode) -> str:
    if not node.path.startswith("/"):
        raise SpecError(f"file: URIs do not support relative paths: {quote(node.path)}")
    return f"file://{encoded(node.path)}"


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
    _to_file_url,
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


# Object stores and web servers.


def _bucket_url(driver: str, option: Option) -> Callable[[Url], KvNode]:
    def parse(url: Url) -> KvNode:
        bucket = option.parse(url.authority)
        return KvNode(driver, decoded(url.path.removeprefix("/")), {"bucket": bucket})

    return parse


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
    _bucket_url("gcs", _GCS_BUCKET),
    lambda node: f"gs://{node.options['bucket']}/{encoded(node.path)}",
    {"bucket": _GCS_BUCKET},
    ("data_copy_concurrency", "gcs_request_concurrency", "gcs_request_retries", "gcs_user_project"),
    ("experimental_gcs_rate_limiter",),
    is_remote=True,
)

_S3 = KvDriver(
    "s3",
    ("s3",),
    _bucket_url("s3", _S3_BUCKET),
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
    is_remote=True,
)


def _base_url(value: Any) -> str:
    url = split_url(as_text(value)) if ":" in as_text(value) else None
    if url is None or url.scheme not in ("http", "https"):
        raise SpecError(f'Expected scheme of "http" or "https" but received: {quote(url.scheme if url else "")}')
    url.refuse_fragment()
    return as_text(value)


def _http_from_url(url: Url) -> KvNode:
    url.refuse_fragment()
    query = "" if url.query is None else f"?{url.query}"
    return KvNode("http", decoded(url.path), {"base_url": f"{url.scheme}://{url.authority}{query}"})


def _http_path(node: KvNode) -> KvNode:
    """Move the path of the base URL into the path."""
    url = split_url(node.options["base_url"])
    if not url.path:
        return node
    if node.path.startswith("/") and url.path != "/":
        raise SpecError(
            f"Cannot specify absolute path {quote(node.path)} in conjunction with base URL "
            f"{quote(node.options['base_url'])} which already includes the path component {quote(url.path)}"
        )
    query = "" if url.query is None else f"?{url.query}"
    base = f"{url.scheme}://{url.authority}{query}"
    above = KvNode("http", "" if node.path.startswith("/") else decoded(url.path))
    return node.altered(options={**node.options, "base_url": base}, path=above.below(node.path).path)


def _to_http_url(node: KvNode) -> str:
    url = split_url(node.options["base_url"])
    path = encoded(node.path)
    slash = "" if not path or path.startswith("/") else "/"
    query = "" if url.query is None else f"?{url.query}"
    return f"{url.scheme}://{url.authority}{slash}{path}{query}"


_HTTP = KvDriver(
    "http",
    ("http", "https"),
    _http_from_url,
    _to_http_url,
    {"base_url": Option(_base_url), "headers": Option(lambda value: list(as_list(as_text)(value)), [])},
    ("data_copy_concurrency", "http_request_concurrency", "http_request_retries"),
    normalize=_http_path,
    root="/",
    is_remote=True,
    takes_query=True,
)


KV_DRIVERS: dict[str, KvDriver] = {driver.name: driver for driver in (_MEMORY, _FILE, _ZIP, _GCS, _S3, _HTTP)}
"""All drivers by name."""

KV_SCHEMES: dict[str, KvDriver] = {scheme: driver for driver in KV_DRIVERS.values() for scheme in driver.schemes}
"""All drivers by the schemes of their URLs."""
