"""Requests to an object store, by the engine or by obstore: values and versions, and errors that say what to do."""

from __future__ import annotations

import errno
import itertools
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from blizzarr.errors import BlizzarrError, PathError, StoreError, UnsupportedOperationError
from blizzarr.stores.coalescing import Span
from blizzarr.stores.credentials import hide_causes, raise_from, without_secrets
from blizzarr.stores.failures import is_of_signal
from blizzarr.stores.object_client import client_of
from blizzarr.stores.object_conditions import Written, put, put_on_condition, version_of
from blizzarr.stores.object_names import names_of
from blizzarr.stores.object_place import place_of_target, url_of_target
from blizzarr.stores.obstore_calls import ObstoreCalls
from blizzarr.stores.obstore_library import is_in_child, obstore
from blizzarr.stores.protocol import ByteRange, Listing, Value
from blizzarr.stores.ranges import slice_ranges
from blizzarr.stores.traffic import TRAFFIC

_ANSWERS: Final = 3
"""How many answers may break off."""
_CHANGES: Final = 10
"""How often a range may be beyond the end of a value that has it a moment later."""
_LISTED: Final = 1000
"""Keys per request; S3 returns no more."""
_PARTS_LOOKED_AT: Final = 3
"""Of a listing that may have no end."""
_DELETED: Final = 5000
"""Keys whose removal has the time of one request."""
_PART: Final = 5 << 20
"""Bytes of a value that have the time of one request."""

# As elements, since the message also has the key.
_NO_BUCKET = re.compile(
    r"<Code>\s*(NoSuchBucket|ContainerNotFound)|>The specified bucket does not exist", re.IGNORECASE
)
_BEYOND_END = re.compile(r"\b416\b|Invalid range|Range Not Satisfiable", re.IGNORECASE)
# Of the machine's own service, which is asked last.
_KINDS = {"AzureStore": "azure", "GCSStore": "gcs", "HTTPStore": "http", "S3Store": "s3"}
"""The names of kinds of stores in sums of what was read and written."""
_NO_CREDENTIALS = re.compile(r"/latest/api/token|/computeMetadata/|/metadata/identity/")
_PLAIN_HTTP = re.compile(r"HTTP error: builder error")
_NOT_PARTIAL = re.compile(r"non-partial|not partial|Range request not supported", re.IGNORECASE)
_ASIDE = re.compile(r"^Generic \w+ error: | in \d[\d.]*(?:ns|µs|ms|s)(?= - )")
"""The kind of client, and the time of one attempt."""
_LONG = 0.3
"""Seconds after which an error says how long was waited for it."""
_XML = re.compile(r"(?:<\?xml[^>]*>\s*)?<(Error|ErrorResponse)\b.*?</\1>", re.DOTALL | re.IGNORECASE)


class _ReplacedError(Exception):
    """The value is another one than that of which a range was asked for."""


