"""The stores of ``zarr.storage``, over the stores of blizzarr."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from blizzarr import stores
from blizzarr.errors import StoreError
from blizzarr.stores.credentials import credentials_in, without_secrets
from blizzarr.stores.wrapper import unwrapped
from blizzarr.stores.zarr_python import synchronous
from blizzarr.zarr.abc.store import ByteRequest, Store
from blizzarr.zarr.buffer import Buffer, BufferPrototype
from blizzarr.zarr.storage.engine_store import EngineStore, face_of
from blizzarr.zarr.sync import in_thread_to_the_end


class LocalStore(EngineStore):
    """A directory.

    Parameters
    ----------
    root
        The path of the directory.
    read_only
        Refuse to set values.
    """

    def __init__(self, root: Path | str, *, read_only: bool = False) -> None:
        if not isinstance(root, str | os.PathLike):
            raise TypeError(f"'root' must be a string or Path instance. Got an instance of {type(root)} instead.")
        self._file = root
        if os.path.isfile(root):
            Store.__init__(self, read_only=read_only)
        else:
            super().__init__(stores.LocalStore(root), read_only=read_only)

    @cached_property
    def engine(self) -> Any:
        """The store of blizzarr; a file in the place of the directory is an error only when the store is used."""
        return stores.LocalStore(self._file, read_only=self._read_only)

    @property
    def root(self) -> Path:
        """The path of the directory, as it was given."""
        engine = unwrapped(self.engine)
        return Path(getattr(engine, "given", engine.root))

    def get_sync(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none: also for a directory, or below a file."""
        try:
            return super().get_sync(key, prototype, byte_range)
        except StoreError:
            with suppress(FileNotFoundError, NotADirectoryError):
                if not stat.S_ISDIR((self.root / key).stat().st_mode):
                    raise
            return None

    async def move(self, dest_root: Path | str) -> None:
        """Move the directory to another path; arrays and groups that are open have to be opened again.

        Raises
        ------
        FileExistsError
            If something is there.
        """
        if os.path.exists(dest_root):
            raise FileExistsError(f"Destination root {dest_root} already exists.")

        def move() -> None:
            os.makedirs(Path(dest_root).parent, exist_ok=True)
            shutil.move(self.root, dest_root)
            LocalStore.__init__(self, dest_root, read_only=self.read_only)

        await in_thread_to_the_end(move)

    def __str__(self) -> str:
        return f"file://{self.root.as_posix()}"


class MemoryStore(EngineStore):
    """Values in memory.

    Parameters
    ----------
    store_dict
        A mapping for the values; None for memory of the engine, which is faster.
    read_only
        Refuse to set values.
    """

    def __init__(self, store_dict: MutableMapping[str, Any] | None = None, *, read_only: bool = False) -> None:
        engine = stores.MemoryStore() if store_dict is None else _BufferStore(store_dict)
        super().__init__(engine, read_only=read_only)

    @property
    def _store_dict(self) -> MutableMapping[str, Buffer]:
        engine = unwrapped(self.engine)
        return engine.mapping if isinstance(engine, _BufferStore) else _Values(engine)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MemoryStore)
            and self.read_only == other.read_only
            and dict(self._store_dict) == dict(other._store_dict)
        )

    __hash__ = EngineStore.__hash__

    def __str__(self) -> str:
        return f"memory://{id(unwrapped(self.engine))}"


