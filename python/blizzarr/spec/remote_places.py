"""Opening the places of other machines: buckets, and what is behind HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.json_values import quote
from blizzarr.spec.context import value_of
from blizzarr.spec.kvstore_node import KvNode

if TYPE_CHECKING:
    from blizzarr.stores.object_store import ObjectStore

_CREDENTIALS: dict[str, dict[str, Any]] = {
    "default": {},
    "environment": {},
    "imds": {},
    "anonymous": {"skip_signature": True},
}
"""Options; without them the engine looks in the environment first, and then asks the machine's own service."""


def open_remote(node: KvNode) -> ObjectStore:
    """Return the store of a whole bucket or server; the path of the node is the beginning of keys in it.

    Raises
    ------
    UnsupportedOperationError
        If there is no option for a member of the spec.
    """
    from blizzarr.stores.object_store import ObjectStore

    url, options = _TARGETS[node.driver](node)
    try:
        return ObjectStore.from_url(url, **options)
    except ValueError as error:
        raise SpecError(str(error)) from error


def _s3(node: KvNode) -> tuple[str, dict[str, Any]]:
    given = node.options
    if given.get("host_header"):
        raise _unsupported(node, "host_header")
    kind = _config(node, "aws_credentials", {"type": "default"})["type"]
    if kind not in _CREDENTIALS:
        raise _unsupported(node, f"aws_credentials of the type {quote(kind)}")
    options = {**_CREDENTIALS[kind], **_retries(node, "s3_request_retries")}
    if given.get("aws_region"):
        options["region"] = given["aws_region"]
    if given.get("endpoint"):
        options["endpoint"] = given["endpoint"]
    if given.get("requester_pays"):
        options["request_payer"] = True
    return f"s3://{given['bucket']}", options


def _gcs(node: KvNode) -> tuple[str, dict[str, Any]]:
    options = _retries(node, "gcs_request_retries")
    project = _config(node, "gcs_user_project", {}).get("project_id")
    if project:
        options["client_options"] = {"default_headers": {"x-goog-user-project": project}}
    return f"gs://{node.options['bucket']}", options


def _http(node: KvNode) -> tuple[str, dict[str, Any]]:
    base = node.options["base_url"]
    if "?" in base:
        raise _unsupported(node, "a query in the base URL")
    options = _retries(node, "http_request_retries")
    headers = [header.partition(":") for header in node.options.get("headers", [])]
    if headers:
        options["client_options"] = {"default_headers": {name.strip(): value.strip() for name, _, value in headers}}
    return base, options


_TARGETS = {"s3": _s3, "gcs": _gcs, "http": _http}


def _retries(node: KvNode, name: str) -> dict[str, Any]:
    config = _config(node, name, None)
    if config is None:
        return {}
    backoff = {
        "init_backoff": timedelta(microseconds=config["initial_delay"] / 1000),
        "max_backoff": timedelta(microseconds=config["max_delay"] / 1000),
        "base": 2,
    }
    return {"retry_config": {"max_retries": config["max_retries"], "backoff": backoff}}


def _config(node: KvNode, name: str, otherwise: Any) -> Any:
    return value_of(node.resources, name) if name in node.resources else otherwise


def _unsupported(node: KvNode, what: str) -> UnsupportedOperationError:
    return UnsupportedOperationError(
        f"places of the driver {quote(node.driver)} cannot be opened with {what}; make an ObjectStore with the options "
        "that it has, and pass it to blizzarr.open"
    )
