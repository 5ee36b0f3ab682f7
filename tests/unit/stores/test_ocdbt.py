"""Databases of OCDBT, which TensorStore writes: read by keys, versions and as arrays; damage is an error."""

from __future__ import annotations

import pickle
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import _native
from blizzarr.errors import ArchiveError, BlizzarrError, NodeNotFoundError, ReadOnlyError, StoreError
from blizzarr.stores import LocalStore, MemoryStore, OcdbtStore
from blizzarr.stores.protocol import Listing

ts: Any = pytest.importorskip("tensorstore")

CONFIGS: list[dict[str, Any]] = [
    {"manifest_kind": kind, "max_inline_value_bytes": inline, "max_decoded_node_bytes": node, **more}
    for kind in ("single", "numbered")
    for inline, node, more in (
        (100, 8 << 20, {}),
        (0, 300, {"version_tree_arity_log2": 1}),
        (5, 1, {"version_tree_arity_log2": 2, "compression": None}),
        (100, 1000, {"version_tree_arity_log2": 1, "compression": {"id": "zstd", "level": 3}}),
    )
]
SEGMENTS = ("a", "b", "ab", "params", "c", "0", "17", "zé", "x" * 40)


def database(directory: Path, **config: Any) -> Any:
    spec = {"driver": "ocdbt", "base": {"driver": "file", "path": f"{directory}/"}, "config": config}
    return ts.KvStore.open(spec).result()


def at_version(directory: Path, version: int) -> dict[str, bytes]:
    """What TensorStore reads of a version."""
    base = {"driver": "file", "path": f"{directory}/"}
    store = ts.KvStore.open({"driver": "ocdbt", "base": base, "version": version}).result()
    return {key.decode(): bytes(store[key]) for key in store.list().result()}


def check(store: OcdbtStore, expected: dict[str, bytes]) -> None:
    keys = sorted(expected, key=str.encode)
    assert store.list() == keys
    for prefix in ("a", "a/b/", "zé", "params/c", "no"):
        assert store.list(prefix) == [key for key in keys if key.startswith(f"{prefix.rstrip('/')}/")]
    for key, value in expected.items():
        assert bytes(store.get(key) or b"") == value
        assert store.size(key) == len(value)
        parts = store.get_ranges(key, [(1, 3), (-2, None), (0, None), (len(value) + 5, 1)]) or []
        assert [bytes(part) for part in parts] == [value[1:4], value[-2:], value, b""]
    for key in ("no", "a/no", "0/0/0/0/0", "params/cc"):
        assert key in expected or (store.get(key), store.get_ranges(key, [(0, 1)]), store.size(key)) == (None,) * 3


@pytest.mark.parametrize("config", CONFIGS, ids=repr)
def test_every_version_is_read_as_tensorstore_reads_it(config: dict[str, Any], tmp_path: Path) -> None:
    choices = random.Random(repr(config))
    writer = database(tmp_path, **config)
    for _ in range(12):
        with ts.Transaction() as transaction:
            inside = writer.with_transaction(transaction)
            for _ in range(choices.randint(1, 20)):
                key = "/".join(choices.choice(SEGMENTS) for _ in range(choices.randint(1, 4)))
                inside[key] = None if choices.random() < 0.2 else choices.randbytes(choices.choice((0, 1, 7, 101, 400)))
    newest = OcdbtStore(tmp_path)
    last = newest.database_version
    for version in range(1, last + 1):
        check(OcdbtStore(tmp_path, version=version), at_version(tmp_path, version))
    expected = at_version(tmp_path, last)
    check(newest, expected)
    # One in other processes is of the same version, whatever is committed meanwhile.
    pickled = pickle.dumps(newest)
    writer["a/later"] = b"1"
    check(newest, expected)
    check(pickle.loads(pickled), expected)
    assert OcdbtStore(tmp_path).get("a/later") == b"1"
    with pytest.raises(StoreError, match=f"no version {last + 9}"):
        OcdbtStore(tmp_path, version=last + 9)
    with pytest.raises(TypeError, match="expected the number of a version, like 3, found '1'"):
        OcdbtStore(tmp_path, version="1")  # type: ignore[arg-type]  # what it does about that


def test_a_database_without_keys(tmp_path: Path) -> None:
    writer = database(tmp_path)
    writer["a"] = b"1"
    writer["a"] = None
    store = OcdbtStore(tmp_path)
    assert (store.list(), store.get("a"), store.list_dir("").keys) == ([], None, ())
    assert OcdbtStore(tmp_path, version=2).get("a") == b"1"


