"""Row 121: names that no key can have, beside and below the arrays of a store, in every kind of store and listing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import NodeExistsError
from blizzarr.stores import FsspecStore, MappingStore
from support.faulty_server import FaultyServer

VALUES = np.arange(1, 13, dtype="i4")
STRANGE = ["//x", "/a//c/0", "/a/c/../0", "/./a", "/a/0\n", "/a/\x01/b", "/zarr.json\r", "/a/c\\0", "/\x7f"]
"""Endings of keys below the group."""


class Custom:
    """A store that is written by a user, who checks nothing."""

    def __init__(self, values: dict[str, bytes]) -> None:
        self.values = values

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def get_ranges(self, key: str, ranges: Any) -> Any:
        value = self.values.get(key)
        return None if value is None else [value[at : at + length] if at >= 0 else value[at:] for at, length in ranges]

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = bytes(value)

    def delete(self, key: str) -> None:
        self.values.pop(key, None)

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix)]

    def list_dir(self, prefix: str = "") -> tuple[list[str], list[str]]:
        below = [key.removeprefix(prefix).partition("/") for key in self.list(prefix)]
        return [prefix + name for name, slash, _ in below if not slash], sorted(
            {f"{prefix}{name}/" for name, slash, _ in below if slash}
        )


def objects(values: dict[str, bytes], server: FaultyServer) -> Any:
    server.objects = {f"/bucket/a/{key}": value for key, value in values.items()}
    return server.store()


def files(values: dict[str, bytes], server: FaultyServer) -> Any:
    pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFile, MemoryFileSystem

    class Apart(MemoryFileSystem):
        cachable = False
        pseudo_dirs: ClassVar = [""]
        store: ClassVar = {}

    there = Apart()
    Apart.store = {f"/a/{key}": MemoryFile(there, f"/a/{key}", value) for key, value in values.items()}
    return FsspecStore(there, "/a")


STORES: dict[str, Callable[[dict[str, bytes], FaultyServer], Any]] = {
    "objects": objects,
    "fsspec": files,
    "mapping": lambda values, server: MappingStore(values),
    "custom": lambda values, server: Custom(values),
}


def hierarchy(zarr_format: int) -> dict[str, bytes]:
    """A group with two arrays and a group."""
    values: dict[str, bytes] = {}
    root = blizzarr.create_group(values, zarr_format=zarr_format)
    group = root.create_group("g")
    for name in ("a", "b"):
        group.create_array(name, data=VALUES, chunks=4)
    return {key: bytes(value) for key, value in values.items()}


@pytest.mark.parametrize("zarr_format", [pytest.param(2, marks=pytest.mark.thorough), 3])
@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("kind", STORES)
def test_row_121_a_name_that_no_key_can_have(
    server: FaultyServer, tmp_path: Path, kind: str, strange: str, zarr_format: int
) -> None:
    """What lists goes on without it, and `check` reports it."""
    # Other stores than those of objects may have control characters in keys; what has such a key is a foreign file.
    is_foreign = kind != "objects" and any(character in strange for character in "\n\r\x01\x7f")
    values = hierarchy(zarr_format)
    plain = dict(values)
    values["g" + strange] = b"strange"
    store = STORES[kind](values, server)
    root = blizzarr.open_group(store, mode="r+")
    assert list(root) == ["g"]
    assert [path for path, _ in root["g"].members()] == ["a", "b"]
    assert "a" in str(root.tree())
    found = [finding.key for finding in blizzarr.check(store).findings]
    assert found == ["g" + strange]
    beside = 7 * (is_foreign and strange.startswith("/a/"))
    assert root["g/a"].nbytes_stored() == blizzarr.open(plain)["g/a"].nbytes_stored() + beside
    copied = blizzarr.copy(root, tmp_path / "copy")
    assert np.array_equal(copied["g/a"][:], VALUES)
    if zarr_format == 3:
        blizzarr.consolidate_metadata(store)
    else:
        blizzarr.upgrade(store)
    assert np.array_equal(blizzarr.open(store)["g/b"][:], VALUES)
    if beside:
        with pytest.raises(NodeExistsError, match="not ours"):
            del root["g/a"]
        return
    del root["g/a"]
    assert list(blizzarr.open_group(store, use_consolidated=False)["g"]) == ["b"]
