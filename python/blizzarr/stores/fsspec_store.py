"""Files of any file system of fsspec as a store."""

from __future__ import annotations

import builtins
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any, Final, Self

from blizzarr.errors import StoreError, UnsupportedOperationError
from blizzarr.lazy_imports import is_instance
from blizzarr.stores.base import ForeignNames
from blizzarr.stores.credentials import credentials_in, raise_from, without_secrets
from blizzarr.stores.failures import changed, changes, failures
from blizzarr.stores.file_systems import place_in, without_roots
from blizzarr.stores.impossible_keys import is_impossible
from blizzarr.stores.keys import check_key, check_prefix, is_key, keys_and_others
from blizzarr.stores.locks import KeyLocks
from blizzarr.stores.protocol import ByteRange, Listing, Value
from blizzarr.stores.ranges import Span, of_one_version, slice_ranges, spans_of
from blizzarr.stores.requests import at_once, each, of_this_thread

_AT_ONCE: Final = 8
"""The number of parts of one value that are requested at once; the engine asks for many values at once besides."""
_NO_DIRECTORY: Final = (FileNotFoundError, NotADirectoryError)
_NO_BUCKET: Final = re.compile(r"specified (bucket|container) does not exist", re.IGNORECASE)
"""The words of s3fs, gcsfs and adlfs if the bucket is missing, not only the file."""
_NO_RANGE: Final = re.compile(r"416|range", re.IGNORECASE)
"""The words of file systems about a range that begins behind the end of a value."""

_CACHES: Final = "fsspec.implementations.cached:CachingFileSystem"
_COPIES: Final = "it keeps copies of what was read, which writes do not change; write to the file system below"
_REFERENCES: Final = "fsspec.implementations.reference:ReferenceFileSystem"
_NOT_STORED: Final = "it keeps what is written in memory only; copy what you want to change"
_copying: Final = KeyLocks()
"""Makes one thread copy a file; others would read what has been copied so far."""


