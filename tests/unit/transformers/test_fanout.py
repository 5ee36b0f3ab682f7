"""The chunk key encoding ``fanout``: its keys, and arrays that have it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import MetadataError
from blizzarr.transformers.fanout import Fanout

OF_100 = {"name": "fanout", "configuration": {"max_children": 100}}


@pytest.mark.parametrize(
    ("most", "position", "key"),
    [
        (1000, (), "c"),
        (1000, (0,), "c/0/000"),
        (1000, (12,), "c/0/012"),
        (1000, (1234, 5, 0, 6789012), "c/1/001/234/0/005/0/000/2/006/789/012"),
        (100, (99, 100, 2**63 - 1), "c/0/99/1/01/00/9/09/22/33/72/03/68/54/77/58/07"),
    ],
)
def test_keys(most: int, position: tuple[int, ...], key: str) -> None:
    """The first four are those of the proposal."""
    assert Fanout(most).encode(position) == key
    assert Fanout(most).decode(key) == position


@pytest.mark.parametrize(
    "key",
    [
        *("", "d", "c/0", "c/0/12", "c/0/0012", "c/1/000/012", "c/1/012", "c/00/012", "c/0/ 12", "c/-1", "c//"),
        *("c/0/01²", "c/0/٠١٢", "c/999999999999/000", f"c/0/{'9' * 5000}", "c/0/012/", "c/0/012/1", "zarr.json"),
    ],
)
def test_keys_of_no_chunk(key: str) -> None:
    """Each chunk has one key; whatever a store has besides is no chunk, and takes no time."""
    with suppress(ValueError):  # which is as good, by the rule of the base class
        assert Fanout(1000).decode(key) is None


@pytest.mark.parametrize("most", [99, 101, 1001, 10, 1, 0, -100, 100.0, "100", None, True])
def test_only_powers_of_ten(most: Any) -> None:
    """Documents of an earlier proposal, which had 1001 and other keys, are refused: their chunks would be missing."""
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=[1, 2], chunk_key_encoding="fanout")
    assert array.metadata.storage_transformers == (Fanout(),)
    document = json.loads(bytes(store["zarr.json"]))
    document["chunk_key_encoding"]["configuration"] = {"max_children": most}
    store["zarr.json"] = json.dumps(document).encode()
    with pytest.raises(MetadataError, match=r"chunk_key_encoding.configuration.max_children: expected a power of 10"):
        blizzarr.open(store)


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("chunks", [(1, 2), ([3, 200, 47], 2)])
def test_an_array(tmp_path: Path, chunks: Any, sharded: bool) -> None:
    """Written, read, changed, listed, checked, copied, made longer and shorter, as under other keys."""
    data = np.arange(1000).reshape(250, 4)
    root = blizzarr.create_group(tmp_path)
    if sharded:
        given: dict[str, Any] = {"shards": (1, 4), "chunks": (1, 2)} if chunks == (1, 2) else {"chunks": (1, 2)}
        given.setdefault("shards", (*chunks[:1], 4))
    else:
        given = {"chunks": chunks}
    array = root.create_array("a", data=data, chunk_key_encoding=OF_100, **given)
    count = len([path for path in (tmp_path / "a" / "c").rglob("*") if path.is_file()])
    assert count == {False: 500, True: 250}[sharded] if chunks == (1, 2) else count == {False: 6, True: 3}[sharded]
    stored = array.nchunks_initialized
    assert stored == array.nchunks
    assert all(len(os.listdir(folder)) <= 101 for folder, _, _ in os.walk(tmp_path))
    array[120:130, 1:3] = data[120:130, 1:3] = -1
    np.testing.assert_array_equal(blizzarr.open(tmp_path, path="a")[::-7, 1:], data[::-7, 1:])
    assert [name for name, _ in root.members()] == ["a"]
    assert blizzarr.check(tmp_path).ok
    copied = blizzarr.copy(array, {})
    assert copied.metadata.storage_transformers == (Fanout(100),)
    np.testing.assert_array_equal(copied[...], data)
    array.append(data[:3])
    np.testing.assert_array_equal(array[248:], np.concatenate([data[248:], data[:3]]))
    array.resize((2, 4))
    assert 0 < array.nchunks_initialized < stored
    np.testing.assert_array_equal(array[...], data[:2])
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert all(name == "zarr.json" or name == "a/zarr.json" or name.startswith("a/c/0/0") for name in left)
    del root["a"]
    assert [path.name for path in tmp_path.iterdir()] == ["zarr.json"]


def test_strange_keys_are_no_chunks(tmp_path: Path) -> None:
    """A check names files that are no chunks, among them one under the key that another encoding would give it."""
    array = blizzarr.create_array(tmp_path, data=np.arange(4), chunks=2, chunk_key_encoding="fanout")
    (tmp_path / "c" / "1" / "000").mkdir(parents=True)
    (tmp_path / "c" / "1" / "000" / "001").write_bytes(b"x")
    assert array.nchunks_initialized == 2
    assert "c/1/000/001" in str(blizzarr.check(tmp_path))
