"""Listings of objects of which some have names that no key can have, like ``a//b``.

obstore cannot list these, nor what is listed together with them. The library of AWS can.
"""

from __future__ import annotations

from typing import Any

from blizzarr.errors import UnsupportedOperationError
from blizzarr.stores.obstore_calls import ObstoreCalls
from blizzarr.stores.obstore_library import obstore


def names_of(calls: ObstoreCalls, prefix: str, error: Exception, delimiter: str = "") -> tuple[list[str], list[str]]:
    """Return the names of all objects under a prefix, and with a delimiter the prefixes that it makes.

    `error` is that of obstore, which has a name that is no key.

    Raises
    ------
    UnsupportedOperationError
        If the library of AWS is not installed, or the store is another one's.
    """
    what = str(error).partition("\n")[0]
    if not isinstance(calls.target, obstore().store.S3Store):
        raise UnsupportedOperationError(
            f"a listing with a name that no key can have: {what}; remove or rename this object with another program"
        ) from error
    try:
        client = _client(calls)
    except ImportError:
        raise UnsupportedOperationError(
            f"a listing with a name that no key can have: {what}; remove or rename this object with another program, "
            "or install boto3, with which such listings are made"
        ) from error
    above = str(getattr(calls.target, "prefix", None) or "").strip("/")
    above = f"{above}/" if above else ""
    pages = client.get_paginator("list_objects_v2").paginate(
        Bucket=calls.target.config["bucket"], Prefix=above + prefix, Delimiter=delimiter
    )
    names: list[str] = []
    prefixes: list[str] = []
    for page in pages:
        names += (entry["Key"].removeprefix(above) for entry in page.get("Contents", ()))
        prefixes += (entry["Prefix"].removeprefix(above) for entry in page.get("CommonPrefixes", ()))
    return names, prefixes


def _client(calls: ObstoreCalls) -> Any:
    import boto3  # type: ignore[import-untyped]
    from botocore import UNSIGNED  # type: ignore[import-untyped]
    from botocore.config import Config  # type: ignore[import-untyped]

    options = calls.target.config
    provider = getattr(calls.target, "credential_provider", None)
    given = provider() if callable(provider) else {}
    is_signed = options.get("skip_signature") != "true"
    is_virtual = options.get("virtual_hosted_style_request") == "true"
    limits = calls.limits
    settings = Config(
        signature_version=None if is_signed else UNSIGNED,
        connect_timeout=limits.timeout,
        read_timeout=limits.timeout,
        retries={"total_max_attempts": limits.attempts},
        s3={"addressing_style": "virtual" if is_virtual else "path"},
    )
    return boto3.client(
        "s3",
        region_name=options.get("region"),
        endpoint_url=options.get("endpoint"),
        aws_access_key_id=given.get("access_key_id") or options.get("access_key_id"),
        aws_secret_access_key=given.get("secret_access_key") or options.get("secret_access_key"),
        aws_session_token=given.get("token") or options.get("session_token"),
        config=settings,
    )
