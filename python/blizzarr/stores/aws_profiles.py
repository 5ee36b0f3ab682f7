"""Credentials for S3 from the files in ``~/.aws``, where neither options nor the environment have any."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from configparser import ConfigParser, Error
from pathlib import Path
from typing import Any, Final, NamedTuple

from blizzarr.errors import UnsupportedOperationError

_KEYS: Final = ("access_key_id", "secret_access_key", "session_token")
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_NAMED: Final = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
"""Settings in the environment that come before a profile which nobody has named."""


class Profile(NamedTuple):
    """What a profile has."""

    options: dict[str, str]
    """Options of a store: keys that do not expire, and the region."""
    provider: Callable[[], Mapping[str, Any]] | None
    """A function that gets credentials which expire; None if there are none of these."""


def profile_of(options: Mapping[str, Any]) -> Profile:
    """Return what the profile has that ``AWS_PROFILE`` names, or else the one called ``default``, for a store.

    Keys that stand in the files are taken as they are. Anything else (SSO, ``credential_process``, roles) is left to
    botocore.

    Raise `UnsupportedOperationError` if it needs botocore, which is not installed.
    """
    given = {name.lower().removeprefix("aws_") for name in options}
    named = os.environ.get("AWS_PROFILE")
    others = not named and any(map(os.environ.get, _NAMED))
    if others or given & {"access_key_id", "skip_signature"} or os.environ.get("AWS_ACCESS_KEY_ID"):
        return Profile({}, None)
    if os.environ.get("AWS_SKIP_SIGNATURE", "").lower() == "true":
        return Profile({}, None)
    members = _members(named or "default")
    has_region = given & {"region", "default_region"} or any(map(os.environ.get, _REGIONS))
    region = {} if has_region else _taken(members, ("region",))
    if members.keys() >= {"aws_access_key_id", "aws_secret_access_key"}:
        return Profile({**region, **_taken(members, _KEYS)}, None)
    if any(name.startswith(("sso_", "credential_process", "role_arn")) for name in members):
        return Profile(region, _from_botocore(named))
    return Profile({}, None)


def _taken(members: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    spelled = {name: members.get(f"aws_{name}", members.get(name)) for name in names}
    return {name: value for name, value in spelled.items() if value is not None}


def _members(profile: str) -> dict[str, str]:
    """Return the members of a profile in both files."""
    members: dict[str, str] = {}
    sections = (profile if profile == "default" else f"profile {profile}", profile)
    for variable, name, section in (
        ("AWS_CONFIG_FILE", "config", sections[0]),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", sections[1]),
    ):
        parser = ConfigParser(interpolation=None)
        try:
            parser.read(os.environ.get(variable) or Path.home() / ".aws" / name, encoding="utf-8")
        except (Error, OSError, UnicodeError, RuntimeError):
            # Whoever needs no credentials, or has others, need not have files that can be read.
            continue
        if parser.has_section(section):
            members |= dict(parser[section])
    return members


def _from_botocore(profile: str | None) -> Callable[[], Mapping[str, Any]]:
    try:
        from botocore.session import Session  # type: ignore[import-untyped]
    except ImportError:
        raise UnsupportedOperationError(
            f"the profile {profile or 'default'!r} in ~/.aws has credentials that only botocore can get: "
            "pip install 'blizzarr[remote]', or pass access_key_id and secret_access_key"
        ) from None
    credentials = Session(profile=profile).get_credentials()

    def provide() -> Mapping[str, Any]:
        if credentials is None:
            raise ValueError(f"botocore has no credentials for the profile {profile or 'default'!r}")
        frozen = credentials.get_frozen_credentials()
        return {
            "access_key_id": frozen.access_key,
            "secret_access_key": frozen.secret_key,
            "token": frozen.token,
            "expires_at": getattr(credentials, "_expiry_time", None),
        }

    return provide
