"""Options of obstore's stores, of which it takes some at one place only, and checks some not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from blizzarr.keywords import hint, nearest

_CLIENT: Final = (
    *("allow_http", "allow_invalid_certificates", "default_content_type", "default_headers", "user_agent"),
    *("connect_timeout", "read_timeout", "timeout", "pool_idle_timeout", "pool_max_idle_per_host"),
    *("http1_only", "http2_only", "http2_keep_alive_interval", "http2_keep_alive_timeout"),
    *("http2_keep_alive_while_idle", "http2_max_frame_size", "randomize_addresses"),
    *("proxy_ca_certificate", "proxy_excludes", "proxy_url"),
)
"""Of the HTTP client. Elsewhere than in `client_options`, they make a store whose configuration cannot be read."""
_RETRY: Final = ("max_retries", "retry_timeout", "backoff")
_BACKOFF: Final = ("init_backoff", "max_backoff", "base")
_USUAL: Final = (
    *("region", "endpoint", "skip_signature", "request_payer", "virtual_hosted_style_request"),
    *("access_key_id", "secret_access_key", "session_token", "account_name", "account_key", "sas_token"),
    *("service_account_path", "client_options", "retry_config", "credential_provider"),
)
"""What is likely to be meant by an option that does not exist."""
_MEANT: Final = {
    "anon": "skip_signature=True",
    "key": "access_key_id",
    "secret": "secret_access_key",
    "token": "session_token, or credential_provider",
    "endpoint_override": "endpoint",
    "profile": "credential_provider=obstore.auth.boto3.Boto3CredentialProvider(boto3.Session(profile_name=...))",
    "client_kwargs": "region and endpoint",
}
"""What options of other libraries are called here."""


def sorted_out(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with those of the HTTP client among the `client_options`.

    Raises
    ------
    ValueError
        If `retry_config` has a member that does not exist, which obstore would ignore.

    Examples
    --------
    >>> sorted_out({"region": "x", "allow_http": True, "client_options": {"timeout": "5s"}})
    {'region': 'x', 'client_options': {'allow_http': True, 'timeout': '5s'}}
    """
    retries = options.get("retry_config") or {}
    _check_names("retry_config", retries, _RETRY)
    _check_names("backoff in retry_config", retries.get("backoff") or {}, _BACKOFF)
    bare = {name: name.lower().removeprefix("aws_").removeprefix("azure_").removeprefix("google_") for name in options}
    client = {bare[name]: value for name, value in options.items() if bare[name] in _CLIENT}
    others = {name: value for name, value in options.items() if bare[name] not in _CLIENT}
    return {**others, "client_options": {**client, **(options.get("client_options") or {})}} if client else others


def what_was_meant(options: Iterable[str], *, is_unknown: bool) -> list[str]:
    """Return hints about options that may be those of other libraries, or misspelled if one of them `is_unknown`.

    Examples
    --------
    >>> what_was_meant(["anon", "regin"], is_unknown=True)
    ['anon: use skip_signature=True', "regin: did you mean 'region'?"]
    """
    options = list(options)
    hints = [f"{name}: use {_MEANT[name]}" for name in options if name in _MEANT]
    if is_unknown:
        close = {name: nearest(name, _USUAL) for name in options if name not in (*_USUAL, *_MEANT)}
        hints += [f"{name}: did you mean {other!r}?" for name, other in close.items() if other]
    return hints


def _check_names(where: str, found: Iterable[str], known: tuple[str, ...]) -> None:
    unknown = sorted(set(found) - set(known))
    if unknown:
        raise ValueError(f"{where}: there is no option {unknown[0]!r}; {hint(unknown[0], known)}")
