"""A database of OCDBT as a store that can be read."""

from __future__ import annotations

import builtins
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from blizzarr.bounded_cache import BoundedCache
from blizzarr.errors import ArchiveError, StoreError
from blizzarr.stores.base import BaseStore
from blizzarr.stores.keys import check_key, check_prefix, is_key
from blizzarr.stores.ocdbt.encoding import Inner, Leaf, Place, Version, Versions, manifest, node, versions
from blizzarr.stores.protocol import ByteRange, Store, Value
from blizzarr.stores.ranges import resolve_range, slice_ranges
from blizzarr.stores.readonly import read_only
from blizzarr.stores.requests import each, is_remote

MANIFEST: Final = "manifest.ocdbt"
"""The name of the file by which a directory is known as a database of OCDBT."""
_NUMBERED: Final = re.compile(r"manifest\.([0-9a-f]{16})")
_NODES: Final = 64
"""The number of nodes that are kept in memory."""
_MOST = 1 << 18
"""The most nodes of one level that are listed."""


class OcdbtStore(BaseStore):
    """A database of OCDBT, TensorStore's key-value store with versions, opened for reading.

    Orbax saves checkpoints of JAX in such databases. The store has the keys of one version, the newest unless you name
    another, and does not notice later ones. Nodes of its trees are read when they are needed, and checked by their
    checksums; chunks have only the checksums of their codecs.

    Parameters
    ----------
    base
        What the database is stored in: the directory with `manifest.ocdbt`, as a path, a URL or a store.
    path
        The path of the database in `base`.
    version
        The number of a version, which counts the commits from 1 on.
    manifest
        The store and the path in which the manifests are, if they are elsewhere.

    Raises
    ------
    TypeError
        If `version` is no integer.
    StoreError
        If there is no such database or version, or it cannot be read.
    ArchiveError
        If it is damaged.

    Notes
    -----
    Specified in `TensorStore's documentation <https://google.github.io/tensorstore/kvstore/ocdbt>`_.

    Examples
    --------
    >>> import blizzarr, tempfile
    >>> from blizzarr.stores import OcdbtStore
    >>> OcdbtStore(tempfile.mkdtemp())
    Traceback (most recent call last):
    ...
    blizzarr.errors.StoreError: cannot read key manifest.ocdbt in ...: expected a database of OCDBT, found no ...
    """

    only_readable = "databases of OCDBT can only be read; copy what you want to change"
    read_only = True
    supports_delete = False

    def __init__(
        self, base: Any, path: str = "", *, version: int | None = None, manifest: tuple[Any, str] | None = None
    ) -> None:
        from blizzarr.stores.urls import resolve

        if not (version is None or hasattr(version, "__index__")):
            raise TypeError(f"expected the number of a version, like 3, found {version!r}")
        store, inner = resolve(base, "r", path)
        self._base, self._path, self._prefix = read_only(store), inner, f"{inner}/" if inner else ""
        self._manifest = manifest or (self._base, inner)
        self.remote = is_remote(store)
        self._nodes: BoundedCache[Place, Leaf | Inner] = BoundedCache(_NODES)
        self._version = self._find_version(version)
        if not self._version.root.is_missing:
            self._node(self._version.root, self._version.height)

    def __str__(self) -> str:
        return f"{self._base}{f'/{self._path}' if self._path else ''}|ocdbt:"

    def __repr__(self) -> str:
        return f"OcdbtStore({self._base!r}, {self._path!r}, version={self._version.number})"

    def __reduce__(self) -> tuple[object, ...]:
        reopened = partial(OcdbtStore, version=self._version.number, manifest=self._manifest)
        return reopened, (self._base, self._path)

    @property
    def database_version(self) -> int:
        """The number of the version that is read."""
        return self._version.number

    def get(self, key: str) -> Value | None:
        value = self._find(check_key(key))
        if isinstance(value, Place):
            (stored,) = self._stored(value, [(0, value.length)])
            return stored
        return value

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        value = self._find(check_key(key))
        if isinstance(value, Place):
            return self._stored(value, ranges)
        return None if value is None else slice_ranges(value, ranges)

    def size(self, key: str) -> int | None:
        """Return the length of the value in bytes, without reading it; None if there is no value."""
        value = self._find(check_key(key))
        if value is None:
            return None
        return value.length if isinstance(value, Place) else len(value)

    def version(self, key: str) -> str | None:
        """Return a text that differs between two versions of the value; None if there is no value."""
        return None if self._find(check_key(key)) is None else str(self._version.number)

    def set(self, key: str, value: Value) -> None:
        self._check_writable(key)

    def delete(self, key: str) -> None:
        self._check_writable(key)

    def list(self, prefix: str = "") -> builtins.list[str]:
        keys = (key.decode("utf-8", "surrogateescape") for key in self._keys(check_prefix(prefix).encode()))
        return [key for key in keys if is_key(key)]

    # Versions

    def _find_version(self, number: int | None) -> Version:
        store, path = self._manifest
        prefix = f"{path}/" if path else ""
        known, missed = _decoded(store, prefix + MANIFEST, store.get(prefix + MANIFEST)), ""
        while known is None:
            names = (key[len(prefix) :] for key in store.list_dir(prefix).keys)
            numbered = sorted(name for name in names if _NUMBERED.fullmatch(name))
            if number is not None:
                # The first one that is not too early: those before it were deleted, or will be.
                numbered = [name for name in numbered if int(name[-16:], 16) >= number][:1]
            if not numbered:
                raise self._lacks(number)
            data = store.get(prefix + numbered[-1])
            if data is None and numbered[-1] != missed:
                # Writers delete old ones: it is gone since it was listed, and there is a later one.
                missed = numbered[-1]
            else:
                known = _decoded(store, prefix + numbered[-1], data)
        if number is None:
            return known.versions[-1]
        while not (named := [version for version in known.versions if version.number == number]):
            older = [node for node in known.older if node[0] >= number]
            if not older:
                raise self._lacks(number)
            _, height, place = min(older)
            known = self._older(place, height)
        return named[0]

    def _older(self, place: Place, height: int) -> Versions:
        with self._damage(place):
            return versions(self._read(place), place.file.base, height)

    def _lacks(self, number: int | None) -> StoreError:
        return StoreError(f"the database has no version {'' if number is None else number}".rstrip(), store=str(self))

    # Nodes of the tree of keys

    def _find(self, key: str) -> bytes | Place | None:
        """Return the value of a key, or its place; None if there is no such key."""
        rest, place, height = key.encode("utf-8", "surrogateescape"), self._version.root, self._version.height
        if place.is_missing:
            return None
        while isinstance(there := self._node(place, height), Inner):
            at = bisect_right(there.keys, rest) - 1
            if at < 0 or not rest.startswith(there.keys[at][: there.common[at]]):
                return None
            rest, place, height = rest[there.common[at] :], there.places[at], height - 1
        at = bisect_left(there.keys, rest)
        return there.values[at] if there.keys[at : at + 1] == [rest] else None

    def _keys(self, prefix: bytes) -> Iterator[bytes]:
        """Return all keys that begin with a prefix, in their order. Nodes of one level are read at once."""
        level = [] if self._version.root.is_missing else [(b"", self._version.root)]
        for height in range(self._version.height, -1, -1):
            if len(level) > _MOST:
                # Nodes may be shared, and a few that are, in each level, would stand for more than there is memory for.
                raise ArchiveError(
                    f"expected at most {_MOST:,} nodes of one level, found {len(level):,}", store=str(self)
                )
            nodes = each(self._base, partial(self._node, height=height), [place for _, place in level])
            pairs = [(above, there) for (above, _), there in zip(level, nodes, strict=True)]
            level = [child for above, there in pairs for child in _children(there, above, prefix)]
        for above, leaf in pairs:
            yield from (above + key for key in leaf.keys if (above + key).startswith(prefix))

    def _node(self, place: Place, height: int) -> Leaf | Inner:
        kept = self._nodes.get(place)
        if kept is None:
            with self._damage(place):
                kept = node(self._read(place), place.file.base, height)
            self._nodes.keep(place, kept)
        return kept

    # Files

    def _read(self, place: Place) -> bytes:
        return bytes(self._stored(place, [(0, place.length)])[0])

    def _stored(self, place: Place, ranges: Sequence[ByteRange]) -> builtins.list[Value]:
        """Return parts of the bytes at a place."""
        key = check_key(self._prefix + place.file.base + place.file.rest)
        if place.start + place.length >= 1 << 63:
            raise ArchiveError(
                f"expected bytes of a file, found a reference to byte {place.start}", key=key, store=str(self._base)
            )
        bounds = [resolve_range(start, length, place.length) for start, length in ranges]
        parts = self._base.get_ranges(key, [(place.start + begin, end - begin) for begin, end in bounds])
        if parts is None:
            raise ArchiveError("the file is missing", key=key, store=str(self._base))
        for part, (begin, end) in zip(parts, bounds, strict=True):
            if memoryview(part).nbytes != end - begin:
                raise ArchiveError(
                    f"expected {end - begin} bytes from byte {place.start + begin} on, found "
                    f"{memoryview(part).nbytes}: the file is cut short",
                    key=key,
                    store=str(self._base),
                )
        return parts

    def _damage(self, place: Place) -> Any:
        return _named(self._prefix + place.file.base + place.file.rest, self._base)


def _children(there: Leaf | Inner, above: bytes, prefix: bytes) -> Iterator[tuple[bytes, Place]]:
    """Return the children of a node in which keys may begin with the prefix, and what all keys in each begin with."""
    if isinstance(there, Leaf):
        return
    ends = [*(above + key for key in there.keys[1:]), None]
    for key, common, place, end in zip(there.keys, there.common, there.places, ends, strict=True):
        shared = above + key[:common]
        if (shared.startswith(prefix) or prefix.startswith(shared)) and (end is None or end > prefix):
            yield shared, place


@contextmanager
def _named(key: str, store: object) -> Iterator[None]:
    """Name the file of the damage that is found within."""
    try:
        yield
    except ArchiveError as error:
        error.key, error.store = error.key or key, error.store or str(store)
        raise


def _decoded(store: Store, key: str, data: Value | None) -> Versions | None:
    if data is None:
        advice = "such databases can only be read here; to save with Orbax, pass use_ocdbt=False"
        reason = f"expected a database of OCDBT, found no such file; {advice}"
        raise StoreError(reason, key=key, store=str(store), direction="read")
    with _named(key, store):
        return manifest(bytes(data))
