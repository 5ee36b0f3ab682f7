"""Objects in S3, Google Cloud, Azure or behind HTTP as a store, through obstore."""

from __future__ import annotations

import builtins
import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self

from blizzarr.errors import BlizzarrError, ConflictError, PathError, StoreError, UnsupportedOperationError
from blizzarr.stores.base import BaseStore
from blizzarr.stores.cache_invalidation import prefix_changed, value_changed
from blizzarr.stores.coalescing import Span, spans_of
from blizzarr.stores.keys import check_key, check_prefix
from blizzarr.stores.obstore_library import obstore, store_of_url
from blizzarr.stores.protocol import ByteRange, Listing, Value
from blizzarr.stores.ranges import slice_ranges
from blizzarr.stores.threads import Threads

__all__ = ["ObjectStore"]

_REQUESTS: Final = 8
"""How many requests for parts of one value are made at once; the engine asks for many values at once besides."""
_ATTEMPTS: Final = 20
_LISTED: Final = 1000
"""Keys per request; S3 returns no more."""

_CONTROL = re.compile(r"[\0-\x1f\x7f]")
_NO_BUCKET = re.compile(r"NoSuchBucket|ContainerNotFound|bucket does not exist", re.IGNORECASE)
_BEYOND_END = re.compile(r"\b416\b|Invalid range|Range Not Satisfiable", re.IGNORECASE)
_NOT_PARTIAL = re.compile(r"non-partial|not partial|Range request not supported", re.IGNORECASE)