@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
def test_arrays_in_it(driver: str, tmp_path: Path) -> None:
    values = np.random.default_rng(1).integers(0, 99, (40, 50), dtype="i4")
    base = {"driver": "file", "path": f"{tmp_path}/"}
    layout = ts.ChunkLayout(read_chunk_shape=[5, 10], write_chunk_shape=[20, 10] if driver == "zarr3" else None)
    array = ts.open(
        {"driver": driver, "kvstore": {"driver": "ocdbt", "base": base, "path": "run/w"}},
        dtype="int32",
        shape=values.shape,
        chunk_layout=layout,
        create=True,
    ).result()
    array.write(values).result()
    version = OcdbtStore(tmp_path).database_version
    array[3].write(-1).result()
    place = f"{tmp_path}|ocdbt:"
    stored = blizzarr.open(f"{place}run/w")
    np.testing.assert_array_equal(blizzarr.open(f"{place}@v{version}/run/w")[:], values)
    values[3] = -1
    np.testing.assert_array_equal(stored[:], values)
    np.testing.assert_array_equal(stored[3:30:7, -3:], values[3:30:7, -3:])
    assert blizzarr.check(f"{place}run/w").ok
    with pytest.raises(ReadOnlyError, match="can only be read"):
        stored[0] = 1
    with pytest.raises(ReadOnlyError, match="can only be read"):
        stored.resize((5, 5))
    blizzarr.copy(f"{place}run/w", tmp_path / "copy.zarr")
    np.testing.assert_array_equal(blizzarr.open(tmp_path / "copy.zarr")[:], values)
    # In any other store.
    memory = MemoryStore()
    directory = LocalStore(tmp_path)
    for key in directory.list():
        memory.set(f"deep/{key}", directory.get(key) or b"")
    np.testing.assert_array_equal(blizzarr.open(OcdbtStore(memory, "deep"), path="run/w")[:], values)


def test_a_path_without_the_database_is_told_apart(tmp_path: Path) -> None:
    database(tmp_path)["a/zarr.json"] = b"{}"
    with pytest.raises(NodeNotFoundError, match=r"a database of OCDBT.*\|ocdbt:"):
        blizzarr.open(tmp_path)
    with pytest.raises(StoreError, match="found no such file"):
        blizzarr.open(f"{tmp_path}/none|ocdbt:a")


