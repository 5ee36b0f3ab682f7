"""Opening key-value stores: the store that a node of a spec means, and the path in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from blizzarr.errors import SpecError, StoreError, UnsupportedOperationError
from blizzarr.json_values import quote
from blizzarr.spec.arguments import raise_no_directory
from blizzarr.spec.spec_node import KvNode
from blizzarr.stores.local import LocalStore
from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.protocol import Store

if TYPE_CHECKING:
    from blizzarr.stores.object_store import ObjectStore
    from blizzarr.stores.ocdbt import OcdbtStore
    from blizzarr.stores.zip import ZipStore


def open_kvstore(node: KvNode, *, directory: bool = False) -> tuple[Store, str]:
    """Return the store of a bound node, and the path in it; keys that continue the path are keys of the store.

    With `directory` the path is one, whether it ends with a slash or not.
    """
    if node.driver == "file":
        # A key may continue the last name of the path: the store is that of the directory around it.
        above, slash, name = (node.path, "", "") if directory else node.path.rpartition("/")
        locks = node.resources["file_io_locking"].value["mode"]
        try:
            local = LocalStore(
                above.rstrip("/") or slash or above or ".",
                durability="full" if node.resources["file_io_sync"].value else None,
                locking="threads" if locks in ("none", "non_atomic") else None,
            )
        except StoreError as error:
            raise_no_directory(error)
            raise
        return local, name
    # Paths of URLs begin with a slash; the store is a whole bucket or server.
    path = node.path.removeprefix("/") if node.driver == "http" else node.path
    if node.driver == "memory":
        store: Store = node.resources["memory_key_value_store"].value
    else:
        store = _ADAPTERS.get(node.driver, _remote)(node)
    return store, path.rstrip("/") if directory else path


_archives: dict[str, ZipStore] = {}
"""The zip files that this process has open: one store for each file, as only one may write it."""

_locks = NamedLocks()


def _zip(node: KvNode) -> ZipStore:
    """Return the store of a zip file as it is now."""
    from blizzarr.stores.zip import ZipStore

    base = node.base
    if base is None or base.driver != "file":
        where = "nowhere" if base is None else f"in a store of the driver {quote(base.driver)}"
        raise UnsupportedOperationError(f"this release opens zip files in directories, found one {where}")
    path = os.path.abspath(base.path)
    with _locks[path]:
        store = _archives.get(path)
        if store is None or not store.is_current:
            store = _archives[path] = ZipStore(path, "a")
        return store


def _ocdbt(node: KvNode) -> OcdbtStore:
    """Return the store of a version of a database, as it is now."""
    from blizzarr.stores.ocdbt import OcdbtStore

    assert node.base is not None, "what databases are in"
    manifest = None if node.manifest is None else open_kvstore(node.manifest, directory=True)
    return OcdbtStore(*open_kvstore(node.base, directory=True), version=node.options.get("version"), manifest=manifest)


_ADAPTERS: dict[str, Callable[[KvNode], Store]] = {"zip": _zip, "ocdbt": _ocdbt}


# Buckets, and servers behind HTTP.

_CREDENTIALS: dict[str, dict[str, Any]] = {
    "default": {},
    "environment": {},
    "imds": {},
    "anonymous": {"skip_signature": True},
}
"""The options of the client, which looks in the environment first, and then asks the machine's own service."""


def _remote(node: KvNode) -> ObjectStore:
    """Return the store of a whole bucket or server; the path of the node is the beginning of keys in it."""
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
    names = {"region": "aws_region", "endpoint": "endpoint", "request_payer": "requester_pays"}
    options |= {name: given[theirs] for name, theirs in names.items() if given.get(theirs)}
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
    return node.resources[name].value if name in node.resources else otherwise


def _unsupported(node: KvNode, what: str) -> UnsupportedOperationError:
    return UnsupportedOperationError(
        f"stores of the driver {quote(node.driver)} cannot be opened with {what}; make an ObjectStore with the options "
        "that it has, and pass it to blizzarr.open"
    )