class ObjectStore(BaseStore):
    """The objects of a bucket, of a container, or below a URL: S3, Google Cloud, Azure, HTTP.

    Needs the extra ``remote``. Requests are made, repeated and signed by `obstore
    <https://developmentseed.org/obstore>`_, whose documentation lists the options of each kind of store. Without
    options, credentials come from the environment, as with the vendor's own programs.

    Parts of a chunk, or of a shard, that several programs write at once are all kept, as are their changes to metadata
    and attributes: an object is replaced only if it is still the one that was read (``If-Match``), and otherwise read
    again. Deleting is not conditional. What is behind HTTP can only be read, and not be listed: open arrays by their
    paths, and groups that have consolidated metadata.

    A child of ``os.fork`` cannot use such stores if its parent has: start processes with ``spawn`` or ``forkserver``.

    Parameters
    ----------
    target
        A store of obstore.
    read_only
        Refuse `set` and `delete`. By default, only what is behind HTTP is read-only.

    Raises
    ------
    UnsupportedOperationError
        If obstore is not installed.

    Examples
    --------
    >>> import obstore
    >>> store = ObjectStore(obstore.store.MemoryStore())
    >>> store.set("a/b", b"value")
    >>> bytes(store.get("a/b")), store.get("c"), store.list_dir("a")
    (b'value', None, Listing(keys=('a/b',), prefixes=()))
    """

    remote = True

    def __init__(self, target: Any, *, read_only: bool | None = None) -> None:
        library = obstore()
        self.target = target
        behind_http = isinstance(target, library.store.HTTPStore)
        self.read_only = behind_http if read_only is None else read_only
        # Of HTTP, listing is a part of WebDAV, which nearly no server has.
        self.supports_list = not behind_http
        self._is_conditional = not isinstance(target, library.store.HTTPStore | library.store.LocalStore)

    @classmethod
    def from_url(cls, url: str, *, read_only: bool | None = None, **options: Any) -> Self:
        """Return the store of a URL: ``s3://``, ``gs://``, ``az://``, ``abfs://``, ``https://``, ``http://``.

        Parameters
        ----------
        url
            The bucket or server, and the path below which the keys are.
        read_only
            As for the class.
        **options
            Options of obstore, like ``region``, ``endpoint``, ``skip_signature`` (for public data), ``client_options``,
            ``retry_config`` and ``credential_provider``.

        Raises
        ------
        UnsupportedOperationError
            If obstore is not installed, or has no such stores.
        ValueError
            If the URL is not valid, or an option does not exist.

        Examples
        --------
        >>> ObjectStore.from_url("s3://bucket/volume.zarr", region="eu-central-1", skip_signature=True)
        <ObjectStore s3://bucket/volume.zarr>
        """
        return cls(store_of_url(url, options), read_only=read_only)

    def __repr__(self) -> str:
        return f"<ObjectStore {self.place}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStore) and (self.target, self.read_only) == (other.target, other.read_only)

    def __hash__(self) -> int:
        return hash(self.place)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.target, self.read_only)

    @property
    def in_memory(self) -> bool:
        """Whether the objects are in the memory of this process."""
        return isinstance(self.target, obstore().store.MemoryStore)

    @property
    def place(self) -> str:
        """The URL of the store, without credentials; of memory, a name for it in this process.

        Examples
        --------
        >>> ObjectStore.from_url("gs://bucket/a/b", skip_signature=True).place
        'gs://bucket/a/b'
        """
        library = obstore()
        target = self.target
        url = getattr(target, "url", None)
        if isinstance(url, str):
            return url
        prefix = str(getattr(target, "prefix", None) or "").strip("/")
        if isinstance(target, library.store.LocalStore):
            return f"file:{os.path.realpath(prefix or '/')}" if os.path.isabs(prefix) else f"file:/{prefix}"
        config = getattr(target, "config", {})
        bucket = config.get("bucket") or config.get("container_name") or config.get("container")
        if bucket is None:
            return f"{type(target).__name__}:{id(target)}"
        if isinstance(target, library.store.AzureStore):
            scheme, bucket = "az", f"{config.get('account_name', '')}/{bucket}"
        else:
            scheme = "gs" if isinstance(target, library.store.GCSStore) else "s3"
        endpoint = config.get("endpoint")
        server = f" at {endpoint}" if endpoint else ""
        return f"{scheme}://{bucket}{'/' if prefix else ''}{prefix}{server}"

    def get(self, key: str) -> Value | None:
        """Return the value; None if there is none."""
        found = self._get(_check(key), Span(0, None))
        return None if found is None else found[0]

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Return parts of one version of the value; None if there is none."""
        found = self.get_ranges_of_version(key, ranges, None)
        return None if found is None else found[0]

    def get_ranges_of_version(
        self, key: str, ranges: Sequence[ByteRange], version: str | None
    ) -> tuple[builtins.list[Value], str] | None:
        """Return parts of one version of the value, and what the version is; None if there is no value.

        Parameters
        ----------
        key
            The key.
        ranges
            The parts, as for `get_ranges`.
        version
            The version that they must be of; None: any.

        Raises
        ------
        ConflictError
            If the value is of another version by now.
        StoreError
            If a request fails.
        """
        _check(key)
        spans = spans_of(ranges) or [Span(0, 0)]
        for _ in range(_ATTEMPTS):
            found = self._get_spans(key, spans)
            if found is None:
                return None
            versions = {is_now for _, is_now in found}
            if len(versions) == 1 and version in (None, *versions):
                parts: builtins.list[Value] = [b""] * len(ranges)
                for span, (value, _) in zip(spans, found, strict=True):
                    for number, part in zip(span.members, span.parts(value, ranges), strict=True):
                        parts[number] = part
                return parts, versions.pop()
            if version is not None:
                break
        raise ConflictError("the object was replaced while parts of it were read", key=key, store=str(self))

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        """Return the values under many keys, requested at once; None for each that is missing."""
        if len(keys) < 2:
            return [self.get(key) for key in keys]
        with Threads(min(len(keys), 4 * _REQUESTS)) as pool:
            return builtins.list(pool.map(self.get, keys))

    @property
    def get_with_version(self) -> Callable[[str], tuple[Value, str] | None]:
        """The method that returns a value and its version, or None; for stores with conditional writes.

        Raises
        ------
        AttributeError
            If the store has none.
        """
        if not self._is_conditional:
            raise AttributeError("get_with_version")
        return lambda key: self._get(_check(key), Span(0, None))

    @property
    def set_if_version(self) -> Callable[[str, Value, str | None], bool]:
        """The method that sets a value only if what is there is of a version (None: only if nothing is there).

        Raises
        ------
        AttributeError
            If the store has no conditional writes.
        """
        if not self._is_conditional:
            raise AttributeError("set_if_version")
        return self._put_if

    def version(self, key: str) -> str | None:
        """Return the version of the value; None if there is none."""
        head = self._head(_check(key))
        return None if head is None else _version(head)

    def size(self, key: str) -> int | None:
        """Return the length of the value in bytes; None if there is none."""
        head = self._head(_check(key))
        return None if head is None else int(head["size"])

    def set(self, key: str, value: Value) -> None:
        """Replace the value."""
        self._check_writable(_check(key))
        with self._failures("write", key):
            try:
                obstore().put(self.target, key, self._handed(value))
            except FileNotFoundError as error:
                raise self._no_bucket("write", key, error) from error
        value_changed(self, key)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        """Set the value only if it is still `expected` (None: only if there is none); return whether it was."""
        if not self._is_conditional:
            return super().replace(key, expected, value)
        self._check_writable(_check(key))
        if expected is None:
            return self._put_if(key, value, None)
        found = self._get(key, Span(0, None))
        if found is None or bytes(found[0]) != bytes(expected):
            return False
        return self._put_if(key, value, found[1])

    def delete(self, key: str) -> None:
        """Remove the value, if there is one."""
        self.delete_many([key])

    def delete_many(self, keys: Sequence[str]) -> None:
        """Remove many values, in as few requests as the store needs."""
        for key in keys:
            self._check_writable(_check(key))
        if keys:
            with self._failures("delete", ", ".join(keys[:3])):
                try:
                    obstore().delete(self.target, builtins.list(keys))
                except FileNotFoundError:
                    # Some kinds of stores say so, of the first that is missing, and leave the rest.
                    for key in keys:
                        self._delete(key)
        for key in keys:
            value_changed(self, key)

    def delete_prefix(self, prefix: str) -> None:
        """Remove every key under the prefix."""
        prefix = check_prefix(prefix)
        self._check_writable(prefix)
        self.delete_many(self.list(prefix))
        prefix_changed(self, prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        """Return all keys under the prefix, sorted."""
        prefix = self._listable(prefix)
        with self._failures("list", prefix):
            chunks = obstore().list(self.target, prefix or None, chunk_size=_LISTED)
            return sorted(entry["path"] for chunk in chunks for entry in chunk)

    def list_dir(self, prefix: str = "") -> Listing:
        """Return the keys and prefixes directly under the prefix."""
        prefix = self._listable(prefix)
        with self._failures("list", prefix):
            found = obstore().list_with_delimiter(self.target, prefix or None)
            keys = sorted(entry["path"] for entry in found["objects"])
            return Listing(tuple(keys), tuple(sorted(f"{path}/" for path in found["common_prefixes"])))

    def _get_spans(self, key: str, spans: Sequence[Span]) -> builtins.list[tuple[Value, str]] | None:
        if len(spans) == 1:
            found = [self._get(key, spans[0])]
        else:
            with Threads(min(len(spans), _REQUESTS)) as pool:
                found = builtins.list(pool.map(lambda span: self._get(key, span), spans))
        there = [part for part in found if part is not None]
        return there if len(there) == len(found) else None

    def _get(self, key: str, span: Span) -> tuple[Value, str] | None:
        """Return bytes of a value and its version; None if there is no value."""
        options: dict[str, Any] = {}
        if span.start < 0:
            options = {"range": {"suffix": -span.start}}
        elif span.length is not None:
            options = {"range": (span.start, span.start + span.length)}
        elif span.start:
            options = {"range": {"offset": span.start}}
        if span.length == 0:
            # An empty range is not valid; only whether there is a value, and its version, are asked for.
            head = self._head(key)
            return None if head is None else (b"", _version(head))
        with self._failures("read", key):
            try:
                found = obstore().get(self.target, key, options=options)
                return _view_of(found.bytes()), _version(found.meta)
            except FileNotFoundError as error:
                self._check_bucket("read", key, error)
                return None
            except Exception as error:
                if not options:
                    raise
                return self._get_otherwise(key, span, error)

    def _get_otherwise(self, key: str, span: Span, error: Exception) -> tuple[Value, str] | None:
        """Return what a request for a range has not: the range is empty, or the server knows no such ranges."""
        if _NOT_PARTIAL.search(str(error)):
            whole = self._get(key, Span(0, None))
            return None if whole is None else (slice_ranges(whole[0], [(span.start, span.length)])[0], whole[1])
        head = self._head(key)
        if head is None:
            return None
        size = int(head["size"])
        if span.start < 0 and size and isinstance(error, obstore().exceptions.NotSupportedError):
            # Azure has no ranges that are counted from the end.
            return self._get(key, Span(max(0, size + span.start), size))
        if _BEYOND_END.search(str(error)) and (span.start >= size or not size):
            return b"", _version(head)
        raise error

    def _head(self, key: str) -> Any:
        with self._failures("read", key):
            try:
                return obstore().head(self.target, key)
            except FileNotFoundError as error:
                self._check_bucket("read", key, error)
                return None

    def _put_if(self, key: str, value: Value, version: str | None) -> bool:
        self._check_writable(_check(key))
        errors = obstore().exceptions
        mode: Any = "create" if version is None else _condition(version)
        done = True
        with self._failures("write", key):
            try:
                obstore().put(self.target, key, self._handed(value), mode=mode)
            except (errors.AlreadyExistsError, errors.PreconditionError):
                done = False
            except FileNotFoundError as error:
                self._check_bucket("write", key, error)
                # There is nothing any more that could be of the version.
                done = False
            except errors.NotSupportedError as error:
                raise UnsupportedOperationError(
                    "this store has no conditional writes, without which changes of several writers would be lost",
                    key=key,
                    store=str(self),
                ) from error
        value_changed(self, key)
        return done

    def _handed(self, value: Value) -> Value:
        # What is in memory there is not copied.
        return bytes(value) if self.in_memory else _view_of(value)

    def _delete(self, key: str) -> None:
        try:
            obstore().delete(self.target, key)
        except FileNotFoundError as error:
            self._check_bucket("delete", key, error)

    def _listable(self, prefix: str) -> str:
        prefix = check_prefix(prefix)
        if not self.supports_list:
            raise UnsupportedOperationError(
                "keys behind HTTP cannot be listed: open arrays by their paths, or a group with consolidated metadata",
                key=prefix or None,
                store=str(self),
                direction="list",
            )
        return prefix

    def _check_bucket(self, direction: str, key: str, error: Exception) -> None:
        """Raise if the bucket is missing, which is the same status as a missing object, but not a fill value."""
        if _NO_BUCKET.search(str(error)):
            raise self._no_bucket(direction, key, error) from error

    def _no_bucket(self, direction: str, key: str, error: Exception) -> StoreError:
        reason = f"there is no such bucket: {_reason(error)}"
        return StoreError(reason, key=key, store=str(self), direction=direction, errno=errno.ENOENT)

    @contextmanager
    def _failures(self, direction: str, key: str) -> Iterator[None]:
        errors = obstore().exceptions
        try:
            yield
        except (BlizzarrError, MemoryError):
            raise
        except Exception as error:
            reason, number = _reason(error), getattr(error, "errno", None)
            if isinstance(error, errors.PermissionDeniedError | errors.UnauthenticatedError):
                reason += "; pass credentials, or skip_signature=True for public data (see ObjectStore.from_url)"
                number = errno.EACCES
            where = {"key": key or None, "store": str(self), "direction": direction}
            raise StoreError(reason, errno=number, **where) from error


def _check(key: str) -> str:
    """Return the key, if it can be that of an object."""
    control = _CONTROL.search(check_key(key))
    if control is not None:
        raise PathError(f"it contains {control[0]!r}, which keys in object stores may not", key=key)
    return key


def _unpickled(target: Any, read_only: bool) -> ObjectStore:
    return ObjectStore(target, read_only=read_only)


def _reason(error: Exception) -> str:
    """The message of an error of obstore, without what follows for its developers."""
    text = " ".join(str(error).partition("\n\nDebug source")[0].split())
    return f"{type(error).__name__}: {text}"


def _version(meta: Any) -> str:
    """The version of an object, from what is known of it; where there are none, when it was written."""
    tag, version = meta.get("e_tag"), meta.get("version")
    if tag is None and version is None:
        return f"{meta['last_modified'].isoformat()} {meta['size']}"
    return f"{tag or ''}\n{version or ''}"


def _condition(version: str) -> dict[str, str]:
    tag, _, number = version.partition("\n")
    return {name: text for name, text in (("e_tag", tag), ("version", number)) if text}


def _view_of(value: Any) -> Value:
    return value if isinstance(value, bytes) else memoryview(value).cast("B")
