"""Arrays of n5 in a directory: opened, created, replaced, found out, resized; damaged ones, and hostile ones."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore as theirs

import blizzarr
import blizzarr.tensorstore as ours
from blizzarr.errors import (
    BlizzarrError,
    CodecError,
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    SpecError,
    UnsupportedOperationError,
)

METADATA = {"dimensions": [4, 5], "blockSize": [3, 2], "dataType": "uint16", "compression": {"type": "raw"}}
HEADER = struct.pack(">HHII", 0, 2, 3, 2)


def spec(path: Path, **more: Any) -> dict[str, Any]:
    """The array in a directory."""
    return {"driver": "n5", "kvstore": {"driver": "file", "path": f"{path}/"}, **more}


def made(path: Path, **more: Any) -> Any:
    """A new array that counts from one."""
    array = ours.open(spec(path, metadata={**METADATA, **more}), create=True).result()
    array[...] = np.arange(1, 21, dtype="uint16").reshape(4, 5)
    return array


def test_what_is_stored(tmp_path: Path) -> None:
    """The document, and a block: the first axis fastest, big-endian, whole also where it sticks out."""
    made(tmp_path)
    assert json.loads((tmp_path / "attributes.json").read_text()) == METADATA
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*")) == [
        "0/0",
        "0/1",
        "0/2",
        "1/0",
        "1/1",
        "1/2",
    ]
    assert (tmp_path / "0/0").read_bytes() == HEADER + struct.pack(">6H", 1, 6, 11, 2, 7, 12)
    assert (tmp_path / "1/2").read_bytes() == HEADER + struct.pack(">6H", 20, 0, 0, 0, 0, 0)


def test_zeros_are_not_stored(tmp_path: Path) -> None:
    """A block of nothing but zeros goes, unless it is to be stored."""
    array = made(tmp_path)
    array[:3, :2] = 0
    assert not (tmp_path / "0/0").exists()
    kept = ours.open(spec(tmp_path, store_data_equal_to_fill_value=True)).result()
    kept[:3, :2] = 0
    assert (tmp_path / "0/0").read_bytes() == HEADER + bytes(12)
    assert array.fill_value is None


def test_open_modes(tmp_path: Path) -> None:
    """What is there is opened, found in the way, or replaced; what is not there is made, or missed."""
    with pytest.raises(NodeNotFoundError, match=r"NOT_FOUND: .*attributes.json.* does not exist"):
        ours.open(spec(tmp_path / "a")).result()
    made(tmp_path / "a")
    with pytest.raises(NodeExistsError, match="ALREADY_EXISTS"):
        ours.open(spec(tmp_path / "a", metadata=METADATA), create=True).result()
    assert (
        ours.open(spec(tmp_path / "a", metadata=METADATA), create=True, open=True).result()[3, 4].read().result() == 20
    )
    other = {**METADATA, "dataType": "int8", "dimensions": [2, 2]}
    with pytest.raises(
        ValueError, match=r'FAILED_PRECONDITION: .*Expected "dimensions" of \[2,2\] but received: \[4,5\]'
    ):
        ours.open(spec(tmp_path / "a", metadata=other)).result()
    new = ours.open(spec(tmp_path / "a", metadata=other), create=True, delete_existing=True).result()
    assert new.read().result().tolist() == [[0, 0], [0, 0]]
    assert not list(tmp_path.glob("a/*/*"))
    assert theirs.open(spec(tmp_path / "a")).result().dtype.name == "int8"


def test_replacing_spares_what_is_not_ours(tmp_path: Path) -> None:
    """Files of somebody else among the blocks stay, and so does the array."""
    made(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(NodeExistsError, match=r"files that are not ours: notes.txt"):
        ours.open(spec(tmp_path, metadata=METADATA), create=True, delete_existing=True).result()
    assert ours.open(spec(tmp_path)).result()[0, 1].read().result() == 2


def test_detection(tmp_path: Path) -> None:
    """URLs with and without the format, within a hierarchy, and `auto`; two formats at a place are told."""
    made(tmp_path / "root" / "volume")
    url = f"file://{tmp_path}/root"
    for said in (f"{url}|n5:volume", f"{url}/volume/|n5:", f"{url}/volume", f"{url}/volume/|auto"):
        array = ours.open(said).result()
        assert (array.spec().to_json()["driver"], int(array[1, 1].read().result())) == ("n5", 7)
    assert array.url == f"{url}/volume/|n5:"
    (tmp_path / "root/volume/.zarray").write_bytes(
        b'{"zarr_format":2,"shape":[1],"chunks":[1],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":null}'
    )
    with pytest.raises(ValueError, match=r"Multiple possible formats detected for .*: \{n5, zarr2\}"):
        ours.open(f"{url}/volume").result()


def test_resizing(tmp_path: Path) -> None:
    """What is cut is gone when it grows again; attributes stay as they are written."""
    array = made(tmp_path, title={"b": 1, "a": [2]}, units=["nm", "s"], resolution=[4, 0.5], axes=["x", "y"])
    before = (tmp_path / "attributes.json").read_text()
    array.resize(exclusive_max=[2, 2]).result()
    assert json.loads((tmp_path / "attributes.json").read_text()) == {**json.loads(before), "dimensions": [2, 2]}
    assert [path.name for path in (tmp_path / "0").iterdir()] == ["0"]
    grown = array.resize(exclusive_max=[4, 3]).result()
    assert grown.read().result().tolist() == [[1, 2, 0], [6, 7, 0], [0, 0, 0], [0, 0, 0]]
    assert grown.domain.labels == ("x", "y")
    assert grown.dimension_units == (ours.Unit(4, "nm"), ours.Unit(0.5, "s"))
    assert theirs.open(spec(tmp_path)).result().read().result().tolist() == grown.read().result().tolist()


def test_another_array_in_its_place(tmp_path: Path) -> None:
    """Its blocks would mean something else."""
    made(tmp_path)
    array = ours.open(spec(tmp_path, recheck_cached_metadata=True)).result()
    ours.open(spec(tmp_path, metadata={**METADATA, "dataType": "int8"}), create=True, delete_existing=True).result()
    with pytest.raises(
        ValueError, match=r"Updated (N5 )?metadata .*int8.* is incompatible with existing metadata .*uint16"
    ):
        array.resolve().result()


def test_a_transaction_and_missing_blocks(tmp_path: Path) -> None:
    """What is gathered is stored at once; a block that must be there and is not is told."""
    array = ours.open(spec(tmp_path, metadata=METADATA, fill_missing_data_reads=False), create=True).result()
    with ours.Transaction() as transaction:
        array.with_transaction(transaction)[0, :] = np.arange(5, dtype="uint16")
        assert not list(tmp_path.glob("*/*"))
    assert array[0].read().result().tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(NodeNotFoundError, match=r"chunk \{1, 0\} stored at .*1/0.* is missing"):
        array[3, 0].read().result()


HOSTILE = {
    "nothing": (b"", "expected a header of 12 bytes, found 0 bytes in all"),
    "half a header": (HEADER[:9], "expected a header of 12 bytes, found 9 bytes in all"),
    "mode 2": (b"\0\2" + HEADER[2:] + bytes(12), "expected mode 0 or 1, found 2"),
    "three dimensions": (struct.pack(">HHIII", 0, 3, 3, 2, 1) + bytes(12), "expected 2 dimensions, found 3"),
    "65535 dimensions": (struct.pack(">HH", 0, 65535) + bytes(20), "expected 2 dimensions, found 65535"),
    "a huge block": (
        struct.pack(">HHII", 0, 2, 2**32 - 1, 2**32 - 1) + bytes(12),
        r"expected a block of at most \[3, 2\], found \[4294967295, 4294967295\]",
    ),
    "too few elements": (HEADER + bytes(11), "expected 12 bytes, found 11"),
    "too many elements": (HEADER + bytes(13), "expected 12 bytes, found 13"),
    "a short block that is cut": (struct.pack(">HHII", 0, 2, 2, 2) + bytes(7), "expected 8 bytes, found 7"),
    "variable length": (
        struct.pack(">HHIII", 1, 2, 3, 2, 2**32 - 1) + bytes(12),
        "found 4,294,967,295: of variable length",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_blocks(name: str, tmp_path: Path) -> None:
    """An error of the codec that names the array, the block and what is wrong; the others are read all the same."""
    array = made(tmp_path)
    block, said = HOSTILE[name]
    (tmp_path / "0/0").write_bytes(block)
    for act in (
        lambda: array.read().result(),
        lambda: array[0, 0].read().result(),
        lambda: array[0, 0].write(5).result(),
    ):
        with pytest.raises(CodecError, match=said) as caught:
            act()
        assert (caught.value.key, caught.value.chunk, caught.value.codec) == ("0/0", (0, 0), "n5")
        assert str(caught.value).startswith(f"cannot decode chunk 0/0 of {tmp_path}: n5: ")
    with pytest.raises(ValueError, match=r"Error (opening|reading)"):
        theirs.open(spec(tmp_path)).result().read().result()
    assert array[3].read().result().tolist() == [16, 17, 18, 19, 20]
    assert [str(finding.key) for finding in blizzarr.check(tmp_path).findings] == ["0/0"]


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz", "zstd", "blosc"])
def test_bombs(name: str, tmp_path: Path) -> None:
    """What decodes to more than a block has is stopped before it is made."""
    options = {"cname": "zstd", "clevel": 9, "shuffle": 0} if name == "blosc" else {}
    compression = {"type": name, **options}
    large = spec(
        tmp_path / "large",
        metadata={**METADATA, "dimensions": [1 << 24], "blockSize": [1 << 24], "compression": compression},
    )
    bomb = ours.open({**large, "store_data_equal_to_fill_value": True}, create=True).result()
    bomb[...] = 0
    body = (tmp_path / "large/0").read_bytes()[8:]
    array = made(tmp_path / "small", compression=compression)
    (tmp_path / "small/0/0").write_bytes(HEADER + body)
    with pytest.raises(CodecError, match="expected 12 bytes") as caught:
        array.read().result()
    assert caught.value.key == "0/0"


DOCUMENTS: dict[str, Any] = {
    "dimensions": ["x", [-1, 2], [1 << 63, 1], [1] * 65, None],
    "blockSize": [[0, 1], [1], [1 << 20, 1 << 20], 5, [1.5, 2]],
    "dataType": ["string", "bool", "uint128", 5],
    "compression": [
        None,
        {},
        {"type": "lz4"},
        {"type": "gzip", "level": 99},
        {"type": "blosc"},
        {"type": "xz", "preset": True},
    ],
}


@pytest.mark.parametrize(
    ("member", "value"), [(name, value) for name in DOCUMENTS for value in DOCUMENTS[name]], ids=str
)
def test_hostile_documents(member: str, value: Any, tmp_path: Path) -> None:
    """The member that is wrong is named, whoever opens it."""
    (tmp_path / "attributes.json").write_text(json.dumps({**METADATA, member: value}))
    with pytest.raises(BlizzarrError, match=member):
        ours.open(spec(tmp_path)).result()
    with pytest.raises(MetadataError, match=member):
        blizzarr.open(tmp_path)
    with pytest.raises(ValueError, match=r"Error (opening|reading)"):
        theirs.open(spec(tmp_path)).result()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"n5": "2.0.0"}',
        b'{"dimensions": [1]',
        b"\xff",
        b'{"dimensions": [1], "dataType": "uint8"',
    ],
)
def test_what_is_no_dataset(raw: bytes, tmp_path: Path) -> None:
    """Groups of N5, and what nobody can read, are refused, not overwritten; Zarr can be made where there is a group."""
    (tmp_path / "attributes.json").write_bytes(raw)
    for more in ({}, {"metadata": METADATA, "create": True, "open": True}):
        with pytest.raises(ValueError, match=r"FAILED_PRECONDITION"):
            ours.open(spec(tmp_path, **more)).result()
        with pytest.raises(ValueError, match=r"Error (opening|reading)"):
            theirs.open(spec(tmp_path, **more)).result()
    assert (tmp_path / "attributes.json").read_bytes() == raw


def test_drivers_that_there_are_not() -> None:
    """What TensorStore has and this library has not is told from what nobody has."""
    for said in (
        {"driver": "png", "kvstore": "memory://"},
        "memory://a|png:",
    ):
        with pytest.raises(
            UnsupportedOperationError, match=r'images.* reads and writes "zarr3", "zarr", "n5"'
        ) as caught:
            ours.open(said)
        assert isinstance(caught.value, SpecError | NotImplementedError)
    with pytest.raises(SpecError, match=r'"foo" is not a registered TensorStore driver; there are "zarr3", ') as other:
        ours.open({"driver": "foo"})
    assert not isinstance(other.value, UnsupportedOperationError)


def test_a_group_is_replaced_with_all_that_is_in_it(tmp_path: Path) -> None:
    """As groups of every format are, if that is asked for."""
    (tmp_path / "attributes.json").write_text('{"n5": "2.5.1"}')
    made(tmp_path / "0")
    with pytest.raises(NodeExistsError, match=r"already \(attributes\.json of a group"):
        blizzarr.create_array(tmp_path, shape=(1, 4, 5), dtype="u2", zarr_format="n5")
    blizzarr.create_array(tmp_path, shape=(1, 4, 5), dtype="u2", zarr_format="n5", overwrite=True)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["attributes.json"]


def test_datasets_below_are_not_taken_for_blocks(tmp_path: Path) -> None:
    """Blocks of a dataset called `0` look like those of an array above it that has one more dimension."""
    made(tmp_path / "0")
    above = {"dimensions": [1, 4, 5], "blockSize": [1, 3, 2], "dataType": "uint16", "compression": {"type": "raw"}}
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(NodeExistsError, match=r"0/attributes.json"):
        ours.open(spec(tmp_path, metadata=above), create=True, delete_existing=True).result()
    for zarr_format in ("n5", 2):
        keys = {} if zarr_format == "n5" else {"chunk_key_encoding": ("v2", "/")}
        with pytest.raises(NodeExistsError, match=r"0/attributes.json|below this path"):
            blizzarr.create_array(
                tmp_path, shape=(1, 4, 5), dtype="u2", zarr_format=zarr_format, overwrite=True, **keys
            )
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
