"""Objects that are written only if they are of a version, through obstore: where the engine has no client."""

from __future__ import annotations

import random
import time
from typing import Any, Final, NamedTuple

from blizzarr.errors import UnsupportedOperationError
from blizzarr.stores.obstore_calls import ObstoreCalls
from blizzarr.stores.obstore_library import obstore
from blizzarr.stores.protocol import Value

_ADVICE: Final = (
    "without which changes of several writers would be lost; if nobody else writes there, pass "
    "ObjectStore.from_url(url, unsafe_shared_writes=True)"
)

_CONFLICTS: Final = 20
_PAUSE: Final = 0.02


class Written(NamedTuple):
    """What became of a conditional write."""

    version: str | None
    """The version of what was written; None if nothing was, as far as is known."""
    is_sure: bool = True
    """False if an answer was lost, so that the write may have been made."""
    is_same: bool = False
    """True if it is not known who made the write, but what is stored is what was to be written."""


def version_of(meta: Any) -> str:
    """Return the version of an object, from what is known of it; where there are none, when it was written.

    Examples
    --------
    >>> version_of({"e_tag": '"5d41"', "version": None}), version_of({"e_tag": '"5d41"', "version": "2"})
    ('"5d41"', '"5d41"\\n2')
    """
    tag, number = meta.get("e_tag"), meta.get("version")
    if number is None or number == "null":
        # What S3 calls the versions in buckets that keep only one.
        if tag is None and "size" in meta:
            return f"at {meta['last_modified'].isoformat()} {meta['size']}"
        return tag or ""
    return f"{tag or ''}\n{number}"


def condition_of(version: str | None) -> Any:
    """Return the condition of obstore for a version; None: that there is no object.

    Raises
    ------
    UnsupportedOperationError
        If the version is no strong ETag, which nothing can be compared with.

    Examples
    --------
    >>> condition_of(None), condition_of('"5d41"')
    ('create', {'e_tag': '"5d41"'})
    """
    if version is None:
        return "create"
    tag, _, number = version.partition("\n")
    if not number and (not tag or tag.startswith(("W/", "at "))):
        raise UnsupportedOperationError(f"expected a strong ETag from the server, found {tag or 'none'!r}, {_ADVICE}")
    return {name: text for name, text in (("e_tag", tag), ("version", number)) if text}


def put(calls: ObstoreCalls, key: str, value: Value) -> Any:
    """Set an object, whatever is there; return what obstore says of it."""
    until = calls.limits.begin()
    for left in reversed(range(_CONFLICTS)):
        try:
            return calls.write("put", key, value, until=until)
        except obstore().exceptions.AlreadyExistsError:
            # So it calls 409: another request for the object is under way.
            if not left or not until.allows_another():
                raise
            time.sleep(random.uniform(0, 2 * _PAUSE))
    raise AssertionError("the last failure is raised")


def put_on_condition(calls: ObstoreCalls, key: str, value: Value, version: str | None) -> Written:
    """Set an object if it is of the version (None: if there is none).

    Raises
    ------
    FileNotFoundError
        If there is no object of that version, as there is none at all, or no bucket.
    UnsupportedOperationError
        If the store has no conditions, or the version is none that it can compare.
    """
    errors = obstore().exceptions
    try:
        made = calls.write("put", key, value, mode=condition_of(version))
    except errors.NotSupportedError as error:
        raise UnsupportedOperationError(f"this store has no conditional writes, {_ADVICE}") from error
    except (errors.AlreadyExistsError, errors.PreconditionError):
        # Elsewhere than in memory, obstore may have made the request before, and got no answer.
        return Written(None, is_sure=isinstance(calls.target, obstore().store.MemoryStore))
    return Written(version_of(made))
