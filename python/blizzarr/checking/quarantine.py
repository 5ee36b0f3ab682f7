"""The quarantine: a place outside the data where damaged values are kept before a repair replaces them."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Final

from blizzarr.durability import durable
from blizzarr.errors import PathError
from blizzarr.formats import FORMATS
from blizzarr.stores import LocalStore, Store, StoreLike, resolve
from blizzarr.stores.place import is_below
from blizzarr.stores.wrapper import unwrapped

_ENDING: Final = ".quarantine"
_KEPT: Final = re.compile(rf"(?:^|/)[^/]+{re.escape(_ENDING)}/\d{{4}}-\d\d-\d\dT\d{{6}}(?:-\d+)?/")


def is_kept(key: str) -> bool:
    """Return whether a key is in a quarantine that lies beside the data, where a repair puts it by default.

    >>> is_kept("data.zarr.quarantine/2026-11-22T222346/a/c/0"), is_kept("data.quarantine/a/c/0")
    (True, False)
    """
    return _ENDING in key and _KEPT.search(key) is not None


class Quarantine:
    """A store for the values that a repair replaces, under their keys, below the date and time of the repair.

    - `store`: the store that is repaired.
    - `where`: the store to keep them in; by default, for a directory ``data.zarr``, its sibling
      ``data.zarr.quarantine``.
    """

    def __init__(self, store: Store, where: StoreLike | None) -> None:
        self._store = store
        self._where = where
        self._kept: Store | None = None
        self._prefix = ""

    def keep(self, key: str, value: bytes) -> str:
        """Store a value, and return a description of its place."""
        kept = self._open()
        # A power cut must not lose the kept value while its replacement survives.
        with durable("full"):
            kept.set(f"{self._prefix}/{key}", value)
        if isinstance(kept, LocalStore):
            return kept.path_of(f"{self._prefix}/{key}")
        return f"{self._prefix}/{key} in {kept}"

    def check(self) -> None:
        """Raise an error, before anything is changed, if there is no valid place for the quarantine.

        Raise `PathError` if no place was given and there is no default, or the place is inside the data.
        """
        self._target()

    def _target(self) -> Store:
        local = data = unwrapped(self._store)
        if isinstance(local, LocalStore) and local.links == "follow":
            data = LocalStore(outermost(local.root))
        if self._where is not None:
            where = self._where
            target = resolve(os.path.abspath(os.fsdecode(where)) if isinstance(where, os.PathLike) else where, "a")[0]
        elif isinstance(local, LocalStore) and local.links == "follow" and (root := outermost(local.root)).name:
            target = LocalStore(root.with_name(f"{root.name}{_ENDING}"))
        else:
            raise PathError(
                "expected a place to keep what is damaged before it is replaced, found none: name a directory or a "
                "store, as quarantine=, or --quarantine",
                store=str(self._store),
            )
        if is_below(target, "", data, ""):
            raise PathError(
                f"expected a place outside of the data to keep what is damaged, found {target}", store=str(self._store)
            )
        return target

    def _open(self) -> Store:
        if self._kept is None:
            self._kept = self._target()
            now = datetime.now().strftime("%Y-%m-%dT%H%M%S")
            taken = {prefix.rstrip("/") for prefix in self._kept.list_dir("").prefixes}
            # Never replace what an earlier repair kept.
            names = (now if number == 1 else f"{now}-{number}" for number in range(1, len(taken) + 2))
            self._prefix = next(name for name in names if name not in taken)
        return self._kept


def outermost(directory: Path) -> Path:
    """Return the root directory of the outermost hierarchy that contains a directory, or the directory itself."""
    documents = {key for form in FORMATS.values() for key in (*form.node_keys(""), form.entry_key) if key is not None}
    above = [parent for parent in directory.parents if any((parent / key).is_file() for key in documents)]
    return above[-1] if above else directory
