"""Options of object stores: their names and values as the engine reads them, and what misspelled ones may mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias

from blizzarr.keywords import hint, nearest

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

    >>> retry_of({"max_retries": 3, "backoff": {"init_backoff": timedelta(seconds=1)}})
    (3, None, 1.0, None, None)
    """
    config = config or {}
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
