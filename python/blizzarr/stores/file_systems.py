"""The file systems of fsspec, which is not imported for this, and which of them lead to the same files."""

from __future__ import annotations

from typing import Any, Final

from blizzarr.lazy_imports import is_instance

MEMORY: Final = "fsspec.implementations.memory:MemoryFileSystem"
_MANNERS: Final = {
    "asynchronous",
    "batch_size",
    "listings_expiry_time",
    "loop",
    "max_paths",
    "skip_instance_cache",
    "use_listings_cache",
}
"""The options of fsspec's file systems of all kinds, which say how files are reached, not which."""
_LARGE: Final = 100


def place_in(file_system: Any, root: str) -> str:
    """Return a text for the directory of a file system, the same for all file systems that lead to the same files."""
    return f"{type(file_system).__name__}:{_identity_of(file_system)}:{slashed(root)}"


def slashed(root: str) -> str:
    """Return a path so that a slash and what is below it can follow, also if it is the root of everything."""
    return f"/{root.strip('/')}".rstrip("/")


def file_system_of(behind: Any) -> tuple[Any, str] | None:
    """Return the file system of fsspec, which is not imported for it, and the path there; None for other stores."""
    if is_instance(behind, "fsspec.mapping:FSMap"):
        return without_roots(behind.fs, str(behind.root))
    if is_instance(behind, "blizzarr.stores.fsspec_store:FsspecStore"):
        return without_roots(behind.fs, behind.path)
    return None


def without_roots(file_system: Any, path: str) -> tuple[Any, str]:
    """Return the file system below those that begin at a directory of another one, and the path there."""
    while is_instance(file_system, "fsspec.implementations.dirfs:DirFileSystem"):
        path = f"{file_system.path or ''}/{path}".rstrip("/")
        file_system = file_system.fs
    return file_system, path


def _identity_of(file_system: Any) -> int:
    """Return a number that file systems of fsspec share which lead to the same files: those of one kind and options.

    fsspec makes another one in each thread, and for each option that says how files are reached.
    """
    if is_instance(file_system, MEMORY):
        return id(file_system.store)
    if not getattr(file_system, "cachable", False):
        return id(file_system)
    options = {name: value for name, value in file_system.storage_options.items() if name not in _MANNERS}
    # Options may be credentials, which cannot be found from the number.
    return hash((type(file_system), _text_of(file_system.storage_args), _text_of(options)))


def _text_of(option: Any) -> str:
    """Return a text that is the same for equal options; large ones and objects are told apart by identity."""
    if option is None or isinstance(option, str | bytes | int | float):
        return repr(option)
    if isinstance(option, dict) and len(option) < _LARGE:
        return repr(sorted((str(name), _text_of(value)) for name, value in option.items()))
    if isinstance(option, list | tuple) and len(option) < _LARGE:
        return repr([_text_of(value) for value in option])
    return f"{type(option).__name__}:{_identity_of(option)}"