class ObjectRequests:
    """The requests that can be made to one store of obstore.

    Parameters
    ----------
    target
        The store of obstore.

    Examples
    --------
    >>> import obstore
    >>> requests = ObjectRequests(obstore.store.MemoryStore())
    >>> version = requests.put("a", b"value")
    >>> value, found = requests.get("a", Span(1, 2))
    >>> bytes(value), found == version, requests.get("b", Span(0, None)), requests.put_if("a", b"other", None).version
    (b'al', True, None, None)
    """

    def __init__(self, target: Any) -> None:
        kinds = obstore().store
        self.calls = ObstoreCalls(target)
        self.is_http = isinstance(target, kinds.HTTPStore)
        self.in_memory = isinstance(target, kinds.MemoryStore)
        self.is_conditional = not isinstance(target, kinds.HTTPStore | kinds.LocalStore)
        self._kind = _KINDS.get(type(target).__name__, "")
        self.place = place_of_target(target)
        """The URL of the store, without credentials; of memory, a name for it in this process."""
        self.url = url_of_target(target)
        """The URL that a user would type, without the server; None if there is none."""
        self.client = client_of(target)
        """The engine's client, which makes the requests; None if obstore makes them."""
        self._has_bucket = False
        """Whether an answer has shown that the bucket exists, which cannot be removed before it is empty."""

    def get(self, key: str, span: Span) -> tuple[Value, str] | None:
        """Return bytes of a value and its version; None if there is no value."""
        if self.client is not None:
            with self._placed("read"):
                if span.start == 0 and span.length is None:
                    return self.client.get(key)
                found = self.client.get_ranges(key, [(span.start, None if span.start < 0 else span.length)])
                return None if found is None else (found[0][0], found[1])
        options: dict[str, Any] = {}
        if span.start < 0:
            options = {"range": {"suffix": -span.start}}
        elif span.length is not None:
            options = {"range": (span.start, span.start + span.length)}
        elif span.start:
            options = {"range": {"offset": span.start}}
        if span.length == 0:
            # An empty range is not valid; only whether there is a value, and its version, are asked for.
            head = self.head(key)
            return None if head is None else (b"", head[1])
        with self._failures("read", key):
            for left in reversed(range(_CHANGES)):
                try:
                    answer = self._answer(key, options)
                except FileNotFoundError:
                    raise
                except Exception as error:
                    if not options or is_of_signal(error):
                        raise
                    try:
                        return self._get_otherwise(key, span, error)
                    except _ReplacedError:
                        if not left:
                            raise error from None
                else:
                    return None if answer is None else (answer[0], version_of(answer[1].meta))
            raise AssertionError("the last failure is raised")

    def get_ranges(self, key: str, ranges: Sequence[ByteRange], version: str | None) -> tuple[list[Value], str] | None:
        """Return parts of one version of a value, and the version; None if there is no value. Only with a `client`."""
        assert self.client is not None
        with self._placed("read"):
            found = self.client.get_ranges(key, ranges, version)
            return None if found is None else ([*found[0]], found[1])

    def _answer(self, key: str, options: dict[str, Any]) -> tuple[Value, Any] | None:
        """Return the bytes of an answer, and the answer; None if there is no object, but a bucket."""
        try:
            answer = self._body(key, options)
        except FileNotFoundError as error:
            if _NO_BUCKET.search(str(error)):
                raise
            answer = None
        self._has_bucket = not self.is_http
        return answer

    def _body(self, key: str, options: dict[str, Any]) -> tuple[Value, Any]:
        """Return the bytes of an answer, and the answer; one that ends early is asked for again.

        obstore repeats requests that fail, but not those whose answers break off.
        """
        until = self.calls.limits.begin()
        for left in reversed(range(_ANSWERS)):
            found = self.calls.read("get", key, until=until, options=options)
            try:
                body = memoryview(self.calls.body(found, until)).cast("B")
            except Exception as error:
                if is_of_signal(error):
                    raise
                if not left or not until.allows_another():
                    raise
            else:
                TRAFFIC.add(self._kind, "read", len(body))
                return body, found
        raise AssertionError("the last failure is raised")

    def _get_otherwise(self, key: str, span: Span, error: Exception) -> tuple[Value, str] | None:
        """Return what a request for a range has not: the range is empty, or the server knows no such ranges.

        Raises
        ------
        _ReplacedError
            If the value has the range by now.
        """
        if _NOT_PARTIAL.search(str(error)):
            whole = self.get(key, Span(0, None))
            return None if whole is None else (slice_ranges(whole[0], [(span.start, span.length)])[0], whole[1])
        no_suffix = span.start < 0 and isinstance(error, obstore().exceptions.NotSupportedError)
        if not no_suffix and not _BEYOND_END.search(str(error)):
            # Nothing else is asked: what the answer is to another question says nothing about this failure.
            raise error
        head = self.head(key)
        if head is None:
            return None
        size, version = head
        if no_suffix and size:
            # Azure has no ranges that are counted from the end.
            return self.get(key, Span(max(0, size + span.start), size))
        if span.start >= size or not size:
            return b"", version
        raise _ReplacedError

    def head(self, key: str) -> tuple[int, str] | None:
        """Return the size in bytes and the version of a value; None if there is none."""
        if self.client is not None:
            with self._placed("read"):
                return self.client.head(key)
        with self._failures("read", key):
            try:
                found = self.calls.read("head", key)
            except FileNotFoundError:
                if self._has_bucket:
                    return None
                # Such an answer has no text that says whether the bucket is missing; and some servers know only GET.
                whole = self.get(key, Span(0, None))
                return None if whole is None else (len(whole[0]), whole[1])
            return int(found["size"]), version_of(found)

    def put(self, key: str, value: Value) -> str:
        """Set a value, and return its version."""
        if self.client is not None:
            with self._placed("write"):
                return self.client.put(key, value)
        with self._failures("write", key):
            return version_of(put(self.calls, key, self._handed(value)))

    def put_if(self, key: str, value: Value, version: str | None) -> Written:
        """Set a value only if what is there is of the version (None: only if there is nothing)."""
        if self.client is not None:
            with self._placed("write"):
                outcome, now = self.client.put_if(key, value, version)
            if outcome == "done":
                return Written(now)
            return Written(None, is_sure=outcome == "refused", is_same=now is not None)
        with self._failures("write", key):
            try:
                return put_on_condition(self.calls, key, self._handed(value), version)
            except FileNotFoundError as error:
                if _NO_BUCKET.search(str(error)):
                    raise
                # There is nothing any more that could be of the version.
                return Written(None)
            except UnsupportedOperationError as error:
                error.key, error.store = key, str(self)
                raise

    def _handed(self, value: Value) -> Value:
        # What is in memory there is not copied.
        handed = bytes(value) if self.in_memory else memoryview(value).cast("B")
        TRAFFIC.add(self._kind, "write", len(handed))
        return handed

    def delete(self, keys: Sequence[str]) -> None:
        """Remove values, in as few requests as the store needs."""
        if not keys:
            return
        if self.client is not None:
            with self._placed("delete"):
                self.client.delete([*keys])
            return
        with self._failures("delete", ", ".join(keys[:3])):
            for batch in (keys[first : first + _DELETED] for first in range(0, len(keys), _DELETED)):
                try:
                    self.calls.write("delete", list(batch))
                    TRAFFIC.add(self._kind, "write", count=len(batch))
                except FileNotFoundError as error:
                    if _NO_BUCKET.search(str(error)):
                        raise
                    if len(batch) > 1:
                        # Some kinds of stores say so of the first that is missing, and leave the rest.
                        for key in batch:
                            self.delete([key])

    def list(self, prefix: str) -> Iterable[str]:
        """Return the names of all objects under a prefix, in any order."""
        if self.client is not None:
            return self._listed(prefix, direct=False)[0]
        with self._failures("list", prefix):
            try:
                return self._keys(prefix)
            except obstore().exceptions.InvalidPathError as error:
                return names_of(self.calls, prefix, error)[0]

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the names of all objects under a prefix, in any order, with their sizes."""
        if self.client is not None:
            with self._placed("list"):
                yield from self.client.list(prefix, direct=False)[0]
            return
        with self._failures("list", prefix):
            stream = obstore().list(self.calls.target, prefix or None, chunk_size=_LISTED)
            while (part := self.calls.next_of(stream)) is not None:
                yield from ((entry["path"], entry["size"]) for entry in part)

    def _keys(self, prefix: str, most: int | None = None) -> set[str]:
        """Return all keys under a prefix, or those of the first `most` parts of the listing."""
        stream = obstore().list(self.calls.target, prefix or None, chunk_size=_LISTED)
        keys: set[str] = set()
        for _ in itertools.count() if most is None else range(most):
            part = self.calls.next_of(stream)
            if part is None:
                break
            before = len(keys)
            keys.update(entry["path"] for entry in part)
            if len(keys) == before:
                raise RuntimeError(
                    f"the server repeats its listing: after {before:,} keys, none of {len(part):,} was new"
                )
        return keys

    def list_dir(self, prefix: str) -> Listing:
        """Return the keys and prefixes directly under a prefix."""
        if self.client is not None:
            names, inside = self._listed(prefix, direct=True)
            return Listing(tuple(sorted(names)), tuple(sorted(inside)))
        with self._failures("list", prefix):
            # Its requests follow each other within obstore.
            try:
                found = self.calls.list_dir(prefix or None, late=lambda: self._keys(prefix, _PARTS_LOOKED_AT))
            except obstore().exceptions.InvalidPathError as error:
                names, inside = names_of(self.calls, prefix, error, delimiter="/")
                return Listing(tuple(sorted(names)), tuple(sorted(inside)))
            keys = sorted(entry["path"] for entry in found["objects"])
            return Listing(tuple(keys), tuple(sorted(f"{path}/" for path in found["common_prefixes"])))

    def _listed(self, prefix: str, *, direct: bool) -> tuple[Sequence[str], Sequence[str]]:
        """Return the names of objects, and of prefixes, under a prefix."""
        assert self.client is not None
        with self._placed("list"):
            try:
                objects, prefixes = self.client.list(prefix, direct=direct)
            except PathError as error:
                return names_of(self.calls, prefix, error, delimiter="/" if direct else "")
            return [name for name, _ in objects], prefixes

    def __str__(self) -> str:
        return without_secrets(self.url) if self.url else f"<ObjectStore {self.place}>"

    @contextmanager
    def _placed(self, direction: str) -> Iterator[None]:
        """Complete errors of the engine, which knows only the key."""
        try:
            yield
        except StoreError as error:
            error.store, error.key = error.store or str(self), error.key or None
            error.direction = error.direction or direction
            raise

    @contextmanager
    def _failures(self, direction: str, key: str) -> Iterator[None]:
        errors = obstore().exceptions
        if is_in_child():
            # Not earlier: what is unpickled in a child may be an argument that is never used.
            reason = (
                "object stores cannot be used in a forked process after its parent has used them: start processes with "
                "multiprocessing.get_context('spawn') or 'forkserver'"
            )
            raise StoreError(reason, key=key or None, store=str(self), direction=direction)
        began = time.monotonic()
        try:
            yield
        except MemoryError:
            raise
        except BlizzarrError as error:
            hide_causes(error)
            raise
        except Exception as error:
            if is_of_signal(error):
                raise
            reason, number = _reason(error), getattr(error, "errno", None)
            waited = time.monotonic() - began
            if waited >= _LONG:
                reason += f" (after {waited:.1f} s)"
            if isinstance(error, TimeoutError):
                number = errno.ETIMEDOUT
            if isinstance(error, errors.PermissionDeniedError | errors.UnauthenticatedError):
                reason += "; pass credentials, or skip_signature=True for public data (see ObjectStore.from_url)"
                number = errno.EACCES
            elif _NO_BUCKET.search(str(error)):
                # It has the same status as a missing object, but is not a fill value.
                reason, number = "there is no such bucket", errno.ENOENT
            elif _NO_CREDENTIALS.search(reason):
                reason = (
                    "no credentials were found: set AWS_ACCESS_KEY_ID and its like, pass them, or skip_signature=True "
                    f"for public data (AWS_SKIP_SIGNATURE=true in the environment); see ObjectStore.from_url. {reason}"
                )
                number = errno.EACCES
            elif _PLAIN_HTTP.search(reason):
                reason += "; for an endpoint that begins with http://, pass client_options={'allow_http': True}"
            place = {"key": key or None, "store": str(self), "direction": direction}
            raise_from(error, StoreError(reason, errno=number, **place))


def _reason(error: Exception) -> str:
    """The message of an error of obstore, without credentials and what follows for its developers.

    Of an answer in XML, its code and message are left.

    Examples
    --------
    >>> _reason(RuntimeError('404: <?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>Gone.</Message></Error>'))
    '404: Gone (NoSuchKey)'
    """
    text = " ".join(str(error).partition("\n\nDebug source")[0].split())
    text = _ASIDE.sub("", _XML.sub(_told, text))
    # Its class is that of the cause; what it says is for whoever reads the sentence.
    return without_secrets(text) or type(error).__name__


def _told(answer: re.Match[str]) -> str:
    """Return the message and the code of an answer in XML."""
    code, message = (re.search(rf"<{tag}>(.*?)</{tag}>", answer[0], re.IGNORECASE) for tag in ("Code", "Message"))
    if message is None or not message[1].strip():
        return "an error without a message" if code is None else code[1]
    return message[1].strip().rstrip(".") + ("" if code is None else f" ({code[1]})")
