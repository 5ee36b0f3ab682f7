"""zarrista: zarrs under a Python face of its own."""

from __future__ import annotations

import os
from typing import Any

import zarrista
from zarrista.store import FilesystemStore

from bench.peers.base import CannotError, Library, Values


class Zarrista(Library):
    name = "zarrista"
    settings = f"zarrs' defaults: {os.cpu_count()} rayon threads"

    def version(self) -> str:
        return zarrista.__version__

    def open(self, path: str, write: bool = False, zarr_format: int = 3) -> Any:
        return zarrista.Array.open(FilesystemStore(path))

    def basic(self, array: Any, key: tuple[Any, ...]) -> Any:
        if any(isinstance(part, slice) and part.step not in (None, 1) for part in key):
            raise CannotError("selects with steps of 1 only")
        return array.retrieve_array_subset(key).to_numpy()

    def points(self, array: Any, key: tuple[Any, ...]) -> Any:
        raise CannotError("selects boxes only")

    def outer(self, array: Any, key: tuple[Any, ...]) -> Any:
        raise CannotError("selects boxes only")

    def mask(self, array: Any, key: tuple[Any, ...]) -> Any:
        raise CannotError("selects boxes only")

    def write(self, array: Any, key: tuple[Any, ...], values: Values) -> None:
        array.store_array_subset(key, values)

    def append(self, array: Any, count: int, frame: Values) -> Any:
        longer = array.with_shape([count + 1, *frame.shape[1:]])
        longer.store_metadata()
        longer.store_array_subset((slice(count, count + 1), slice(None), slice(None)), frame)
        return longer

    def members(self, path: str) -> Any:
        group = zarrista.Group.open(FilesystemStore(path))
        return [(array.path.lstrip("/"), tuple(array.shape)) for array in group.child_arrays()]


PEERS = {Zarrista.name: Zarrista}
