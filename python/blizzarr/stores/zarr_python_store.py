"""Any store of zarr-python as a store of ours: that of an icechunk session, of VirtualiZarr, a wrapper, a user's."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, Final, TypeVar
from weakref import WeakSet

from blizzarr.config import config
from blizzarr.errors import StoreError, UnsupportedOperationError
from blizzarr.stores.event_loops import all_of, result_of
from blizzarr.stores.failures import failures
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.impossible_keys import innermost, is_impossible, is_of, lists_nodes_only, refuses_key
from blizzarr.stores.keys import list_sorted_dir
from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.memory import COPIED
from blizzarr.stores.protocol import ByteRange, Listing, Value
from blizzarr.stores.ranges import Span, of_one_version, resolve_range, spans_of
from blizzarr.stores.zarr_python import library_of

R = TypeVar("R")


def foreign_store(store: Any) -> _Adapter:
    """Return the store over a store of zarr-python, whose methods are called in an event loop of ours.

    What several threads of this process write to one chunk is merged. Between processes and machines there are no
    locks, as these stores have no writes on a condition; whether a value is replaced in one step is up to the store.

    Raise `StoreError` if the store cannot be opened.
    """
    with _locks[""]:
        for known in _known:
            if _is_same(known.store, store):
                return _Adapter(known)
        made = _Waiting(store)
        _known.add(made)
    return _Adapter(made)


class _Adapter(ForeignStore):
    """The store around a store of zarr-python; what is in memory can only be read once it was pickled."""

    _refused: bool = False
    _reason: str | None

    @property
    def read_only(self) -> bool:
        """True if the store may not be written to. A session of icechunk may not, once it was committed.

        The session is asked each time: it takes removals even then, which are lost.
        """
        return self._refused or self.target.read_only

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._refused = value

    @property
    def only_readable(self) -> str | None:
        """The reason why the store can never be written to; None if it can."""
        return self._reason if self._refused or not self.target.read_only else _ENDED

    @only_readable.setter
    def only_readable(self, value: str | None) -> None:
        self._reason = value

    def __reduce__(self) -> tuple[Any, ...]:
        if self.target.is_zip and self.target.in_memory:
            raise StoreError("a zip file that is being written cannot be pickled; close it first", store=str(self))
        return _unpickled, (self.target.store, self.read_only, self.target.in_memory)


class _Waiting:
    """The methods of a store of zarr-python, which return when they are done."""

    remote = True

    def __init__(self, store: Any) -> None:
        self.store = store
        self.supports_delete = bool(store.supports_deletes)
        self.supports_list = bool(store.supports_listing)
        names = ("storage", "abc.store", "core.buffer.cpu")
        library = library_of(store) or "zarr"
        self._storage, self._abc, self._cpu = (import_module(f"{library}.{name}") for name in names)
        if type(store).getsize is self._abc.Store.getsize:
            # That would read the whole value.
            self.size = None  # type: ignore[assignment,method-assign]
        self._records: dict[str, bytes] = {}
        """Records of unfinished work, of copies for example, for which icechunk has no keys: they end with the session,
        as the unfinished work does."""
        behind = innermost(store)
        # Releases before 3.4 find nothing below a prefix of a file system without a path, which references are.
        self._lists_all = hasattr(behind, "fs") and not getattr(behind, "path", "/").strip("/")
        # Both leave out directories that they cannot list, but fail where they are asked for one.
        find = getattr(getattr(behind, "fs", None), "_find", None)
        is_common = getattr(find, "__module__", None) in ("fsspec.asyn", "fsspec.spec")
        self._omits = is_common or isinstance(behind, self._storage.LocalStore)
        self._is_manifest = is_of(behind, "virtualizarr")
        with failures("open", "", self):
            result_of(store._ensure_open)

    def __repr__(self) -> str:
        return repr(self.store)

    @property
    def in_memory(self) -> bool:
        """True if written values are in the memory of this process, as changes in a session of icechunk are.

        So is the directory of a zip file.
        """
        behind = innermost(self.store)
        if self.is_zip or is_of(behind, "icechunk"):
            return not self.read_only
        return isinstance(behind, self._storage.MemoryStore)

    @property
    def is_zip(self) -> bool:
        """True if the store is a zip file."""
        return isinstance(innermost(self.store), self._storage.ZipStore)

    @property
    def read_only(self) -> bool:
        behind = innermost(self.store)
        if is_of(behind, "icechunk") and behind.session.read_only:
            # Its store does not notice the commit of its session.
            return True
        return bool(self.store.read_only) or not self.store.supports_writes

    @property
    def only_readable(self) -> str | None:
        """What to do about a session of icechunk that can only be read."""
        is_session = self.read_only and is_of(innermost(self.store), "icechunk")
        return "the session can only be read; pass the store of a writable_session" if is_session else None

    def get(self, key: str) -> Value | None:
        return result_of(self._get, key)

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        return result_of(all_of, self._get, keys)

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        spans = spans_of(ranges, config.requests_at_once) or [Span(0, 0)]
        return of_one_version(partial(result_of, all_of, partial(self._get_span, key)), spans, ranges)

    def size(self, key: str) -> int | None:
        try:
            return int(result_of(self.store.getsize, key))
        except FileNotFoundError:
            return None

    def set(self, key: str, value: Value) -> None:
        try:
            result_of(self.store.set, key, self._cpu.Buffer.from_bytes(bytes(value)), is_write=True)
        except Exception as error:
            if not (key.rpartition("/")[2].startswith("blizzarr-") and is_impossible(key, error, self.store)):
                raise
            self._records[key] = bytes(value)

    def delete(self, key: str) -> None:
        self._do("delete", self._delete, key)

    def delete_prefix(self, prefix: str) -> None:
        self._do("delete", self._delete_prefix, prefix)

    def list(self, prefix: str) -> builtins.list[str]:
        records = [key for key in [*self._records] if key.startswith(prefix)]
        # A zip file has every value that a key has ever had.
        return [*dict.fromkeys(self._do("list", self._list, prefix)), *records]

    def list_dir(self, prefix: str) -> Listing:
        return self._do("list", self._list_dir, prefix)

    def close(self) -> None:
        self.store.close()

    async def _get(self, key: str, request: Any = None) -> Value | None:
        if key in self._records:
            return self._records[key]
        if self._is_manifest and not await self._may_have(key):
            return None
        try:
            buffer = await self.store.get(key, self._cpu.buffer_prototype, request)
        except Exception as error:
            if is_impossible(key, error, self.store):
                return None
            raise
        if buffer is None:
            return None
        elements = buffer.as_numpy_array()
        return memoryview(elements.view("u1")) if elements.size else b""

    async def _may_have(self, key: str) -> bool:
        """Return False for documents of nodes that VirtualiZarr does not have: it returns those of the group above."""
        path, _, name = key.rpartition("/")
        above, _, node = path.rpartition("/")
        if not path or name != "zarr.json":
            return True
        return node in await _collected(self.store.list_dir(f"{above}/" if above else ""))

    async def _get_span(self, key: str, span: Span) -> Value | None:
        # Of no bytes, some stores do not say whether there is a value.
        length = None if span.length is None else max(span.length, 1)
        try:
            value = await self._get(key, self._request(span.start, length))
        except NotImplementedError:
            # A store without ranges, as that of a TIFF file.
            whole = await self._get(key)
            return None if whole is None else whole[slice(*resolve_range(span.start, length, len(whole)))]
        except Exception:
            # Some fail where a range reaches beyond the value.
            size = await self.store.getsize(key)
            begin, end = resolve_range(span.start, span.length, size)
            if begin == span.start < size and span.length in (None, end - begin):
                raise
            value = await self._get(key, self._request(begin, end - begin)) if begin < end else b""
        if value is None or span.start <= 0 or (length is not None and len(value) <= length):
            return value
        # Some return the whole value whatever they are asked for, as fsspec does of web servers without ranges.
        if len(value) == await self.store.getsize(key):
            return value[slice(*resolve_range(span.start, length, len(value)))]
        if length is not None:
            reason = f"expected at most {length} bytes from the store, as asked for, found {len(value)}"
            raise StoreError(reason, key=key)
        return value

    async def _is_there(self, key: str) -> bool:
        # Their own `exists` may be true of directories.
        try:
            return await self._get_span(key, Span(0, 0)) is not None
        except Exception as error:
            # A group may be called "0"; and icechunk removes the chunks of an array with its document.
            has_no_node = isinstance(error, KeyError) and is_of(innermost(self.store), "icechunk")
            if not (has_no_node or refuses_key(error, self.store)):
                raise
            return False

    async def _delete(self, key: str) -> None:
        if self._records.pop(key, None) is not None:
            return
        # A store of files may remove the whole directory of this name.
        if await self._is_there(key):
            await self.store.delete(key)

    async def _delete_prefix(self, prefix: str) -> None:
        if type(self.store).delete_dir is not self._abc.Store.delete_dir:
            await self.store.delete_dir(prefix.rstrip("/"))
            return
        # That would delete one value after the other.
        await all_of(self.store.delete, await self._list(prefix))

    async def _list(self, prefix: str) -> builtins.list[str]:
        if self._is_manifest:
            return [key for key in manifest_keys(innermost(self.store)._group) if key.startswith(prefix)]
        if self._omits and not self._lists_all:
            keys, prefixes = await self._list_dir(prefix)
            return [*keys, *chain.from_iterable(await all_of(self._list, prefixes))]
        if not prefix or self._lists_all:
            names = [name.lstrip("/") for name in await _collected(self.store.list())]
            return [name for name in names if name.startswith(prefix)]
        try:
            return await _collected(self.store.list_prefix(prefix))
        except Exception as error:
            if not lists_nodes_only(error):
                raise
            above = await self._list(prefix.rstrip("/").rpartition("/")[0])
            return [key for key in above if key.startswith(prefix)]

    async def _list_dir(self, prefix: str) -> Listing:
        if self._lists_all:
            return list_sorted_dir(sorted(await self._list(prefix)), prefix)
        names = await _collected(self.store.list_dir(prefix))
        paths = sorted({prefix + name.rstrip("/") for name in names})
        # The names do not tell whether they are those of values.
        there = await all_of(self._is_there, paths)
        keys = tuple(path for path, is_key in zip(paths, there, strict=True) if is_key)
        return Listing(keys, tuple(f"{path}/" for path, is_key in zip(paths, there, strict=True) if not is_key))

    def _request(self, start: int, length: int | None) -> Any:
        """Return what asks zarr-python for a range; None for the whole value."""
        if start < 0:
            return self._abc.SuffixByteRequest(-start)
        if length is None:
            return self._abc.OffsetByteRequest(start) if start else None
        return self._abc.RangeByteRequest(start, start + length)

    def _do(self, direction: str, work: Callable[[str], Coroutine[Any, Any, R]], key: str) -> R:
        """Return the result, or raise `UnsupportedOperationError` where this store does not support the work."""
        try:
            return result_of(work, key, is_write=direction == "delete")
        except NotImplementedError as error:
            # Not all that say that they can list can do it.
            kind = type(self.store).__name__
            raise UnsupportedOperationError(f"{kind} cannot {direction}", key=key or None, store=repr(self)) from error


_locks = NamedLocks("looking for a store")
_known: WeakSet[_Waiting] = WeakSet()
"""The locks of this process: writers through one place exclude each other."""


def _is_same(known: Any, store: Any) -> bool:
    """Return whether two stores are one place."""
    # icechunk makes a store whenever a session is asked for its own, and compares their sessions; others may compare
    # what is in them.
    return known is store or (is_of(store, "icechunk") and type(known) is type(store) and known == store)


async def _collected(names: AsyncIterator[str]) -> list[str]:
    collected: list[str] = []
    try:
        async for name in names:
            collected.append(name)  # noqa: PERF401  # whether there was one is asked below
    except FileNotFoundError:
        # There is no such directory; unless it was removed meanwhile.
        if collected:
            raise
    return collected


_ENDED: Final = (
    "the store could be written to when it was opened, and no longer can, like that of an icechunk session after its "
    "commit: open the store of a new session"
)
_FORK: Final = (
    "this is the copy of an icechunk session that pickling made, as for another process, and what is written to it "
    "would be lost; pass a fork of the session itself, open its store there, return the fork and merge it"
)


def _unpickled(store: Any, read_only: bool, is_copy: bool) -> _Adapter:
    made = foreign_store(store)
    made.read_only = read_only or is_copy
    if is_copy:
        made.only_readable = _FORK if is_of(innermost(store), "icechunk") else COPIED
    return made


def manifest_keys(group: Any, prefix: str = "") -> Iterator[str]:
    """Yield the keys of all documents and chunks in a `ManifestGroup` of VirtualiZarr, which is at this prefix.

    VirtualiZarr does not list keys that have slashes, as they have by default.

    >>> from types import SimpleNamespace
    >>> [*manifest_keys(SimpleNamespace(arrays={}, groups={"a": SimpleNamespace(arrays={}, groups={})}))]
    ['zarr.json', 'a/zarr.json']
    """
    yield f"{prefix}zarr.json"
    for name, array in group.arrays.items():
        yield f"{prefix}{name}/zarr.json"
        encoded = array.metadata.chunk_key_encoding.encode_chunk_key
        for numbers in array.manifest.keys():  # noqa: SIM118  # it is no mapping of its own
            position = tuple(map(int, numbers.split("."))) if array.shape else ()
            yield f"{prefix}{name}/{encoded(position)}"
    for name, below in group.groups.items():
        yield from manifest_keys(below, f"{prefix}{name}/")
