"""Objects that are written only if they are of a version: whether a server heeds that, and whether it was done.

What a refused request means is found out from the marks of the object.
"""

from __future__ import annotations

import random
import re
import threading
import time
from contextlib import suppress
from typing import Any, Final, NamedTuple
from uuid import uuid4

from blizzarr.errors import UnsupportedOperationError
from blizzarr.stores.failures import is_of_signal
from blizzarr.stores.object_marks import Marks, as_metadata, marks_in, new_mark, origin_of
from blizzarr.stores.obstore_calls import ObstoreCalls
from blizzarr.stores.obstore_library import obstore
from blizzarr.stores.protocol import Value

__all__ = ["Written", "condition_of", "put", "put_on_condition", "version_and_marks", "version_of"]

_AT_WORK: Final = re.compile(r"\b409 Conflict\b")
# Otherwise it says after how many retries.
_AT_ONCE: Final = re.compile(r"\bPUT \S+ in \S+s - Server returned ")

_ADVICE: Final = (
    "without which changes of several writers would be lost; if nobody else writes there, pass "
    "ObjectStore.from_url(url, unsafe_shared_writes=True)"
)

_CONFLICTS: Final = 20
_PAUSE: Final = 0.02

_heeding: set[str] = set()
"""The places whose servers heed conditions."""
_asking = threading.RLock()


class Written(NamedTuple):
    """What became of a conditional write."""

    version: str | None
    """The version of what was written; None if nothing was."""
    marks: Marks = ()
    """Those of what was written; none if others have written since."""
    is_sure: bool = True
    """False if nothing was written as far as is known, but an answer may have been lost."""


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


def version_and_marks(found: Any) -> tuple[str, Marks]:
    """Return the version and the marks of an object that obstore's `get` has found."""
    return version_of(found.meta), marks_in(found.attributes)


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


def put_on_condition(
    calls: ObstoreCalls, place: str, key: str, value: Value, version: str | None, marks: Marks
) -> Written:
    """Set an object if it is of the version (None: if there is none), and has these marks.

    Raises
    ------
    FileNotFoundError
        If there is no object of that version, as there is none at all, or no bucket.
    UnsupportedOperationError
        If the server does not heed conditions, or the version is none that it can compare.
    """
    condition = condition_of(version)
    errors = obstore().exceptions
    _check_heeded(calls, place)
    marks = (*(marks or (origin_of(version),)), new_mark())
    try:
        made = calls.write("put", key, value, mode=condition, attributes=as_metadata(marks))
    except errors.NotSupportedError as error:
        raise UnsupportedOperationError(f"this store has no conditional writes, {_ADVICE}") from error
    except FileNotFoundError:
        raise
    except Exception as error:
        if is_of_signal(error):
            raise
        found = _found_out(calls, key, version, marks)
        refused = isinstance(error, errors.AlreadyExistsError | errors.PreconditionError)
        if found.version is None and not refused and not _AT_WORK.search(str(error)):
            raise
        # A request that was made once is refused only if nothing was written.
        made_once = _AT_ONCE.search(str(error)) or isinstance(calls.target, obstore().store.MemoryStore)
        return Written(None) if found.version is None and refused and made_once else found
    return Written(version_of(made), marks)


def _found_out(calls: ObstoreCalls, key: str, version: str | None, marks: Marks) -> Written:
    """Return what became of a write with these marks, of which the last is its own."""
    try:
        # The write has had its time.
        found = calls.read("get", key, until=calls.limits.begin(calls.limits.timeout))
    except Exception as error:
        if is_of_signal(error):
            raise
        # The failure of the write is the one to tell of.
        return Written(None, is_sure=False)
    *before, mark = marks
    now, its_marks = version_and_marks(found)
    if its_marks[-1:] == (mark,):
        return Written(now, marks)
    if mark in its_marks:
        # Nobody knows of which version it was; no object is of this one.
        return Written(f'"replaced {mark}"')
    return Written(None, is_sure=now == version or before[-1] in its_marks)


def _check_heeded(calls: ObstoreCalls, place: str) -> None:
    """Make sure that a server that is not the vendor's own refuses to create what is there."""
    kinds = obstore().store
    if not isinstance(calls.target, kinds.S3Store) or place.startswith("s3://") or place in _heeding:
        return
    with _asking:
        if place in _heeding:
            return
        probe = f".blizzarr-probe-{uuid4().hex}"
        put(calls, probe, b"")
        try:
            calls.write("put", probe, b"", mode="create")
        except obstore().exceptions.AlreadyExistsError:
            _heeding.add(place)
            return
        finally:
            # Whoever may not delete may still write.
            with suppress(Exception):
                calls.write("delete", probe)
    raise UnsupportedOperationError(f"this server ignores the conditions of writes (If-None-Match), {_ADVICE}")
