"""Hierarchies of the draft in the document's spelling, made by hand from its examples: nobody is known to write it.

Each file below ``draft/hierarchies`` has documents and chunks (in hexadecimal digits) by key, and what there is at each
path: members and attributes of groups, values of arrays (all of them, those at some places, or their bytes).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import Array, Group
from blizzarr.formats.draft import Draft, draft_named
from blizzarr.stores import LocalStore, MemoryStore, Store

FILES = sorted((Path(__file__).parent / "draft" / "hierarchies").glob("*.json"))
HIERARCHIES = {file.stem: json.loads(file.read_text()) for file in FILES}


def stored(hierarchy: dict[str, Any], store: Store) -> Store:
    for key, document in hierarchy["documents"].items():
        store.set(key, json.dumps(document).encode())
    for key, chunk in hierarchy["chunks"].items():
        store.set(key, bytes.fromhex(chunk))
    return store


def check(node: Array | Group, expected: dict[str, Any]) -> None:
    if isinstance(node, Group):
        assert dict(node.attrs) == expected["group"]
        assert list(node) == expected["members"]
        return
    values = np.asarray(node[...])
    assert dict(node.attrs) == expected.get("attributes", {})
    if "dtype" in expected:
        assert node.dtype == np.dtype(expected["dtype"])
    if "itemsize" in expected:
        assert node.dtype.itemsize == expected["itemsize"]
    if "hex" in expected:
        assert values.tobytes().hex() == expected["hex"]
    if "values" in expected:
        np.testing.assert_array_equal(values, np.array(of_json(expected["values"]), node.dtype))
    for place, value in expected.get("at", ()):
        np.testing.assert_array_equal(values[tuple(place)], np.array(of_json(value), node.dtype))


def of_json(value: Any) -> Any:
    named = {"NaN": np.nan, "Infinity": np.inf}
    return [of_json(item) for item in value] if isinstance(value, list) else named.get(value, value)


@pytest.mark.parametrize("where", ["memory", "local"])
@pytest.mark.parametrize("name", HIERARCHIES)
def test_read(name: str, where: str, tmp_path: Path) -> None:
    """Every node is there and is what the document says, opened by its path or from the root."""
    hierarchy = HIERARCHIES[name]
    store = stored(hierarchy, MemoryStore() if where == "memory" else LocalStore(tmp_path))
    for path, expected in hierarchy["nodes"].items():
        check(blizzarr.open(store, path=path, mode="r"), expected)
        root = blizzarr.open(store, mode="r")
        if path and isinstance(root, Group):
            check(root[path], expected)


@pytest.mark.parametrize("name", HIERARCHIES)
def test_written_again(name: str) -> None:
    """Attributes and elements are written back as they are, and nothing else changes; then to where nothing was."""
    hierarchy = HIERARCHIES[name]
    store, fresh = stored(hierarchy, MemoryStore()), MemoryStore()
    for path, expected in hierarchy["nodes"].items():
        node = blizzarr.open(store, path=path, mode="r+")
        node.attrs.update(dict(node.attrs))
        assert node.metadata.format.startswith("v3_draft")
        if isinstance(node, Array):
            node[...] = node[...]
            check(blizzarr.open(store, path=path), expected)
            form: Draft | None = draft_named(node.metadata.format)
            assert form is not None
            for key, value in {**form.encode(node.metadata, path), **form.entry_documents()}.items():
                fresh.set(key, value)
            copied = blizzarr.open(fresh, path=path, mode="r+")
            assert isinstance(copied, Array)
            copied[...] = node[...]
            check(blizzarr.open(fresh, path=path), expected)
    for key, document in hierarchy["documents"].items():
        assert json.loads(bytes(store.get(key) or b"")) == document, key


def test_chunks_lie_where_the_document_says() -> None:
    """D-40 D-110 D-111 D-112: new arrays have the keys of the examples; padding holds the fill value."""
    memory = MemoryStore()
    root = blizzarr.create_group(memory, zarr_format="v3_draft")
    root.create_array("foo/baz", shape=(4, 4), chunks=(2, 2), dtype="u1", compressors=None)[2:, :2] = 1
    root.create_array("foo/scalar", shape=(), dtype="u1", compressors=None)[...] = 1
    root.create_array("overhang", shape=(3,), chunks=(2,), dtype="u1", fill_value=9, compressors=None)[...] = 1
    assert [key for key in memory.list() if key.startswith("data/")] == [
        "data/foo/baz/c1/0",
        "data/foo/scalar/c",
        "data/overhang/c0",
        "data/overhang/c1",
    ]
    assert memory.get("data/overhang/c1") == b"\x01\x09"
    alone = MemoryStore()
    blizzarr.create_array(alone, data=np.array([1, 2], "u1"), compressors=None, zarr_format="v3_draft")
    assert list(alone.list()) == ["data/c0", "meta/array.json", "zarr.json"]
