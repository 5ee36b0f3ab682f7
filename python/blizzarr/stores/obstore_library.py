"""obstore: imported when it is needed, and refused where it would wait for ever."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Final

from blizzarr.bounded_cache import BoundedCache
from blizzarr.errors import UnsupportedOperationError
from blizzarr.stores.credentials import credentials_in, raise_from, without_secrets
from blizzarr.stores.obstore_options import sorted_out, what_was_meant

SCHEMES: Final = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "http", "https")
"""Of URLs that it opens."""

_BUCKET = re.compile(r"(s3a?|gc?s|azure|az|adl)://([^/?#]+)(?:/(.*))?", re.IGNORECASE | re.DOTALL)
_KINDS: Final = {"s": "S3Store", "g": "GCSStore", "a": "AzureStore"}
_ENDPOINTS: Final = ("endpoint", "endpoint_url", "aws_endpoint", "aws_endpoint_url")
"""What options may call the server: names of settings in the environment are also names of options."""
_IN_ENVIRONMENT: Final = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")

_MADE: Final[BoundedCache[object, Any]] = BoundedCache(64)
"""The stores that were made lately, which cannot change. Making one reads the certificates of the system."""

_library: Any = None
_is_child = False
"""Whether this process was forked from one that had imported it."""


def obstore() -> Any:
    """Return the library.

    Raises
    ------
    UnsupportedOperationError
        If it is not installed.
    """
    global _library
    if _library is None:
        try:
            import obstore
            import obstore.exceptions
            import obstore.store
        except ImportError as error:
            raise UnsupportedOperationError(
                "stores of S3, Google Cloud, Azure and HTTP need obstore: pip install 'blizzarr[remote]'"
            ) from error
        _library = obstore
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_forked)
    return _library


def is_in_child() -> bool:
    """Return whether requests would wait for ever: this process was forked, without the threads of obstore."""
    return _is_child


def is_installed() -> bool:
    """Return whether the library can be imported."""
    try:
        obstore()
    except UnsupportedOperationError:
        return False
    return True


def store_of_url(url: str, options: dict[str, Any]) -> Any:
    """Return the library's store for a URL; names in buckets are taken as they are, without decoding them.

    Raises
    ------
    UnsupportedOperationError
        If the library is not installed, or the URL is of another kind.
    ValueError
        If the URL is not valid, or an option does not exist.
    """
    try:
        # Options that are not JSON may be functions. For Google Cloud, the library reads a file with credentials.
        key = None if url[:1] in "gG" else (url, json.dumps(options), frozenset(os.environ.items()))
    except TypeError:
        key = None
    made = _MADE.get(key)
    if made is None:
        made = _make(url, options)
        if key is not None:
            _MADE.keep(key, made)
    return made


def _make(url: str, options: dict[str, Any]) -> Any:
    library = obstore()
    scheme = url.partition(":")[0].lower()
    if scheme not in SCHEMES:
        found = f"{scheme}://" if "://" in url else "none"
        raise UnsupportedOperationError(f"expected a URL that begins with {', '.join(SCHEMES)}, found {found}")
    options = sorted_out(options)
    endpoint = url if scheme == "http" else str(next(filter(None, map(options.get, _ENDPOINTS)), ""))
    if not endpoint and scheme.startswith("s3"):
        endpoint = next(filter(None, map(os.environ.get, _IN_ENVIRONMENT)), "")
    if endpoint and "://" not in endpoint:
        # It is not shown: it may hold credentials.
        raise ValueError("expected an endpoint that begins with https:// or http://, found one without ://")
    if endpoint.lower().startswith("http://"):
        options = {**options, "client_options": {"allow_http": True, **options.get("client_options", {})}}
    try:
        bucket = _BUCKET.fullmatch(url)
        if bucket is not None:
            if "@" in bucket[2] or ":" in bucket[2]:
                # It is not shown: these may be credentials.
                raise ValueError(
                    f"{scheme}:// cannot be opened: found '@' or ':' in the name of a bucket; pass options"
                )
            kind = getattr(library.store, _KINDS[scheme[0]])
            return kind(bucket[2], prefix=(bucket[3] or "").strip("/") or None, **options)
        kind = library.store.HTTPStore if scheme in ("http", "https") else library.store.AzureStore
        return kind.from_url(url, **options)
    except (library.exceptions.BaseError, TypeError) as error:
        # The URL is not shown: it may hold credentials.
        known = url, *credentials_in(url, options)
        text = without_secrets(str(error).partition("\n\nDebug source")[0].replace(url, f"{scheme}://..."), known)
        is_unknown = isinstance(error, library.exceptions.UnknownConfigurationKeyError)
        text = "; ".join([text, *what_was_meant(options, is_unknown=is_unknown)])
        raise_from(error, ValueError(f"{scheme}:// cannot be opened: {text}"), known)


def _forked() -> None:
    global _is_child
    _is_child = True
