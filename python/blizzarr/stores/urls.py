"""The store for a user's argument, and the path in it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from blizzarr.errors import NodeNotFoundError, UnsupportedOperationError
from blizzarr.lazy_imports import is_instance
from blizzarr.open_table import OpenTable
from blizzarr.stores.base import BaseStore
from blizzarr.stores.failures import failures
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.keys import check_key
from blizzarr.stores.local import LocalStore
from blizzarr.stores.mapping import MappingStore
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.protocol import Store
from blizzarr.stores.readonly import read_only
from blizzarr.stores.zarr_python import is_zarr_python_store, known_store, of_zarr_python

if TYPE_CHECKING:
    from pathlib import Path

StoreLike: TypeAlias = str | os.PathLike[str] | Store | MutableMapping[str, Any] | Any
"""A path, a URL, a store, a mapping, a file system of fsspec, or any object with the methods of a store."""

MODES = ("r", "r+", "a", "w", "w-")

# In Windows two letters at least: C: is a drive there. a::b is a path everywhere. With one slash it is what pathlib
# makes of a URL; for files RFC 8089 allows that.
_SCHEME = re.compile(rf"([A-Za-z][A-Za-z0-9+.-]{'+' if os.name == 'nt' else '*'})(?:(?<=..)::|://|(:)(?=/))")

_RESERVED = re.compile(r"[?#|\0-\x1f\x7f]")
"""Characters that are no part of the path in a URL: they begin a query, a fragment or another URL, or are ignored."""

DATABASE_VERSION: Final = re.compile(r"@v([0-9]{1,20})(?:/|\Z)")
"""The version of a database of OCDBT, in front of the path in it."""

ZIP_ENDINGS: Final = (".zip", ".ozx")
"""The endings of the names of zip files; ``.ozx`` is that of OME-Zarr in a zip file."""
_ZIP: Final = re.compile("|".join(map(re.escape, ZIP_ENDINGS)))

OF_OBJECTS: Final = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "http", "https")
"""The schemes of object stores and web servers, which the engine opens itself."""
BUILT_IN: Final = ("file", "memory", *OF_OBJECTS)
"""The schemes that always mean the same."""
OWN: Final = OpenTable[Callable[[str], Any]]("blizzarr.stores", {})
"""The functions of users and other packages that make a store of a URL, by its scheme."""

_shared_memory: dict[str, MemoryStore] = {}


_LOSE: Final = (
    (
        ("diskcache:Cache", "diskcache:FanoutCache"),
        "drops values when it is full: pass diskcache.Index(directory), a mapping that keeps them",
    ),
    (
        ("zarr.n5:N5Store", "zarr.n5:N5FSStore"),
        "lists other names than it has: pass its path, which opens as N5, with the axes in the order of N5",
    ),
)
"""Classes of other packages, and what they do that would lose values."""


def resolve(target: StoreLike | None, mode: str = "r+", path: str | None = "") -> tuple[Store, str]:
    """Return the store that `target` stands for, and the path of the node in it.

    Parameters
    ----------
    target
        The path or ``file://`` URL of a directory or a zip file (a path in the zip file may follow its name);
        ``directory|ocdbt:path``, a node in a database of OCDBT, which can be read, or ``directory|ocdbt:@v5/path``, the
        same of a certain version;
        ``memory://a/b``, the node ``b`` in the memory ``a`` of this process; the URL of a bucket or a server
        (``s3://``, ``gs://``, ``az://``, ``abfs://``, ``https://``), or another that fsspec knows; a store, also one of
        obstore, of zarr-python, or derived from the latter (icechunk, VirtualiZarr); a path of universal_pathlib; a
        file system of fsspec; a mapping; any object with the methods of a store; None for new memory. A mapping that is
        not mutable is a read-only store.
    mode
        With ``"r"``, the result is read-only. With ``"w"`` and no path in it, a zip file is replaced; other stores are
        not touched.
    path
        The path of the node in the store, where a slash at either end is ignored; None stands for the root.

    Raises
    ------
    ValueError
        If there is no such mode, or an empty path or the host of another machine is given.
    PathError
        If the path may not be used.
    NodeNotFoundError
        If a zip file that is to be opened does not exist.
    ArchiveError
        If it is not a zip file, or a damaged one.
    UnsupportedOperationError
        If the URL is of another kind, or the package is not installed that opens it.
    TypeError
        If an object does not have the methods of a store, loses values, or is an array or group; or if the path is no
        string.

    Examples
    --------
    >>> store, path = resolve({}, path="a/b")
    >>> type(store).__name__, path
    ('MappingStore', 'a/b')
    >>> resolve("memory://a/b/c")[1]
    'b/c'
    """
    if mode not in MODES:
        check_mode(mode)
    path = "" if path is None else path
    if not isinstance(path, str):
        raise TypeError(f"expected a path as text, like 'a/b', found {path!r}")
    path = path.removeprefix("/").removesuffix("/")
    if path:
        check_key(path)
    if type(target) is not str and isinstance(target, os.PathLike):
        target = _meant(target)
    # Plain strings come first: most arrays are opened by their path, and the other checks take time.
    if type(target) is str or isinstance(target, str | os.PathLike):
        text = target if type(target) is str else os.fsdecode(target)
        is_path = ":" not in text and not text.startswith("~")
        store, inner = (_from_path if is_path else _from_text)(text, mode, path)
        return store, f"{inner}/{path}" if inner and path else inner or path
    if target is None:
        store = MemoryStore()
    elif isinstance(target, BaseStore):
        store = target
    elif (theirs := of_zarr_python(target)) is not None:
        store, above = theirs
        path = f"{above}/{path}".strip("/")
    else:
        _refuse_what_loses(target)
        _refuse_node(target)
        if is_instance(target, "h5py:Group"):
            raise TypeError(
                f"expected a store, found {type(target).__name__} of h5py; create_array(path, data=file[name]) stores "
                "one of its datasets, and docs/open-my-file.md shows how to store all"
            )
        known = known_store(target)
        if known is not None:
            store = known
        elif isinstance(target, MutableMapping):
            store = MappingStore(target)
        elif isinstance(target, Mapping) and not callable(getattr(target, "set", None)):
            store = MappingStore(cast("MutableMapping[str, Any]", target))
        else:
            store = ForeignStore(target)
    return (read_only(store) if mode == "r" else store), path


def _meant(path: os.PathLike[str]) -> Any:
    """Return the store of a path that is not one of this machine; others as they are.

    Those of universal_pathlib are paths of pathlib, too, before release 0.3.

    Raise `TypeError` for a path of cloudpathlib or s3path: it would lead to a temporary copy, or a local directory.
    """
    if is_instance(path, "cloudpathlib:CloudPath") or is_instance(path, "s3path:PureS3Path"):
        raise TypeError(
            f"expected a path or URL, found {type(path).__name__}, which would lead to a directory of this machine: "
            "pass its URL, path.as_uri(), or a store"
        )
    store = known_store(path) if is_instance(path, "upath:UPath") else None
    return path if store is None or isinstance(store, LocalStore) else store


def _refuse_what_loses(target: Any) -> None:
    """Say what to pass in place of something like a store, some of whose values would read as the fill value."""
    for places, reason in _LOSE:
        if any(is_instance(target, place) for place in places):
            raise TypeError(f"expected a store, found {type(target).__name__}, which {reason}")


def _refuse_node(target: Any) -> None:
    """Say what to pass in place of an array or group; a group has the methods of a store, but its members are nodes."""
    if is_instance(target, "icechunk:Repository"):
        advice = "pass that of a session, as in readonly_session('main').store"
        raise TypeError(f"expected a store, found Repository; {advice}")
    store, path = getattr(target, "store", None), getattr(target, "path", None)
    if not isinstance(store, BaseStore) and not is_zarr_python_store(store):
        return
    if isinstance(path, str) and hasattr(target, "metadata"):
        kind = type(target).__name__.lower()
        article = "an" if kind[0] in "aeiou" else "a"
        raise TypeError(
            f"expected a store, found {article} {kind}; open it with blizzarr.open({kind}.store, path={path!r}), or "
            f"pass {kind}.store and a path to create something there"
        )
    if not callable(getattr(target, "get", None)):
        raise TypeError(f"expected a store, found {type(target).__name__}; pass its attribute `store`")


def check_mode(mode: str) -> None:
    """Raise `ValueError` if there is no such mode."""
    if mode not in MODES:
        # Those of files are misspelled modes, and anything longer is a path.
        meant = f"; a path in the store is path={mode!r}" if len(mode) > 3 else ""
        raise ValueError(
            f"expected mode 'r' (read), 'r+' (read and write, must exist), 'a' (make if missing), 'w' (replace) "
            f"or 'w-' (make, must not exist), found {mode!r}{meant}"
        )


def _from_text(text: str, mode: str, path: str) -> tuple[Store, str]:
    if "|ocdbt:" in text:
        return _from_database(text)
    scheme = _SCHEME.match(text)
    if scheme is None:
        # Shells do not expand it behind a scheme, either.
        text = text.removeprefix("file:") if text.startswith("file:~") else text
        return _from_path(os.path.expanduser(text), mode, path)
    name = scheme[1].lower()
    if name == "file":
        return _from_path(_file_path(text[len("file:") :]), mode, path)
    if scheme[2]:
        # The rest is not shown here either.
        raise ValueError(
            f"found {name}:/, which is what pathlib leaves of a URL, or the name of a directory: "
            f"pass URLs as text; write './{scheme[1]}:' for the directory"
        )
    if len(name) == 1:
        # fsspec would take it for a drive.
        raise UnsupportedOperationError(
            f"no URLs begin with {name}://; blizzarr itself opens those of file, memory, s3, gs, az, http and https, "
            f"and fsspec others; write './{scheme[1]}:' for the directory"
        )
    if name == "memory":
        host, _, inner = text[scheme.end() :].strip("/").partition("/")
        # `setdefault` is atomic: two threads that come first get the same memory.
        store = _shared_memory.get(host) or _shared_memory.setdefault(host, MemoryStore())
        return (read_only(store) if mode == "r" else store), check_key(inner) if inner else ""
    remote = _from_url(text, name)
    return resolve(remote, mode)


def _from_database(text: str) -> tuple[Store, str]:
    from blizzarr.stores.ocdbt import OcdbtStore

    base, _, inner = text.rpartition("|ocdbt:")
    version = DATABASE_VERSION.match(inner)
    inner = inner[version.end() if version else 0 :].strip("/")
    return OcdbtStore(base, version=int(version[1]) if version else None), check_key(inner) if inner else ""


def _from_url(text: str, scheme: str) -> Any:
    """Return the store of the URL of something far away; errors do not show the URL, which may hold credentials."""
    if "::" not in text and scheme not in OF_OBJECTS and (make := OWN.get(scheme)) is not None:
        made = make(text)
        if made is None or isinstance(made, str | os.PathLike):
            raise TypeError(f"expected a store from the function for {scheme}://, found {type(made).__name__}")
        return made
    if "::" in text or scheme not in OF_OBJECTS:
        from blizzarr.stores.fsspec_store import FsspecStore

        return FsspecStore.from_url(text)
    reserved = _RESERVED.search(text)
    if reserved is not None:
        raise ValueError(
            f"found {reserved[0]!r} in a URL, where it does not belong to the path; pass a store in place of the "
            "URL, as ObjectStore and FsspecStore make them"
        )
    from blizzarr.stores.object_store import ObjectStore

    return ObjectStore.from_url(text)


def _file_path(rest: str) -> str:
    """Return the path of a ``file:`` URL.

    Raise `ValueError` if the host is not this machine, there is no absolute path, or a character must be
    percent-encoded. Nothing is cut off or left out: the rest would be the path of something else.

    - `rest`: the URL without its scheme: ``///path``, ``//localhost/path`` or ``/path``.
    """
    from urllib.parse import unquote_to_bytes

    reserved = _RESERVED.search(rest)
    if reserved is not None:
        raise ValueError(
            f"found {reserved[0]!r} in a file URL, where it does not belong to the path; "
            f"write %{ord(reserved[0]):02X} for this character, or pass the path itself"
        )
    host = ""
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path
    if host.lower() not in ("", "localhost"):
        # What is before the host may be a password.
        raise ValueError(f"expected file:///path on this machine, found the host {host.rpartition('@')[2]!r}")
    if not rest.startswith("/"):
        raise ValueError(f"expected file:///path, found {rest.rpartition('@')[2]!r} in place of an absolute path")
    return os.fsdecode(unquote_to_bytes(rest))


def _from_path(text: str, mode: str, path: str) -> tuple[Store, str]:
    if not text:
        raise ValueError("expected a path or URL, found an empty string; '.' is the current directory")
    # Most paths name a directory: only the others are split.
    archive, inner = _split_zip(text) if _ZIP.search(text.lower()) else (None, "")
    if archive is None:
        return LocalStore(text, read_only=mode == "r"), ""
    from blizzarr.stores.zip import ZipStore

    if inner:
        check_key(inner)
    if mode in ("r", "r+"):
        with failures("open", "", archive):
            try:
                os.stat(archive)
            except (FileNotFoundError, NotADirectoryError):
                raise NodeNotFoundError(f"there is no file {archive}; a new one appears when it is closed") from None
        return ZipStore(archive, "r" if mode == "r" else "a"), inner
    return ZipStore(archive, "w" if mode == "w" and not (inner or path) else "a"), inner


def _split_zip(text: str) -> tuple[Path | None, str]:
    """Split a path into the zip file that it leads into, if any, and the path in that."""
    from pathlib import Path

    path = Path(text)
    for number, part in enumerate(path.parts, 1):
        if part.lower().endswith(ZIP_ENDINGS):
            archive = Path(*path.parts[:number])
            if not os.path.isdir(archive):
                return archive, "/".join(path.parts[number:])
    return None, ""
