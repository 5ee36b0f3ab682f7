"""Objects that are written only if they are of a version: whether a server heeds that, and whose write it was.

An answer may be lost after an object was replaced, and the request be made again: then it is refused, since the object
is of another version, our own. Each such write has a mark, so that it is recognised.
"""

from __future__ import annotations

import random
import re
import threading
import time
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from blizzarr.errors import UnsupportedOperationError
from blizzarr.stores.obstore_library import obstore
from blizzarr.stores.protocol import Value

__all__ = ["condition_of", "put", "put_on_condition"]

# Azure takes no hyphens.
_MARK: Final = "blizzarrwrite"
_AT_WORK: Final = re.compile(r"\b409 Conflict\b")

_ADVICE: Final = (
    "without which changes of several writers would be lost; if nobody else writes there, pass "
    "ObjectStore.from_url(url, unsafe_shared_writes=True)"
)

_CONFLICTS: Final = 20
_PAUSE: Final = 0.02

_heeding: set[str] = set()
"""The places whose servers heed conditions."""
_asking = threading.RLock()


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


def put(target: Any, key: str, value: Value) -> Any:
    """Set an object, whatever is there; return what obstore says of it."""
    for left in reversed(range(_CONFLICTS)):
        try:
            return obstore().put(target, key, value)
        except obstore().exceptions.AlreadyExistsError:
            # So it calls 409: another request for the object is under way.
            if not left:
                raise
            time.sleep(random.uniform(0, 2 * _PAUSE))
    raise AssertionError("the last failure is raised")


def put_on_condition(target: Any, place: str, key: str, value: Value, condition: Any) -> Any:
    """Set an object if the condition is met; return what obstore says of it, None if it is not met.

    Raises
    ------
    UnsupportedOperationError
        If the server does not heed conditions.
    """
    errors = obstore().exceptions
    _check_heeded(target, place)
    mark = uuid4().hex
    try:
        return obstore().put(target, key, value, mode=condition, attributes={_MARK: mark})
    except errors.NotSupportedError as error:
        raise UnsupportedOperationError(f"this store has no conditional writes, {_ADVICE}") from error
    except FileNotFoundError:
        raise
    except Exception as error:
        found = _marked(target, key, mark)
        refused = isinstance(error, errors.AlreadyExistsError | errors.PreconditionError)
        if found is None and not refused and not _AT_WORK.search(str(error)):
            raise
        return found


def _marked(target: Any, key: str, mark: str) -> Any:
    """Return what is known of the object if it has this mark, else None."""
    try:
        found = obstore().get(target, key)
    except Exception:
        # Then the first failure is the one to tell of.
        return None
    return found.meta if found.attributes.get(_MARK) == mark else None


def _check_heeded(target: Any, place: str) -> None:
    """Make sure that a server that is not the vendor's own refuses to create what is there."""
    kinds = obstore().store
    if not isinstance(target, kinds.S3Store) or place.startswith("s3://") or place in _heeding:
        return
    with _asking:
        if place in _heeding:
            return
        probe = f".blizzarr-probe-{uuid4().hex}"
        put(target, probe, b"")
        try:
            obstore().put(target, probe, b"", mode="create")
        except obstore().exceptions.AlreadyExistsError:
            _heeding.add(place)
            return
        finally:
            # Whoever may not delete may still write.
            with suppress(Exception):
                obstore().delete(target, probe)
    raise UnsupportedOperationError(f"this server ignores the conditions of writes (If-None-Match), {_ADVICE}")
