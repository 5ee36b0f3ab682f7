"""Completing paths in the shell: directories, zip files, and nodes below them."""

from __future__ import annotations

import os

_INSIDE_ARRAYS = "c"
"""The directory of chunks, which is not offered."""


def complete_path(incomplete: str) -> list[str]:
    """Return the possible completions of a path, without the insides of arrays."""
    directory, _, start = incomplete.rpartition("/")
    where = (directory or "/") if "/" in incomplete else "."
    try:
        with os.scandir(os.path.expanduser(where)) as entries:
            found = [entry for entry in entries if entry.name.startswith(start) and _is_offered(entry, start)]
    except OSError:
        return []
    prefix = incomplete[: len(incomplete) - len(start)]
    return sorted(prefix + entry.name for entry in found)


def _is_offered(entry: os.DirEntry[str], start: str) -> bool:
    if entry.name.startswith(".") and not start.startswith("."):
        return False
    if entry.name.endswith((".zip", ".ozx", ".npy", ".npz")):
        return True
    array = entry.name == _INSIDE_ARRAYS and os.path.exists(os.path.join(os.path.dirname(entry.path), "zarr.json"))
    return entry.is_dir() and not array
