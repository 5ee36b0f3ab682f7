"""What the engine opens an object store with: from a URL and options, or from a store of obstore."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from inspect import isawaitable
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode, urlsplit, urlunsplit

from blizzarr import _native
from blizzarr.errors import UnsupportedOperationError
from blizzarr.keywords import hint, nearest
from blizzarr.stores.aws_profiles import profile_of
from blizzarr.stores.credentials import credentials_in, raise_from, without_secrets
from blizzarr.stores.threads import check_wanted
from blizzarr.stores.urls import OF_OBJECTS

_PROTOCOLS: Final = {"s": "s3", "g": "gcs", "a": "azure", "h": "http"}
"""What the engine calls the protocol, by the first letter of the scheme."""
_SCHEMES: Final = {"s3": "s3", "gcs": "gs", "azure": "az", "http": "http"}
"""The usual scheme of a protocol."""
_DOMAINS: Final = {
    f"{kind}.{domain}": options
    for kind in ("dfs", "blob")
    for domain, options in (("core.windows.net", {}), ("fabric.microsoft.com", {"use_fabric_endpoint": "true"}))
}
"""Servers of Azure, behind the name of the account, and options that they need."""


@dataclass(frozen=True, repr=False)
class ObjectSettings:
    """What an object store is opened with."""

    protocol: str
    """``"s3"``, ``"gcs"``, ``"azure"`` or ``"http"``."""
    bucket: str
    """The bucket or container; behind HTTP the URL below which the values are."""
    prefix: str
    """What comes before each key, without slashes at its ends."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options as `texts_of` returns them."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every request."""
    retry: Retry = (None,) * 5
    provider: Callable[[], Any] | None = None
    """A function of the user that provides credentials."""

    @classmethod
    def of(
        cls,
        protocol: str,
        bucket: str,
        prefix: str,
        options: Mapping[str, Any],
        client_options: Mapping[str, Any] | None = None,
        retry_config: Mapping[str, Any] | None = None,
        credential_provider: Any = None,
    ) -> ObjectSettings:
        """Return the settings for options as users give them.

        Raise `ValueError` if an option has no value that the engine could read, or `retry_config` one that does not
        exist.
        """
        # Those of obstore have options that go with their credentials.
        provided = getattr(credential_provider, "config", None)
        given = {**(provided if isinstance(provided, Mapping) else {}), **options, **(client_options or {})}
        headers = given.pop("default_headers", None) or {}
        for name in ("bucket", "container_name"):
            given.pop(name, None)
        if protocol == "http":
            # The engine puts a slash before each key, and a server may have nothing at a path with two.
            bucket = re.sub(r"^([^?]*[^:/?])/+(?=\?|$)", r"\1", bucket)
        return cls(
            *(protocol, bucket, prefix),
            options=texts_of(given),
            headers=texts_of(headers),
            retry=retry_of(retry_config),
            provider=credential_provider,
        )

    @property
    def url(self) -> str:
        """The URL that a user would type, without the server; behind HTTP it may hold credentials."""
        if self.protocol == "http":
            return _shown_url(self.bucket)
        return f"{_SCHEMES[self.protocol]}://{self.bucket}{'/' if self.prefix else ''}{self.prefix}"

    def client(self) -> _native.ObjectClient:
        """Return the engine's client, which makes no requests yet.

        Raise `ValueError` if the store cannot be opened with these settings.
        Raise `UnsupportedOperationError` if a profile in ``~/.aws`` needs botocore, which is not installed, or the
        engine was built without clients.
        """
        if not hasattr(_native, "ObjectClient"):
            raise UnsupportedOperationError(
                "expected an engine with clients for object stores and HTTP, found one that was built for local files "
                "only, as `make demo` does; build the whole one with `make .venv/built` in the folder of the project"
            )
        options, provider = self.options, self.provider
        if self.protocol == "s3" and provider is None:
            profile = profile_of(options)
            options, provider = {**options, **profile.options}, profile.provider
        try:
            made = _native.ObjectClient(
                *(self.protocol, self.bucket, self.prefix),
                options=[*options.items()],
                headers=[*self.headers.items()],
                retry=self.retry,
                go_on=lambda is_write: check_wanted(is_write=is_write),
                provider=None if provider is None else partial(_provided, provider),
            )
            if made.endpoint is not None and not made.endpoint.partition("://")[1] and made.endpoint != "emulator":
                # It is not shown: it may hold credentials.
                raise ValueError("expected an endpoint that begins with https:// or http://, found one without ://")
        except (KeyError, ValueError) as error:
            known = credentials_in(self.bucket, {**options, **self.headers})
            reason = what_was_meant(error.args[0]) if isinstance(error, KeyError) else str(error)
            reason = without_secrets(reason.replace(self.bucket, "..."), known)
            raise_from(error, ValueError(f"{_SCHEMES[self.protocol]}:// cannot be opened: {reason}"), known)
        return made

    def place(self, client: _native.ObjectClient) -> str:
        """Return the URL of the store, without credentials.

        That of a path in another begins with it. Servers other than the vendor's come first, as in
        ``s3:http://localhost:9000/bucket/path``.
        """
        if self.protocol == "http":
            return _shown_url(self.bucket)
        scheme = _SCHEMES[self.protocol]
        server = f"{scheme}:{_shown_url(client.endpoint)}/" if client.endpoint else f"{scheme}://"
        account = f"{client.account}/" if self.protocol == "azure" else ""
        path, _, query = self.prefix.partition("?")
        return f"{server}{account}{self.bucket}{'/' if self.prefix else ''}{path}{_shown_query(query)}"


def settings_of_url(url: str, options: Mapping[str, Any]) -> ObjectSettings:
    """Return the settings for a URL and options; names in buckets are taken as they are, without decoding them.

    Raise `UnsupportedOperationError` if the URL is of another kind.
    Raise `ValueError` if the URL is not valid, or an option cannot be read.

    >>> settings = settings_of_url("abfs://c@acc.dfs.core.windows.net/a/b", {"skip_signature": True})
    >>> settings.bucket, settings.prefix, settings.options
    ('c', 'a/b', {'account_name': 'acc', 'skip_signature': 'true'})
    """
    if not isinstance(url, str):
        raise TypeError(f"expected a URL as text, found {url!r}")
    scheme, colon, rest = url.partition("://")
    scheme = scheme.lower()
    if not colon or scheme not in OF_OBJECTS:
        shown = f"{scheme}://" if colon else "none"
        raise UnsupportedOperationError(f"expected a URL that begins with {', '.join(OF_OBJECTS)}, found {shown}")
    protocol = _PROTOCOLS[scheme[0]]
    if protocol == "http":
        return ObjectSettings.of(protocol, url, "", **_sorted_out(options))
    bucket, _, prefix = rest.partition("/")
    more: Mapping[str, str] = {}
    if scheme.startswith("abfs") and "@" in bucket:
        bucket, _, host = bucket.partition("@")
        account, _, domain = host.partition(".")
        if domain not in _DOMAINS:
            raise ValueError(
                f"{scheme}:// cannot be opened: expected {scheme}://container@account.{'|'.join(_DOMAINS)}"
            )
        more = {"account_name": account, **_DOMAINS[domain]}
    if not bucket or any(character in bucket for character in "@:?#"):
        # It is not shown: these may be credentials.
        raise ValueError(
            f"{scheme}:// cannot be opened: expected the name of a bucket, found none, or '@' or ':' in the name of a "
            "bucket; pass credentials as options"
        )
    settings = _sorted_out(options)
    settings["options"] = {**more, **settings["options"]}
    return ObjectSettings.of(protocol, bucket, prefix.strip("/"), **settings)


def _sorted_out(options: Mapping[str, Any]) -> dict[str, Any]:
    apart = ("client_options", "retry_config", "credential_provider")
    others = {name: value for name, value in options.items() if name not in apart}
    return {"options": others, **{name: options[name] for name in apart if name in options}}


def _provided(provider: Callable[[], Any]) -> Mapping[str, Any]:
    """Return the credentials that a function of the user provides, which may be asynchronous."""
    credentials = provider()
    if isawaitable(credentials):
        # Event loops take a while to import.
        from blizzarr.stores.event_loops import result_of

        credentials = result_of(_awaited, credentials)
    signature = credentials.get("sas_token")
    # Those of obstore may be pairs.
    return (
        credentials
        if signature is None or isinstance(signature, str)
        else {**credentials, "sas_token": urlencode(signature)}
    )


async def _awaited(answer: Any) -> Any:
    return await answer


def _shown_url(url: str) -> str:
    parts = urlsplit(url)
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
    return shown + _shown_query(parts.query)


def _shown_query(query: str) -> str:
    """Return what is shown of a query: it may be what tells two places apart, and it may be a signature."""
    if not query:
        return ""
    from hashlib import blake2b

    return f"?{blake2b(query.encode('utf-8', 'surrogateescape'), digest_size=4).hexdigest()}..."


Retry: TypeAlias = tuple[int | None, float | None, float | None, float | None, float | None]
"""How often a request is made again, in how many seconds at most; the first and the longest pause before that, and by
what factor one is longer than that before it. None: what the engine takes where nothing is given."""

_RETRY: Final = ("max_retries", "retry_timeout", "backoff")
_BACKOFF: Final = ("init_backoff", "max_backoff", "base")
_USUAL: Final = (
    *("region", "endpoint", "skip_signature", "request_payer", "virtual_hosted_style_request"),
    *("access_key_id", "secret_access_key", "session_token", "account_name", "account_key", "sas_token"),
    *("service_account_path", "client_options", "retry_config", "credential_provider"),
    *("allow_http", "timeout", "connect_timeout", "proxy_url", "user_agent", "default_headers"),
)
"""What is likely to be meant by an option that does not exist."""
_MEANT: Final = {
    "anon": "skip_signature=True",
    "key": "access_key_id",
    "secret": "secret_access_key",
    "token": "session_token, or credential_provider",
    "endpoint_override": "endpoint",
    "profile": "AWS_PROFILE in the environment",
    "client_kwargs": "region and endpoint",
}
"""What options of other libraries are called here."""


def texts_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options with names and values as the engine reads them; without those that are None.

    Raise `ValueError` if a value is a mapping.

    >>> texts_of({"AWS_REGION": "x", "skip_signature": True, "timeout": timedelta(seconds=2.5), "token": None})
    {'aws_region': 'x', 'skip_signature': 'true', 'timeout': '2500000us'}
    """
    return {name.lower(): _text(name, value) for name, value in options.items() if value is not None}


