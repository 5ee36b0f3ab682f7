"""The engine's own client of an object store, from the configuration of a store of obstore."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from blizzarr import _native
from blizzarr.stores.aws_profiles import profile_of
from blizzarr.stores.credentials import credentials_in, raise_from, without_secrets
from blizzarr.stores.object_limits import Limits
from blizzarr.stores.obstore_library import obstore
from blizzarr.stores.threads import check_wanted

_PROTOCOLS: Final = {"S3Store": "s3", "GCSStore": "gcs", "AzureStore": "azure", "HTTPStore": "http"}
_HEADERS: Final = "default_headers"


def client_of(target: Any) -> _native.ObjectClient | None:
    """Return the engine's client for a store of obstore; None if the engine has none for it.

    It has none for stores on this machine, and for credentials that are provided in an event loop, or not to S3.

    Raises
    ------
    ValueError
        If the store cannot be opened.

    Examples
    --------
    >>> import obstore
    >>> client_of(obstore.store.MemoryStore()) is None
    True
    >>> type(client_of(obstore.store.HTTPStore.from_url("https://example.org"))).__name__
    'ObjectClient'
    """
    kinds = obstore().store
    name = next((name for name in _PROTOCOLS if isinstance(target, getattr(kinds, name))), None)
    provider = getattr(target, "credential_provider", None)
    if name is None or (provider is not None and (name != "S3Store" or _is_asynchronous(provider))):
        return None
    client = dict(target.client_options or {})
    options: dict[str, Any] = {} if name == "HTTPStore" else dict(target.config)
    bucket = target.url if name == "HTTPStore" else options.pop("bucket", None) or options.pop("container_name", None)
    if bucket is None:
        return None
    if name == "S3Store" and provider is None:
        profile = profile_of(options)
        options, provider = {**options, **profile.options}, profile.provider
    limits = Limits.of(target)
    try:
        return _native.ObjectClient(
            *(_PROTOCOLS[name], bucket, str(getattr(target, "prefix", None) or "").strip("/")),
            options=[(name, _text(value)) for name, value in options.items()],
            client=[(name, _text(value)) for name, value in client.items() if name != _HEADERS],
            headers=[(_text(name), _text(value)) for name, value in (client.get(_HEADERS) or {}).items()],
            retry=limits.retry,
            total=limits.total,
            limit=str(limits.begin()),
            go_on=_go_on,
            provider=provider,
        )
    except ValueError as error:
        known = credentials_in(bucket, {**options, **client})
        raise_from(error, ValueError(without_secrets(str(error), known)), known)


def _go_on(is_write: bool) -> None:
    check_wanted(is_write=is_write)


def _is_asynchronous(provider: Any) -> bool:
    return inspect.iscoroutinefunction(provider) or inspect.iscoroutinefunction(type(provider).__call__)


def _text(value: Any) -> str:
    """Return an option as the engine reads it.

    Examples
    --------
    >>> from datetime import timedelta
    >>> _text(True), _text(timedelta(seconds=2.5)), _text(b"a")
    ('true', '2500000us', 'a')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, Mapping):
        raise ValueError(f"expected a text, found {type(value).__name__}")
    return str(value)
