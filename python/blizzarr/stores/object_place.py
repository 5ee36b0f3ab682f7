"""The places of obstore's stores, without the credentials that their URLs may hold."""

from __future__ import annotations

import os
import re
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from blizzarr.stores.obstore_library import obstore

_ENDPOINTS: Final = {"s3": ("AWS_ENDPOINT_URL", "AWS_ENDPOINT"), "az": ("AZURE_ENDPOINT", "AZURE_STORAGE_ENDPOINT")}
_ACCOUNTS: Final = ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_ACCOUNT_NAME")


def place_of_target(target: Any) -> str:
    """Return the URL of a store, without credentials; of memory, a name for it in this process.

    That of a path in another begins with it. Servers other than the vendor's come first, as in
    ``s3:http://localhost:9000/bucket/path``.

    Examples
    --------
    >>> import obstore
    >>> place_of_target(obstore.store.HTTPStore("https://me:secret@example.org/a/"))
    'https://example.org/a'
    """
    kinds = obstore().store
    url = getattr(target, "url", None)
    if isinstance(url, str):
        return _place_of_url(url)
    prefix = str(getattr(target, "prefix", None) or "").strip("/")
    if isinstance(target, kinds.LocalStore):
        return f"file:{os.path.realpath(directory_of_target(target))}"
    config = _config(target)
    scheme, bucket = _bucket(target, config)
    if bucket is None:
        return f"{type(target).__name__}:{id(target)}"
    if scheme == "az":
        bucket = f"{config.get('account_name') or _from_environment(_ACCOUNTS)}/{bucket}"
    endpoint = config.get("endpoint") or _from_environment(_ENDPOINTS.get(scheme, ()))
    if config.get("use_emulator") == "true":
        endpoint = "emulator"
    server = f"{scheme}:{_place_of_url(endpoint)}/" if endpoint else f"{scheme}://"
    path, _, query = prefix.partition("?")
    return f"{server}{bucket}{'/' if prefix else ''}{path}{_shown(query)}"


def directory_of_target(target: Any) -> str:
    """Return the directory of a `LocalStore` of obstore.

    A relative path counts from what was the working directory when the store was made, which only its errors tell.

    Examples
    --------
    >>> import obstore
    >>> directory_of_target(obstore.store.LocalStore("/tmp"))
    '/tmp'
    """
    path = "/" if target.prefix is None else os.fspath(target.prefix)
    if not os.path.isabs(path):
        missing = f"blizzarr-{uuid4().hex}"
        try:
            target.head(missing)
        except FileNotFoundError as error:
            told = re.match(rf"Object at location (.+)/{missing} not found", str(error), re.DOTALL)
            path = told[1] if told else path
    return os.path.abspath(path)


def url_of_target(target: Any) -> str | None:
    """Return the URL that a user would type for a bucket or a server; None for other stores.

    Examples
    --------
    >>> import obstore
    >>> url_of_target(obstore.store.S3Store("shelf", prefix="a/b", endpoint="http://localhost:9000"))
    's3://shelf/a/b'
    """
    kinds = obstore().store
    if isinstance(target, kinds.HTTPStore):
        return place_of_target(target)
    if isinstance(target, kinds.LocalStore):
        return None
    scheme, bucket = _bucket(target, _config(target))
    prefix = str(getattr(target, "prefix", None) or "").strip("/")
    return None if bucket is None else f"{scheme}://{bucket}{'/' if prefix else ''}{prefix}"


def _bucket(target: Any, config: Any) -> tuple[str, str | None]:
    """Return the scheme of a store, and its bucket or container; None if it has none."""
    kinds = obstore().store
    scheme = "az" if isinstance(target, kinds.AzureStore) else "gs" if isinstance(target, kinds.GCSStore) else "s3"
    return scheme, config.get("bucket") or config.get("container_name")


def _config(target: Any) -> Any:
    try:
        return getattr(target, "config", {})
    except Exception:
        raise
    except BaseException as error:
        # A panic in Rust, which is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(
            f"this {type(target).__name__} of obstore cannot tell its configuration: pass options of the HTTP client, "
            "like allow_http and timeout, as client_options={...}"
        ) from None


def _place_of_url(url: str) -> str:
    parts = urlsplit(url)
    place = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
    return place + _shown(parts.query)


def _shown(query: str) -> str:
    """Return what is shown of a query: it may be what tells two places apart, and it may be a signature."""
    if not query:
        return ""
    from hashlib import blake2b

    return f"?{blake2b(query.encode('utf-8', 'surrogateescape'), digest_size=4).hexdigest()}..."


def _from_environment(names: tuple[str, ...]) -> str:
    return next((os.environ[name] for name in names if os.environ.get(name)), "")