def files_of(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


@pytest.mark.parametrize("config", [CONFIGS[1], CONFIGS[7]], ids=repr)
def test_damage_is_an_error_or_changes_values_only(config: dict[str, Any], tmp_path: Path) -> None:
    """Manifests and nodes have checksums; values have none of their own, and keep their lengths."""
    writer = database(tmp_path, **config)
    for number in range(30):
        writer[f"{number % 7}/{number}"] = bytes([number]) * (number * 9)
    expected = {key: len(value or b"") for key, value in ((key, writer[key]) for key in writer.list().result())}
    expected = {key.decode(): length for key, length in expected.items()}
    choices, errors = random.Random(3), list[ArchiveError]()
    for file in files_of(tmp_path):
        data = file.read_bytes()
        for _ in range(8):
            changed = bytearray(data)
            if choices.random() < 0.5:
                changed[choices.randrange(len(data))] ^= 1 << choices.randrange(8)
            else:
                del changed[choices.randrange(len(data)) :]
            file.write_bytes(changed)
            try:
                store = OcdbtStore(tmp_path)
                assert {key: len(store.get(key) or b"") for key in store.list()} == expected
            except ArchiveError as error:
                errors.append(error)
        file.write_bytes(data)
    assert len(errors) > 10
    assert all(error.key and error.store for error in errors)


def test_an_old_version_while_the_manifests_that_have_it_are_deleted(tmp_path: Path) -> None:
    """With each commit, a writer deletes the manifest of 128 commits before."""
    writer = database(tmp_path, manifest_kind="numbered", version_tree_arity_log2=1)
    for number in range(130):
        writer["a"] = b"%d" % number

    class Overtaken(LocalStore):
        commits = 2

        def list_dir(self, prefix: str = "") -> Listing:
            listed = super().list_dir(prefix)
            for _ in range(self.commits):
                writer["a"] = b"new"
            self.commits -= self.commits > 0
            return listed

    assert bytes(OcdbtStore(Overtaken(tmp_path), version=2).get("a") or b"") == b"0"


@pytest.mark.parametrize("change", ["missing", "another kind", "wrong numbers"])
def test_hostile_nodes(change: str, tmp_path: Path) -> None:
    """With checksums that are right."""
    writer = database(tmp_path, compression=None, max_inline_value_bytes=0)
    writer["a/b"] = b"value"
    (node,) = (path for path in files_of(tmp_path) if path.read_bytes()[5:].find(bytes.fromhex("0cdb20de")) >= 0)
    data = node.read_bytes()
    if change == "missing":
        node.unlink()
        with pytest.raises(ArchiveError, match="the file is missing"):
            OcdbtStore(tmp_path)
        return
    begin = data.find(bytes.fromhex("0cdb20de"))
    body = data[begin + 12 : -4]
    for at in range(len(body)):
        for value in (0, 1, 0x7F, 0x80, 0xFF):
            altered = bytearray(body)
            altered[at] = value
            head = (b"\0\0\0\0" if change == "another kind" else data[begin : begin + 4]) + data[begin + 4 : begin + 12]
            whole = head + bytes(altered)
            node.write_bytes(data[:begin] + whole + struct.pack("<I", _native.crc32c(whole)))
            try:
                store = OcdbtStore(tmp_path)
                list(map(store.get, store.list()))
            except BlizzarrError:
                continue
            assert change == "wrong numbers"
            assert len(store.list()) <= 1


def numbers(*values: int) -> bytes:
    """Numbers as they are stored, in 7 bits of each byte."""
    return b"".join(
        bytes([value >> shift & 127 | (value >> shift > 127) << 7 for shift in range(0, max(value.bit_length(), 1), 7)])
        for value in values
    )


def checked(magic: int, body: bytes) -> bytes:
    whole = struct.pack(">I", magic) + struct.pack("<Q", len(body) + 18) + b"\0\0" + body
    return whole + struct.pack("<I", _native.crc32c(whole))


def of_nodes(*nodes: bytes) -> MemoryStore:
    """A database of nodes in one file, of which the last is the root."""
    store, data = MemoryStore(), b"".join(nodes)
    root = numbers(0, len(data) - len(nodes[-1]), len(nodes[-1]))
    versions = numbers(1, 1) + bytes([len(nodes) - 1]) + root + numbers(1, 1, 1) + bytes(8)
    store.set("manifest.ocdbt", checked(0x0CDB3A2A, bytes(16) + numbers(0, 0, 0) + bytes(2) + FILES + versions + b"\0"))
    store.set("d", data)
    return store


FILES = numbers(1, 1, 0) + b"d"


def inner(height: int, common: int, start: int, length: int) -> bytes:
    """A node with two keys, "a" and "b", which refer to one node below."""
    keys = numbers(2, 0, 1, 1, common, common) + b"ab"
    places = numbers(0, 0, start, start, length, length) + numbers(1, 1, 1, 1, 1, 1)
    return checked(0x0CDB20DE, bytes([height]) + FILES + keys + places)


def test_numbers_that_no_writer_stores_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """With checksums that are right: references beyond all files, tables of any length, and nodes that are shared."""
    for start, length in ((2**63, 1), (2**63 - 2, 3), (0, 2**63), (2**64 - 1, 2**64 - 1), (2**69, 1)):
        store = OcdbtStore(
            of_nodes(checked(0x0CDB20DE, b"\0" + FILES + numbers(1, 1) + b"a" + numbers(length, 1, 0, start)))
        )
        with pytest.raises(ArchiveError, match="a reference to byte"):
            store.get("a")
        with pytest.raises(ArchiveError, match="a reference to byte"):
            store.get_ranges("a", [(0, 1)])
    with pytest.raises(ArchiveError, match="at most 1,048,576 entries"):
        OcdbtStore(of_nodes(checked(0x0CDB20DE, b"\0" + FILES + numbers(2**20 + 1) + bytes(1 << 22))))
    leaf = checked(0x0CDB20DE, b"\0" + FILES + numbers(1, 1) + b"a" + numbers(0, 0))
    with pytest.raises(ArchiveError, match="as many common bytes"):
        OcdbtStore(of_nodes(leaf, inner(1, 2, 0, len(leaf))))
    nodes = [leaf]
    for height in range(1, 40):
        nodes.append(inner(height, 1, sum(map(len, nodes[:-1])), len(nodes[-1])))
    store = OcdbtStore(of_nodes(*nodes))
    assert store.get("ab" * 19 + "aa") == b""
    monkeypatch.setattr("blizzarr.stores.ocdbt.store._MOST", 1000)
    with pytest.raises(ArchiveError, match="at most 1,000 nodes of one level"):
        store.list()