class _Values(MutableMapping[str, Buffer]):
    """The values in memory of the engine, as buffers."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getitem__(self, key: str) -> Buffer:
        value = self._engine.get(key)
        if value is None:
            raise KeyError(key)
        return Buffer.from_bytes(value)

    def __setitem__(self, key: str, value: Buffer) -> None:
        self._engine.set(key, value.to_bytes())

    def __delitem__(self, key: str) -> None:
        self._engine.delete(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._engine.list())

    def __len__(self) -> int:
        return len(list(self._engine.list()))


class _BufferStore(stores.MappingStore):
    """The values of a mapping that has buffers, as a user of zarr-python expects them in a dict."""

    def _taken(self, value: Any) -> Any:
        return value.to_bytes() if hasattr(value, "to_bytes") else super()._taken(value)

    def _put(self, value: bytes) -> Buffer:
        return Buffer.from_bytes(value)


class ZipStore(EngineStore):
    """A zip file.

    Parameters
    ----------
    path
        The path of the file.
    mode
        ``"r"``: read. ``"a"``: read and write. ``"w"``: replace. ``"x"``: create.
    read_only
        Refuse to set values; by default with mode ``"r"``.
    compression
        As in `zipfile`; only values that are stored or deflated are written.
    allowZip64
        Must be true: a file that grows beyond 4 GiB gets the fields that this takes.
    """

    _given: Any = None
    """The arguments, unless it was made over a store of blizzarr."""

    def __init__(
        self,
        path: Path | str,
        *,
        mode: Literal["r", "w", "a", "x"] = "r",
        read_only: bool | None = None,
        compression: int = 0,
        allowZip64: bool = True,  # noqa: N803  # as in zipfile
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(
                f"expected the path of a zip file, found {type(path).__name__}; open files are not taken here"
            )
        if mode == "x" and os.path.exists(path):
            raise FileExistsError(f"the file {path} exists; mode 'x' creates one")
        method: Any = {0: "stored", 8: "deflated"}.get(compression)
        if method is None:
            raise ValueError(f"expected compression=ZIP_STORED or ZIP_DEFLATED, found {compression}")
        if not allowZip64:
            raise NotImplementedError("expected allowZip64=True, found False; leave it out: small files have no Zip64")
        self.compression, self.allowZip64 = compression, allowZip64
        vars(self).pop("engine", None)
        self._given = (path, "w" if mode == "x" else mode, method, read_only)
        if mode != "r" or os.path.exists(path):
            super().__init__(self.engine)
        else:
            Store.__init__(self, read_only=True)

    @cached_property
    def engine(self) -> Any:
        """The store of blizzarr; a file that is not there yet is opened when it is first needed."""
        path, mode, method, read_only = self._given
        engine = stores.ZipStore(path, mode, compression=method)
        return stores.read_only(engine) if read_only else engine

    @property
    def path(self) -> Path:
        """The path of the file, as it was given."""
        return Path(unwrapped(self.engine).path if self._given is None else self._given[0])

    async def move(self, path: Path | str) -> None:
        """Close the file, move it to another path, and open it; arrays and groups have to be opened again."""

        def move() -> None:
            self.close()
            os.makedirs(Path(path).parent, exist_ok=True)
            shutil.move(self.path, path)
            mode = "r" if self.read_only else "a"
            ZipStore.__init__(self, path, mode=mode, compression=self.compression)  # type: ignore[arg-type]

        await in_thread_to_the_end(move)

    async def clear(self) -> None:
        """Unlist every value of the file; the values keep their space in it."""
        self._check_writable()
        for key in self.engine.list():
            self.engine.unlist(key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZipStore) and (self.path, self.read_only) == (other.path, other.read_only)

    __hash__ = EngineStore.__hash__

    def __str__(self) -> str:
        return f"zip://{self.path}"


class FsspecStore(EngineStore):
    """A file system of fsspec.

    Parameters
    ----------
    fs
        The file system.
    read_only
        Refuse to set values.
    path
        The path below which the keys are.
    allowed_exceptions
        Must be the default: errors of the file system other than that a value is missing are errors here.
    """

    def __init__(self, fs: Any, read_only: bool = False, path: str = "/", allowed_exceptions: Any = None) -> None:
        _refuse_exceptions(allowed_exceptions)
        super().__init__(stores.FsspecStore(synchronous(fs), "" if path == "/" else path), read_only=read_only)

    @classmethod
    def from_url(
        cls,
        url: str,
        storage_options: dict[str, Any] | None = None,
        read_only: bool = False,
        allowed_exceptions: Any = None,
    ) -> FsspecStore:
        """Return the store of a URL; `storage_options` are those of the file system."""
        _refuse_exceptions(allowed_exceptions)
        options = {name: value for name, value in (storage_options or {}).items() if name != "asynchronous"}
        engine = stores.FsspecStore.from_url(url, options)
        made = cls.over(stores.read_only(engine) if read_only else engine)
        assert isinstance(made, FsspecStore)
        return made

    @classmethod
    def from_mapper(cls, fs_map: Any, read_only: bool = False, allowed_exceptions: Any = None) -> FsspecStore:
        """Return the store of a mapping of fsspec."""
        return cls(fs_map.fs, read_only=read_only, path=fs_map.root, allowed_exceptions=allowed_exceptions)

    @classmethod
    def from_upath(cls, upath: Any, read_only: bool = False, allowed_exceptions: Any = None) -> FsspecStore:
        """Return the store of a path of universal_pathlib."""
        return cls(upath.fs, read_only=read_only, path=upath.path, allowed_exceptions=allowed_exceptions)

    @property
    def fs(self) -> Any:
        """The file system."""
        return unwrapped(self.engine).fs

    @property
    def path(self) -> str:
        """The path below which the keys are."""
        return str(unwrapped(self.engine).path)

    def __str__(self) -> str:
        path = without_secrets(self.path, credentials_in(self.path))
        return f"<FsspecStore({type(self.fs).__name__}, {path})>"

    def __repr__(self) -> str:
        return str(self)


def _refuse_exceptions(given: Any) -> None:
    if given is not None and tuple(given) != (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise NotImplementedError(
            f"expected the default of allowed_exceptions=, found {given!r}; only a missing file is a missing value here"
        )


class ObjectStore(EngineStore):
    """A store of obstore.

    Parameters
    ----------
    store
        The store of obstore.
    read_only
        Refuse to set values.
    """

    def __init__(self, store: Any, *, read_only: bool = False) -> None:
        engine, _ = stores.resolve(store, "r" if read_only else "r+")
        unwrapped(engine).given = store
        super().__init__(engine)

    @property
    def store(self) -> Any:
        """The store of obstore that was given; of a URL, the store of blizzarr."""
        engine = unwrapped(self.engine)
        return getattr(engine, "given", engine)

    def __str__(self) -> str:
        return f"object_store://{self.store}"

    def __class_getitem__(cls, item: object) -> type[Self]:
        return cls


_FACES: tuple[tuple[str, type[EngineStore]], ...] = (
    ("LocalStore", LocalStore),
    ("MemoryStore", MemoryStore),
    ("_BufferStore", MemoryStore),
    ("MappingStore", MemoryStore),
    ("ZipStore", ZipStore),
    ("FsspecStore", FsspecStore),
    ("ObjectStore", ObjectStore),
    ("ObstoreMemory", ObjectStore),
)
"""The face for each class of stores of blizzarr, or of what is in them."""


def as_zarr_store(engine: Any) -> Any:
    """Return the store of zarr-python's interface for one of blizzarr."""
    theirs = getattr(getattr(unwrapped(engine), "target", None), "store", None)
    if isinstance(theirs, Store):
        # Of a user's class: the engine has it within a store of ours.
        return theirs.with_read_only(True) if engine.read_only and not theirs.read_only else theirs
    return face_of(engine, _make)


def _make(engine: Any) -> EngineStore:
    inner = unwrapped(engine)
    kinds = (type(inner).__name__, type(getattr(inner, "target", None)).__name__)
    return next((face for kind, face in _FACES if kind in kinds), EngineStore).over(engine)
