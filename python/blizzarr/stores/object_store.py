"""Objects in S3, Google Cloud, Azure or behind HTTP as a store, through obstore."""

from __future__ import annotations

import builtins
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Self

from blizzarr.errors import ConflictError, PathError, UnknownOutcomeError, UnsupportedOperationError
from blizzarr.stores.base import BaseStore
from blizzarr.stores.cache_invalidation import prefix_changed, value_changed
from blizzarr.stores.coalescing import Span, parts_of, spans_of
from blizzarr.stores.keys import check_key, check_prefix, is_key, keys_and_others
from blizzarr.stores.object_conditions import Written
from blizzarr.stores.object_requests import ObjectRequests
from blizzarr.stores.obstore_library import store_of_url
from blizzarr.stores.protocol import ByteRange, Listing, Replaced, Value
from blizzarr.stores.ranges import check_lengths
from blizzarr.stores.requests import each

_AT_ONCE: Final = 8
"""How many parts of one value are requested at once; the engine asks for many values at once besides."""
_ATTEMPTS: Final = 20
_AT_LEAST: Final = 3
"""How often several parts of one value are requested, until they are of one version; or until `_PATIENCE` is over."""
_PATIENCE: Final = 4.0
"""In seconds."""
_CONTROL = re.compile(r"[\0-\x1f\x7f]")