class FsspecStore(ForeignNames):
    """The files below a path of a file system of fsspec, of any kind.

    fsspec has no conditional writes: threads of this process may write parts of one chunk at the same time, other
    programs may not. Whether a value is replaced in one step is up to the file system. Those that keep copies of files,
    like ``simplecache``, can only be read.

    Parameters
    ----------
    fs
        An ``fsspec.AbstractFileSystem``.
    path
        The path there.
    read_only
        Refuse `set` and `delete`.

    Examples
    --------
    >>> import fsspec
    >>> store = FsspecStore(fsspec.filesystem("memory"), "some.zarr")
    >>> store.set("a/b", b"value")
    >>> store.get("a/b"), store.get("c"), store.list()
    (b'value', None, ['a/b'])
    """

    def __init__(self, fs: Any, path: str = "", *, read_only: bool = False) -> None:
        if isinstance(fs, str):
            raise TypeError(f"expected a file system of fsspec, found {fs!r}; FsspecStore.from_url takes a URL")
        if getattr(fs, "asynchronous", False):
            raise TypeError(
                "expected a synchronous file system, found an asynchronous one: make it without asynchronous=True"
            )
        self.fs = fs
        stripped = str(fs._strip_protocol(path)) if path else ""
        # Without a path it is up to the file system; with "/" it is the root, not the current directory.
        self.path = stripped.rstrip("/") or stripped
        self._above = f"{self.path.rstrip('/')}/" if self.path else ""
        behind, _ = without_roots(fs, path)
        reason = _NOT_STORED if is_instance(behind, _REFERENCES) else None
        self.only_readable = _COPIES if is_instance(behind, _CACHES) else reason
        self.read_only = read_only or self.only_readable is not None
        self.remote = not is_local(fs) and type(fs).__name__ != "MemoryFileSystem"
        self._has_ranges = not self.remote
        """True once an answer for a range was a part, so that the next of the expected length need not be examined."""

    @classmethod
    def from_url(cls, url: str, storage_options: Mapping[str, Any] | None = None, *, read_only: bool = False) -> Self:
        """Return the store of a URL that fsspec knows, like ``ftp://``, ``sftp://``, ``hf://`` or ``simplecache::...``.

        Parameters
        ----------
        url
            The URL.
        storage_options
            Options of the file system.
        read_only
            Refuse `set` and `delete`.

        Raises
        ------
        UnsupportedOperationError
            If fsspec, or the package that it needs for such URLs, is not installed.
        StoreError
            If the file system connects at once, and cannot.

        Examples
        --------
        >>> FsspecStore.from_url("memory://volume.zarr")
        <FsspecStore MemoryFileSystem:/volume.zarr>
        """
        try:
            from fsspec.core import url_to_fs  # type: ignore[import-untyped]

            fs, path = url_to_fs(url, **(storage_options or {}))
        except (TypeError, MemoryError):
            # What is wrong is an option.
            raise
        except Exception as error:
            # The URL itself is not shown: it may hold credentials.
            scheme, known = url.partition(":")[0], credentials_in(url, storage_options)
            cause = without_secrets(str(error), known)
            if isinstance(error, ImportError | ValueError):
                advice = (
                    "blizzarr itself opens URLs of s3, gs, az, http and https; for others, install fsspec and the "
                    "package that it names"
                )
                reason = f"fsspec cannot open a URL of {scheme}: {cause}; {advice}"
                raise_from(error, UnsupportedOperationError(reason), known)
            # Some file systems connect at once.
            number = error.errno if isinstance(error, OSError) else None
            reason = f"cannot be opened: {type(error).__name__}: {cause}"
            raise_from(error, StoreError(reason, errno=number, store=f"{scheme}://..."), known)
        return cls(fs, path, read_only=read_only)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FsspecStore):
            return NotImplemented
        return (self._place, self.read_only) == (other._place, other.read_only)

    def __hash__(self) -> int:
        return hash((FsspecStore, self._place))

    def __repr__(self) -> str:
        return f"<FsspecStore {type(self.fs).__name__}:{without_secrets(self.path, credentials_in(self.path))}>"

    @property
    def _place(self) -> str:
        """The directory, as all stores there have it."""
        return place_in(*without_roots(self.fs, self.path))

    @property
    def _credentials(self) -> tuple[str, ...]:
        """Texts that errors must not show: options of the file system, and parts of the path if that is a URL."""
        return credentials_in(self.path, getattr(self.fs, "storage_options", None))

    def __reduce__(self) -> tuple[Any, ...]:
        return FsspecStore, (self.fs, self.path), {"read_only": self.read_only, "_has_ranges": self._has_ranges}

    def get(self, key: str) -> Value | None:
        return self._get(check_key(key), Span(0, None))

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        check_key(key)
        spans = spans_of(ranges, min(_AT_ONCE, of_this_thread(at_once(self)))) or [Span(0, 1)]
        fetch = partial(each, self, lambda span: self._get(key, span), most=_AT_ONCE)
        return of_one_version(fetch, spans, ranges)

    def set(self, key: str, value: Value) -> None:
        self._check_writable(check_key(key))
        path = self._path(key)
        with changes("write", key, self):
            try:
                self.fs.pipe_file(path, bytes(value))
            except FileNotFoundError:
                # Where directories have to be made first.
                self.fs.makedirs(path.rpartition("/")[0], exist_ok=True)
                self.fs.pipe_file(path, bytes(value))

    def delete(self, key: str) -> None:
        self._check_writable(check_key(key))
        with changes("delete", key, self), suppress(*_NO_DIRECTORY, IsADirectoryError):
            self.fs.rm_file(self._path(key))

    def delete_prefix(self, prefix: str) -> None:
        prefix = check_prefix(prefix)
        self._check_writable(prefix)
        super().delete_prefix(prefix)
        changed(self, prefix, is_prefix=True)
        with failures("delete", prefix, self):
            self._remove_empty(self._listed(prefix))

    def _remove_empty(self, path: str) -> None:
        """Remove the directories at and below a path that are empty; each might be where a chunk is stored next."""
        files, directories = _walked(self.fs, path)
        used = {name[:end] for name in files for end, letter in enumerate(name) if letter == "/"}
        for directory in reversed(directories):
            if directory in used or directory in ("", self.path):
                continue
            # Some file systems remove what is in a directory, too.
            self.fs.invalidate_cache(directory)
            # Others may have stored something there, or removed the directory.
            with suppress(OSError):
                if not self.fs.ls(directory, detail=True):
                    self.fs.rmdir(directory)

    def list_all(self, prefix: str = "") -> tuple[builtins.list[str], builtins.list[str]]:
        path = self._listed(prefix)
        with failures("list", prefix, self):
            names = (key for key in map(self._key, _found(self.fs, path)) if key is not None and key.startswith(prefix))
            return keys_and_others(names)

    def list_sizes(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        """Yield all keys under the prefix, and the lengths of their values in bytes.

        Raise `UnsupportedOperationError` if the file system does not list these; most do.
        """
        path = self._listed(prefix)
        with failures("list", prefix, self):
            entries = _found(self.fs, path)
        for name, entry in entries.items():
            key = self._key(name)
            if key is None or not key.startswith(prefix):
                continue
            if entry.get("size") is None:
                raise UnsupportedOperationError("its listing has no sizes", store=str(self), direction="list")
            yield key, int(entry["size"])

    def list_dir(self, prefix: str = "") -> Listing:
        prefix = check_prefix(prefix)
        path = self._listed(prefix)
        with failures("list", prefix, self):
            try:
                listed = self.fs.ls(path, detail=True)
            except _NO_DIRECTORY:
                return Listing((), ())
            entries = [(self._key(entry["name"]), entry["type"]) for entry in listed]
        # Some list a file as the only entry of itself, or a directory within itself.
        inside = [(key, kind) for key, kind in entries if key is not None and is_key(key) and key.startswith(prefix)]
        keys = sorted(key for key, kind in inside if kind != "directory")
        return Listing(tuple(keys), tuple(sorted(f"{key}/" for key, kind in inside if kind == "directory")))

    def _get(self, key: str, span: Span) -> Value | None:
        with failures("read", key, self), self._alone(key):
            try:
                if span.start < 0:
                    value = self.fs.cat_file(self._path(key), start=span.start)
                elif span.length is None and not span.start:
                    value = self.fs.cat_file(self._path(key))
                else:
                    end = None if span.length is None else span.start + span.length
                    value = self.fs.cat_file(self._path(key), start=span.start, end=end)
                value = value if isinstance(value, bytes) else memoryview(value).cast("B")
                is_whole = span.start > 0 and self._is_whole(key, span, len(value))
            except FileNotFoundError as error:
                if _NO_BUCKET.search(str(error)):
                    raise
                if _is_failure(error.__cause__):
                    raise error.__cause__ or error from None
                return None
            except Exception as error:
                if is_impossible(key, error, self.fs):
                    return None
                if not span.start or (span.start > 0 and not _NO_RANGE.search(f"{type(error).__name__}: {error}")):
                    raise
                # Some fail where a range begins behind the end, or, counted from the end, before the beginning. It may
                # be there now: others replace values meanwhile.
                whole = self._get(key, Span(0, None))
                return None if whole is None else slice_ranges(whole, [(span.start, span.length)])[0]
            return slice_ranges(value, [(span.start, span.length)])[0] if is_whole else value

    def _is_whole(self, key: str, span: Span, length: int) -> bool:
        """Return whether so many bytes, the answer for a range, are the whole value.

        Web servers without ranges send that, and fsspec does not look at the status of their answers.
        """
        if span.length is not None and length > span.length:
            return True
        if not length or (self._has_ranges and length == span.length):
            return False
        path = self._path(key)
        size = self.fs.info(path).get("size")
        is_whole = bool(length == (len(self.fs.cat_file(path)) if size is None else size))
        self._has_ranges = self._has_ranges or not is_whole
        return is_whole

    def _alone(self, key: str) -> AbstractContextManager[None]:
        """Return the context in which a value is read: caches other than simplecache have a list of their copies."""
        if self.only_readable is not _COPIES:
            return nullcontext()
        cache, _ = without_roots(self.fs, self.path)
        return _copying.held((id(cache), key if type(cache).__name__ == "SimpleCacheFileSystem" else None))

    @property
    def store_above(self) -> FsspecStore | None:
        """The store of the directory above this one; None at the top of the file system."""
        above = self.path.rpartition("/")[0]
        return FsspecStore(self.fs, above, read_only=self.read_only) if above else None

    def _path(self, key: str) -> str:
        return f"{self._above}{key}"

    def _key(self, path: str) -> str | None:
        path = path.rstrip("/")
        if not self.path:
            return path.lstrip("/") or None
        return path[len(self._above) :] if path.startswith(self._above) else None

    def _listed(self, prefix: str) -> str:
        path = self._path(check_prefix(prefix)).rstrip("/")
        # Others may have written meanwhile, and file systems remember listings.
        self.fs.invalidate_cache(path)
        return path


def _found(fs: Any, path: str) -> dict[str, Any]:
    """Return the files below a path by their names. What fsspec has for this leaves out what it cannot list."""
    return _walked(fs, path)[0]


def _walked(fs: Any, path: str) -> tuple[dict[str, Any], list[str]]:
    """Return the files at and below a path by their names, and the directories, each before those that are in it.

    There are no directories of file systems that list all files at once: of object stores, which have none.
    """
    # Directories below are remembered, too.
    fs.invalidate_cache()
    behind, _ = without_roots(fs, path)
    find = getattr(behind.find, "__wrapped__", behind.find)
    has_own = find.__module__ not in ("fsspec.spec", "fsspec.asyn")
    files: dict[str, Any] = {}
    directories: list[str] = []
    waiting = [path]
    while waiting:
        above = waiting.pop()
        try:
            if has_own:
                return dict(fs.find(above, detail=True)), []
            entries = fs.ls(above, detail=True)
        except _NO_DIRECTORY:
            # It may have been removed meanwhile.
            continue
        directories.append(above.rstrip("/"))
        for entry in entries:
            name = entry["name"].rstrip("/")
            if entry["type"] != "directory":
                files[name] = entry
            elif name != above.rstrip("/"):
                waiting.append(name)
    return files, directories


def _is_failure(cause: BaseException | None) -> bool:
    """Return whether this is no "not found", although it is the cause of one.

    fsspec says "not found" of web servers whatever goes wrong while it asks for the length of a file.
    """
    of_web = isinstance(cause, OSError) or type(cause).__module__.partition(".")[0] == "aiohttp"
    return of_web and not isinstance(cause, FileNotFoundError) and getattr(cause, "status", None) != 404


def is_file_system(target: object) -> bool:
    """Return whether this is a file system of fsspec, which is not imported for it."""
    return is_instance(target, "fsspec:AbstractFileSystem")


def is_local(file_system: Any) -> bool:
    """Return whether a file system is that of this machine."""
    return is_instance(file_system, "fsspec.implementations.local:LocalFileSystem")


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


def with_storage_options(target: Any, storage_options: Mapping[str, Any] | None) -> Any:
    """Return what to open: with options, the store that fsspec makes of a URL; local paths ignore them, as in fsspec.

    Raise `ValueError` if there are options for something that is neither a path nor a URL. Raise
    `UnsupportedOperationError` or `StoreError` if as for `FsspecStore.from_url`.
    """
    if not storage_options:
        return target
    if not isinstance(target, str | os.PathLike):
        raise ValueError(f"expected a URL with storage_options, found {type(target).__name__}, which has its own")
    text = os.fspath(target)
    return FsspecStore.from_url(text, storage_options) if _URL.match(text) else text
