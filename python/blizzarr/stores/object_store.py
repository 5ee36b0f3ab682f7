"""Objects in S3, Google Cloud, Azure or behind HTTP as a store. The engine makes the requests."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final, Self

from blizzarr.errors import StoreError, UnknownOutcomeError, UnsupportedOperationError
from blizzarr.stores.base import ForeignNames
from blizzarr.stores.conditional import Versioned
from blizzarr.stores.credentials import without_secrets
from blizzarr.stores.failures import changed
from blizzarr.stores.keys import check_object_key, check_prefix, is_object_key, keys_and_others
from blizzarr.stores.object_settings import ObjectSettings, settings_of_url
from blizzarr.stores.protocol import ByteRange, Listing, Replaced, Value
from blizzarr.stores.ranges import check_lengths

_VERSIONED: Final = 1 << 20
"""The most bytes of a value that is returned with its version: documents are shorter, and others would be copied."""
_CONDITIONAL: Final = {
    "get_with_version": "_get_with_version",
    "set_if_version": "_set_if_version",
    "replace_version": "_version_of_replaced",
}
"""The methods of stores with conditional writes: those of `Store`, and one that returns the version that it wrote."""


class ObjectStore(ForeignNames):
    """The objects of a bucket, of a container, or below a URL: S3, Google Cloud, Azure, HTTP.

    `from_url` makes one. Without options, credentials come from the environment, as with the vendor's own programs.

    Parts of a chunk, or of a shard, that several programs write at once are all kept, as are their changes to metadata
    and attributes: an object is replaced only if it is still the one that was read (``If-Match``), and otherwise read
    again. Deleting is not conditional. What is behind HTTP can only be read, and not be listed: open arrays by their
    paths, and groups that have consolidated metadata.

    A child of ``os.fork`` makes its own connections.

    Parameters
    ----------
    target
        A store of `obstore <https://developmentseed.org/obstore>`_ for one of these, whose options are taken.
    read_only
        Refuse `set` and `delete`. By default, only what is behind HTTP is read-only.
    unsafe_shared_writes
        Write without conditions, for servers that have none: then only one program may write.

    Raises
    ------
    TypeError
        If `target` is something else.
    ValueError
        If the store cannot be opened with these options.

    Examples
    --------
    >>> import obstore
    >>> ObjectStore(obstore.store.S3Store("shelf", prefix="a", skip_signature=True))
    <ObjectStore s3://shelf/a>
    """

    remote = True

    def __init__(self, target: Any, *, read_only: bool | None = None, unsafe_shared_writes: bool = False) -> None:
        settings = target
        if not isinstance(settings, ObjectSettings):
            from blizzarr.stores.obstore_stores import settings_of_obstore

            settings = settings_of_obstore(target)
        self._settings = settings
        self._client = settings.client()
        self._place = settings.place(self._client)
        is_http = settings.protocol == "http"
        self._unsafe = unsafe_shared_writes
        self._is_conditional = not is_http and not unsafe_shared_writes
        self.read_only = is_http if read_only is None else read_only
        # Behind HTTP, listing is a part of WebDAV, which nearly no server has.
        self.supports_list = not is_http

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
            Options with the names of obstore's, whose documentation lists them for each kind of store: ``region``,
            ``endpoint``, ``skip_signature`` (for public data), ``timeout``, ``default_headers``, ``retry_config`` and
            others. ``credential_provider`` is a function, which may be asynchronous, that returns a mapping with
            ``expires_at`` (a time, or None) and, for S3, ``access_key_id``, ``secret_access_key`` and ``token``; for
            Google Cloud, ``token``; for Azure, ``access_key``, ``sas_token`` or ``token``.

        Raises
        ------
        UnsupportedOperationError
            If the URL is of another kind, or a profile in ``~/.aws`` needs botocore, which is not installed.
        ValueError
            If the URL is not valid, or an option does not exist.

        Examples
        --------
        >>> ObjectStore.from_url("s3://bucket/volume.zarr", region="eu-central-1", skip_signature=True)
        <ObjectStore s3://bucket/volume.zarr>
        """
        return cls(settings_of_url(url, options), read_only=read_only, unsafe_shared_writes=unsafe_shared_writes)

    def __repr__(self) -> str:
        return f"<ObjectStore {self._place}>"

    def __str__(self) -> str:
        return without_secrets(self._settings.url)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStore) and (self._settings, self.read_only) == (other._settings, other.read_only)

    def __hash__(self) -> int:
        return hash(self._place)

    def __reduce__(self) -> tuple[Any, ...]:
        reopened = partial(ObjectStore, read_only=self.read_only, unsafe_shared_writes=self._unsafe)
        return reopened, (self._settings,)

    @property
    def object_client(self) -> Any:
        """The engine's own client of these objects; None if it reaches them through this store."""
        # A class derived from this one may do something else.
        return self._client if type(self) is ObjectStore else None

    @property
    def only_readable(self) -> str | None:
        """The reason why nothing can be written there, whatever the mode; None if it can."""
        is_http = self._settings.protocol == "http"
        return "what is behind HTTP can only be read" if is_http and self.read_only else None

    @property
    def place(self) -> str:
        """The URL of the store, without credentials. Servers other than the vendor's come first.

        Examples
        --------
        >>> ObjectStore.from_url("gs://bucket/a/b", skip_signature=True).place
        'gs://bucket/a/b'
        """
        return self._place

    @cached_property
    def store_above(self) -> ObjectStore | None:
        """The store of the path above this one; None for a whole bucket."""
        if not self._settings.prefix or type(self) is not ObjectStore:
            # A class derived from this one may do something else.
            return None
        above = replace(self._settings, prefix=self._settings.prefix.rpartition("/")[0])
        return ObjectStore(above, read_only=self.read_only, unsafe_shared_writes=self._unsafe)

    def get(self, key: str) -> Value | None:
        return self._versioned(key, self._get_with_version(key))

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        if type(self) is not ObjectStore:
            # Its `get` may do something else.
            return super().get_many(keys)
        with self._placed("read"):
            answers = self._client.get_many([check_object_key(key) for key in keys])
        return [*map(self._versioned, keys, answers)]

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        answer = self.get_ranges_of_version(key, ranges, None)
        return None if answer is None else answer[0]

    def get_ranges_of_version(
        self, key: str, ranges: Sequence[ByteRange], version: str | None
    ) -> tuple[builtins.list[Value], str] | None:
        """Return parts of one version of the value, and what the version is; None if there is no value. See `Store`."""
        check_lengths(ranges)
        with self._placed("read"):
            answer = self._client.get_ranges(check_object_key(key), ranges, version)
        return None if answer is None else ([*answer[0]], answer[1])

    def __getattr__(self, name: str) -> Any:
        if name in _CONDITIONAL and self._is_conditional:
            return getattr(self, _CONDITIONAL[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def version(self, key: str) -> str | None:
        """Return the version of the value; None if there is none."""
        head = self._head(key)
        return None if head is None else head[1]

    def size(self, key: str) -> int | None:
        """Return the length of the value in bytes; None if there is none."""
        head = self._head(key)
        return None if head is None else head[0]

    def set(self, key: str, value: Value) -> None:
        self.set_with_version(key, value)

    def set_with_version(self, key: str, value: Value) -> str:
        """Replace the value; return the version of what was written."""
        self._check_writable(check_object_key(key))
        with self._placed("write", key):
            return self._client.put(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        if not self._is_conditional:
            return super().replace(key, expected, value)
        version = None
        if isinstance(expected, Versioned) and (expected.place, expected.key) == (self._place, key):
            version = expected.version
        elif expected is not None:
            answer = self._get_with_version(key)
            if answer is None or bytes(answer[0]) != bytes(expected):
                self._check_writable(key)
                return False
            version = answer[1]
        outcome, now = self._put_if(key, value, version)
        if isinstance(value, Versioned) and now is not None:
            value.place, value.key, value.version = self._place, key, now
        # Whoever has made an object of these bytes: it is there, and was not before.
        is_done = outcome == "done" or (now is not None and expected is None)
        return is_done or (False if outcome == "refused" else None)

    def delete(self, key: str) -> None:
        self.delete_many([key])

    def delete_many(self, keys: Sequence[str]) -> None:
        """Remove many values, in as few requests as the store needs."""
        for key in keys:
            self._check_writable(check_object_key(key))
        if not keys:
            return
        with self._placed("delete", *keys):
            self._client.delete([*keys])

    def delete_prefix(self, prefix: str) -> None:
        prefix = check_prefix(prefix)
        self._check_writable(prefix)
        self.delete_many(self.list(prefix))
        changed(self, prefix, is_prefix=True)

    def list_all(self, prefix: str = "") -> tuple[builtins.list[str], builtins.list[str]]:
        return keys_and_others((name for name, _ in self._listed(prefix, direct=False)[0]), is_object_key)

    def list_sizes(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        """Yield all keys under the prefix, and the lengths of their values in bytes."""
        return (entry for entry in self._listed(prefix, direct=False)[0] if is_object_key(entry[0]))

    def list_dir(self, prefix: str = "") -> Listing:
        objects, prefixes = self._listed(prefix, direct=True)
        inside = (name for name in sorted(prefixes) if is_object_key(name.removesuffix("/")))
        return Listing(tuple(filter(is_object_key, sorted(name for name, _ in objects))), tuple(inside))

    def _versioned(self, key: str, answer: tuple[Value, str] | None) -> Value | None:
        """Return the value of an answer, which knows its version unless it is long; None if there is none."""
        if answer is None:
            return None
        value, version = answer
        return Versioned(value, self._place, key, version) if len(value) <= _VERSIONED else value

    def _get_with_version(self, key: str) -> tuple[Value, str] | None:
        with self._placed("read"):
            return self._client.get(check_object_key(key))

    def _head(self, key: str) -> tuple[int, str] | None:
        with self._placed("read"):
            return self._client.head(check_object_key(key))

    def _set_if_version(self, key: str, value: Value, version: str | None) -> bool:
        return self._version_of_replaced(key, value, version) is not None

    def _version_of_replaced(self, key: str, value: Value, version: str | None) -> str | None:
        """Replace a value if it is of the version; return the version of what was written, None if nothing was."""
        outcome, now = self._put_if(key, value, version)
        if outcome == "unknown":
            reason = (
                "an answer was lost, and the object has changed since it was read, so it is not known whether this "
                "write was made: read it again"
            )
            raise UnknownOutcomeError(reason, key=key, store=str(self))
        return now

    def _put_if(self, key: str, value: Value, version: str | None) -> tuple[str, str | None]:
        self._check_writable(check_object_key(key))
        with self._placed("write", key):
            return self._client.put_if(key, value, version)

    def _listed(self, prefix: str, *, direct: bool) -> tuple[builtins.list[tuple[str, int]], builtins.list[str]]:
        prefix = check_prefix(prefix)
        if not self.supports_list:
            raise UnsupportedOperationError(
                "a web server cannot list its keys: open or copy arrays by their paths, or a group with consolidated "
                "metadata; to check the data, copy them first with blizzarr.copy",
                key=prefix or None,
                store=str(self),
                direction="list",
            )
        with self._placed("list"):
            return self._client.list(prefix, direct=direct)

    @contextmanager
    def _placed(self, direction: str, *keys: str) -> Iterator[None]:
        """Complete errors of the engine, which knows only the key; tell caches that what is under `keys` changes."""
        try:
            yield
        except StoreError as error:
            error.store, error.key = error.store or str(self), error.key or None
            error.direction = error.direction or direction
            raise
        finally:
            for key in keys:
                changed(self, key)