class ObjectStore(BaseStore):
    """The objects of a bucket, of a container, or below a URL: S3, Google Cloud, Azure, HTTP.

    Needs the extra ``remote``. The options are those of `obstore <https://developmentseed.org/obstore>`_, whose
    documentation lists them for each kind of store. Without
    options, credentials come from the environment, as with the vendor's own programs.

    Parts of a chunk, or of a shard, that several programs write at once are all kept, as are their changes to metadata
    and attributes: an object is replaced only if it is still the one that was read (``If-Match``), and otherwise read
    again. Deleting is not conditional. What is behind HTTP can only be read, and not be listed: open arrays by their
    paths, and groups that have consolidated metadata.

    A child of ``os.fork`` makes its own connections. Only stores in memory, and those with a ``credential_provider``
    that is asynchronous or not for S3, cannot be used there if the parent has used them.

    Parameters
    ----------
    target
        A store of obstore.
    read_only
        Refuse `set` and `delete`. By default, only what is behind HTTP is read-only.
    unsafe_shared_writes
        Write without conditions, for servers that have none: then only one program may write.

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

    def __init__(self, target: Any, *, read_only: bool | None = None, unsafe_shared_writes: bool = False) -> None:
        self.target = target
        self._requests = ObjectRequests(target)
        self._unsafe = unsafe_shared_writes
        self._is_conditional = self._requests.is_conditional and not unsafe_shared_writes
        self.read_only = self._requests.is_http if read_only is None else read_only
        # Behind HTTP, listing is a part of WebDAV, which nearly no server has.
        self.supports_list = not self._requests.is_http

    @classmethod
    def from_url(
        cls, url: str, *, read_only: bool | None = None, unsafe_shared_writes: bool = False, **options: Any
    ) -> Self:
        """Return the store of a URL: ``s3://``, ``gs://``, ``az://``, ``abfs://``, ``https://``, ``http://``.

        Parameters
        ----------
        url
            The bucket or server, and the path below which the keys are.
        read_only, unsafe_shared_writes
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
        return cls(store_of_url(url, options), read_only=read_only, unsafe_shared_writes=unsafe_shared_writes)

    def __repr__(self) -> str:
        return f"<ObjectStore {self._requests.place}>"

    def __str__(self) -> str:
        return str(self._requests)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStore) and (self.target, self.read_only) == (other.target, other.read_only)

    def __hash__(self) -> int:
        return hash(self.place)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.target, self.read_only, self._unsafe)

    @property
    def object_client(self) -> Any:
        """The engine's own client of these objects; None if it reaches them through this store."""
        # A class derived from this one may do something else.
        return self._requests.client if type(self) is ObjectStore else None

    @property
    def in_memory(self) -> bool:
        """True if the objects are in the memory of this process."""
        return self._requests.in_memory

    @property
    def only_readable(self) -> str | None:
        """The reason why nothing can be written there, whatever the mode; None if it can."""
        return "what is behind HTTP can only be read" if self._requests.is_http and self.read_only else None

    @property
    def place(self) -> str:
        """The URL of the store, without credentials; of memory, a name for it in this process.

        Examples
        --------
        >>> ObjectStore.from_url("gs://bucket/a/b", skip_signature=True).place
        'gs://bucket/a/b'
        """
        return self._requests.place

    def get(self, key: str) -> Value | None:
        """Return the value; None if there is none."""
        found = self._requests.get(_check(key), Span(0, None))
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
        if self._requests.client is not None:
            check_lengths(ranges)
            return self._requests.get_ranges(key, ranges, version)
        spans = spans_of(ranges) or [Span(0, 0)]
        began = time.monotonic()
        for done in range(1, 1 + _ATTEMPTS):
            found = self._get_spans(key, spans)
            if found is None:
                return None
            versions = {is_now for _, is_now in found}
            if len(versions) == 1 and version in (None, *versions):
                return parts_of(spans, [value for value, _ in found], ranges), versions.pop()
            if version is not None or (done >= _AT_LEAST and time.monotonic() - began > _PATIENCE):
                break
        reason = "the object was replaced while parts of it were read, or the server gives each answer another ETag"
        raise ConflictError(reason, key=key, store=str(self))

    @property
    def get_with_version(self) -> Callable[[str], tuple[Value, str] | None]:
        """The method that returns a value and its version, or None; for stores with conditional writes.

        Raises
        ------
        AttributeError
            If the store has none.
        """
        self._check_conditional("get_with_version")
        return self._get_with_version

    @property
    def set_if_version(self) -> Callable[[str, Value, str | None], bool]:
        """The method that sets a value only if what is there is of a version (None: only if nothing is there).

        Raises
        ------
        AttributeError
            If the store has no conditional writes.
        """
        self._check_conditional("set_if_version")
        return lambda key, value, version: self._version_of_replaced(key, value, version) is not None

    @property
    def replace_version(self) -> Callable[[str, Value, str | None], str | None]:
        """The same, but the method returns the version of what was written; None if nothing was.

        Raises
        ------
        AttributeError
            If the store has no conditional writes.
        """
        self._check_conditional("replace_version")
        return self._version_of_replaced

    def version(self, key: str) -> str | None:
        """Return the version of the value; None if there is none."""
        head = self._requests.head(_check(key))
        return None if head is None else head[1]

    def size(self, key: str) -> int | None:
        """Return the length of the value in bytes; None if there is none."""
        head = self._requests.head(_check(key))
        return None if head is None else head[0]

    def set(self, key: str, value: Value) -> None:
        """Replace the value."""
        self.set_with_version(key, value)

    def set_with_version(self, key: str, value: Value) -> str:
        """Replace the value; return the version of what was written.

        Raises
        ------
        ReadOnlyError
            If the store was opened for reading.
        StoreError
            If it cannot be written.
        """
        self._check_writable(_check(key))
        try:
            return self._requests.put(key, value)
        finally:
            value_changed(self, key)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        """Set the value only if it is still `expected` (None: only if there is none); return whether it was.

        None if it was refused, but an answer may have been lost, and what others have written since does not tell.
        """
        if not self._is_conditional:
            return super().replace(key, expected, value)
        version = None
        if expected is not None:
            found = self._get_with_version(key)
            if found is None or bytes(found[0]) != bytes(expected):
                self._check_writable(key)
                return False
            version = found[1]
        written = self._replace_version(key, value, version)
        # Whoever has made an object of these bytes: it is there, and was not before.
        is_done = written.version is not None or (written.is_same and expected is None)
        return is_done or (False if written.is_sure else None)

    def delete(self, key: str) -> None:
        """Remove the value, if there is one."""
        self.delete_many([key])

    def delete_many(self, keys: Sequence[str]) -> None:
        """Remove many values, in as few requests as the store needs."""
        for key in keys:
            self._check_writable(_check(key))
        try:
            self._requests.delete(keys)
        finally:
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
        return self.list_all(prefix)[0]

    def list_all(self, prefix: str = "") -> tuple[builtins.list[str], builtins.list[str]]:
        """Return what `list` does, and the names under the prefix that are no keys of a store."""
        return keys_and_others(self._requests.list(self._listable(prefix)), _is_key)

    def list_sizes(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        """Yield all keys under the prefix, as they are listed, and the lengths of their values in bytes."""
        return self._requests.list_sizes(self._listable(prefix))

    def list_dir(self, prefix: str = "") -> Listing:
        """Return the keys and prefixes directly under the prefix."""
        keys, prefixes = self._requests.list_dir(self._listable(prefix))
        inside = (name for name in prefixes if _is_key(name.removesuffix("/")))
        return Listing(tuple(filter(_is_key, keys)), tuple(inside))

    def _get_spans(self, key: str, spans: Sequence[Span]) -> builtins.list[tuple[Value, str]] | None:
        found = each(self, lambda span: self._requests.get(key, span), spans, _AT_ONCE)
        there = [part for part in found if part is not None]
        return there if len(there) == len(found) else None

    def _get_with_version(self, key: str) -> tuple[Value, str] | None:
        return self._requests.get(_check(key), Span(0, None))

    def _version_of_replaced(self, key: str, value: Value, version: str | None) -> str | None:
        """Replace a value if it is of the version; return the version of what was written, None if nothing was."""
        written = self._replace_version(key, value, version)
        if not written.is_sure:
            reason = (
                "an answer was lost, and the object has changed since it was read, so it is not known whether this "
                "write was made: read it again"
            )
            raise UnknownOutcomeError(reason, key=key, store=str(self))
        return written.version

    def _replace_version(self, key: str, value: Value, version: str | None) -> Written:
        self._check_writable(_check(key))
        try:
            return self._requests.put_if(key, value, version)
        finally:
            value_changed(self, key)

    def _check_conditional(self, method: str) -> None:
        if not self._is_conditional:
            raise AttributeError(method)

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


def _check(key: str) -> str:
    """Return the key, if it can be that of an object."""
    control = _CONTROL.search(check_key(key))
    if control is not None:
        raise PathError(f"it contains {control[0]!r}, which keys in object stores may not", key=key)
    return key


def _is_key(name: object) -> bool:
    return is_key(name) and _CONTROL.search(str(name)) is None


def _unpickled(target: Any, read_only: bool, unsafe: bool) -> ObjectStore:
    return ObjectStore(target, read_only=read_only, unsafe_shared_writes=unsafe)