def retry_of(config: Mapping[str, Any] | None) -> Retry:
    """Return the options of repetitions as the engine takes them.

    Raise `ValueError` if there is an option that does not exist.
    """
    config = config or {}
    if not isinstance(config, Mapping):
        raise TypeError(f"expected retry_config to be a mapping, like {{'max_retries': 3}}, found {config!r}")
    backoff = config.get("backoff") or {}
    _check_names("retry_config", config, _RETRY)
    _check_names("backoff in retry_config", backoff, _BACKOFF)
    times = config.get("retry_timeout"), backoff.get("init_backoff"), backoff.get("max_backoff")
    timeout, first, longest = (None if time is None else time.total_seconds() for time in times)
    return config.get("max_retries"), timeout, first, longest, backoff.get("base")


def what_was_meant(name: str) -> str:
    """Return a hint about an option that does not exist, which may be that of another library, or misspelled.

    >>> what_was_meant("anon"), what_was_meant("regin"), what_was_meant("x")
    ('anon: use skip_signature=True', "regin: did you mean 'region'?", 'there is no option x')
    """
    if name in _MEANT:
        return f"{name}: use {_MEANT[name]}"
    close = nearest(name, _USUAL)
    return f"{name}: did you mean {close!r}?" if close else f"there is no option {name}"


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, Mapping):
        raise ValueError(f"{name}: expected a text, found {type(value).__name__}")
    return str(value)


def _check_names(where: str, names: Iterable[str], known: tuple[str, ...]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(f"{where}: there is no option {unknown[0]!r}; {hint(unknown[0], known)}")
