"""Where names come in: as keys, names of members and arrays, entries of consolidated documents and of zip files."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from blizzarr.stores import LocalStore, ZipStore

__all__ = ["SURFACES"]

Act = Callable[[], object]


def as_key(store: LocalStore, word: str, scratch: Path) -> Iterator[Act]:
    """All that a store can do."""
    yield lambda: store.get(word)
    yield lambda: store.get_ranges(word, [(0, 4), (-2, None)])
    yield lambda: store.get_many([word])
    yield lambda: store.size(word)
    yield lambda: store.list(word)
    yield lambda: store.list_dir(word)
    yield lambda: store.native.others(word, 5)
    yield lambda: store.leftovers(word)
    yield lambda: store.sweep(word)
    yield lambda: store.native.lock_for_deletion([word]).release()
    yield lambda: store.replace(word, None, b"new")
    yield lambda: store.replace(word, b"new", b"newer")
    yield lambda: store.set(f"{word}/below", b"new")
    yield lambda: store.set(word, b"new")
    yield lambda: store.link_many([("own/c/0", word)])
    yield lambda: store.linked([word])
    yield lambda: store.delete(word)
    yield lambda: store.delete_prefix(word)


def as_member(store: LocalStore, word: str, scratch: Path) -> Iterator[Act]:
    """What a group can do with a name."""
    store.set("zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
    group = blizzarr.open_group(store, mode="r+")
    yield lambda: word in group
    yield lambda: read(group[word])
    yield lambda: group.create_group(word)
    yield lambda: group.create_array(word, data=np.arange(4, dtype="int16"), chunks=2)
    yield lambda: group.create_array(word, shape=4, dtype="int16", chunks=2, overwrite=True)
    yield lambda: list(group)
    yield lambda: group.__delitem__(word)


def as_array(store: LocalStore, word: str, scratch: Path) -> Iterator[Act]:
    """The path of an array that is opened, made, copied to, checked."""
    yield lambda: read(blizzarr.open(store, path=word, mode="r"))
    yield lambda: write(blizzarr.open_array(store, path=word, mode="r+"))
    yield lambda: blizzarr.create_array(store, name=word, data=np.arange(4, dtype="int16"), chunks=2)[...]
    yield lambda: str(blizzarr.check(store, path=word))
    yield lambda: read(blizzarr.copy(blizzarr.open_array(store, path="own", mode="r"), {}))


def as_consolidated(store: LocalStore, word: str, scratch: Path) -> Iterator[Act]:
    """An entry of a consolidated document, in two formats."""
    v3: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [8],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "fill_value": 0,
    }
    whole = {"kind": "inline", "must_understand": False, "metadata": {word: v3, "fine": v3}}
    document = {"zarr_format": 3, "node_type": "group", "attributes": {}, "consolidated_metadata": whole}
    v2 = {
        "zarr_format": 2, "shape": [8], "chunks": [4], "dtype": "<i2", "fill_value": 0, "order": "C",
        "compressor": None, "filters": None,
    }  # fmt: skip
    entries = {".zgroup": {"zarr_format": 2}, f"{word}/.zarray": v2, "fine/.zarray": v2}
    for place in ("", "own/"):
        yield lambda place=place: store.set(f"{place}three/zarr.json", json.dumps(document).encode())
        yield lambda place=place: store.set(f"{place}two/.zgroup", b'{"zarr_format": 2}')
        yield lambda place=place: store.set(
            f"{place}two/.zmetadata", json.dumps({"zarr_consolidated_format": 1, "metadata": entries}).encode()
        )
    for path in ("three", "two", "own/three"):
        yield lambda path=path: [
            read(member) for _, member in blizzarr.open_group(store, path=path, mode="r").members()
        ]
        yield lambda path=path: read(blizzarr.open_group(store, path=path, mode="r")[word])
        yield lambda path=path: write(blizzarr.open_group(store, path=path, mode="r+")[word])


def as_zip_entry(store: LocalStore, word: str, scratch: Path) -> Iterator[Act]:
    """An entry of a zip file, also one that says it is a link; what it gives is put into the directory."""
    path = scratch / "name.zip"
    path.unlink()
    with zipfile.ZipFile(path, "w") as archive:
        for mode in (0o644 | stat.S_IFREG, 0o777 | stat.S_IFLNK):
            entry = zipfile.ZipInfo("placeholder")
            entry.filename = word.encode("utf-8", "replace").decode() + ("" if stat.S_ISREG(mode) else "-link")
            entry.external_attr = mode << 16
            archive.writestr(entry, str(scratch / "outside" / "c" / "0"))
    packed = ZipStore(path, "r")
    yield lambda: list(packed.list())
    yield lambda: packed.get(word)
    yield lambda: packed.get(f"{word}-link")
    for key in packed.list():
        yield lambda key=key: store.set(key, packed.get(key) or b"")
        yield lambda key=key: store.get(key)
    yield lambda: packed.close()


def read(node: object) -> object:
    """All elements of an array; of a group, the names in it."""
    return node[...] if isinstance(node, blizzarr.Array) else str(node)


def write(node: object) -> object:
    """Write to an array as a whole, in part, behind its end, and to its attributes."""
    if isinstance(node, blizzarr.Array) and node.shape:
        before = node[...]
        node[...] = 1
        node[1:2] = 2
        node.attrs["name"] = "new"
        return before
    return str(node)


SURFACES: dict[str, Callable[[LocalStore, str, Path], Iterator[Act]]] = {
    "key": as_key,
    "member": as_member,
    "array": as_array,
    "consolidated": as_consolidated,
    "zip entry": as_zip_entry,
}
