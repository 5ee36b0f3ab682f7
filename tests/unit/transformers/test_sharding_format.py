"""The binary format of a shard, its keys, and its entry in documents."""

from __future__ import annotations

import struct
from itertools import permutations
from typing import Any

import pytest

from blizzarr.errors import LimitError, MetadataError, ShardIndexError
from blizzarr.problems import Problems
from blizzarr.stores import MappingStore, MemoryStore, Store
from blizzarr.transformers import ArrayKeys, ShardingTransformer, decode_draft
from blizzarr.transformers.shard import Index, Place, encode

NOTHING = b"\xff" * 16


def pair(offset: int, length: int) -> bytes:
    return struct.pack("<QQ", offset, length)


def sharded(inner: Store, counts: tuple[int, ...], prefix: str = "data/foo/baz/", separator: str = "/") -> Any:
    return ShardingTransformer(counts).wrap(inner, ArrayKeys(prefix, "c", separator, "c", len(counts)))


# The entry in a document


def entry(**changes: Any) -> dict[str, Any]:
    item = {
        "extension": "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0",
        "type": "indexed",
        "configuration": {"chunks_per_shard": [2, 2]},
        **changes,
    }
    return {name: value for name, value in item.items() if value is not None}


def read(item: Any, rank: int | None = 2) -> Any:
    problems = Problems()
    found = decode_draft([item], rank, problems)
    problems.raise_any()
    return found


@pytest.mark.parametrize(
    "uri",
    [
        "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0",
        "https://purl.org/zarr/spec/extensions/storage-transformers/sharding/1.0",
        "https://purl.org/zarr/spec/storage_transformers/sharding/1.0",
    ],
)
def test_d144_c2_w15_the_entry(uri: str) -> None:
    """D-144, C-2, W-15: all three URIs are read, the one of the document's example is written."""
    (found,) = read(entry(extension=uri))
    assert found == ShardingTransformer((2, 2))
    assert found.to_draft() == entry()


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (entry(type="linear"), 'type: expected "indexed", found "linear"'),
        (entry(type=None), "type: expected a string, found nothing"),
        (entry(extension=None), "extension: expected the URI of a storage transformer, found nothing"),
        (entry(configuration=None), "chunks_per_shard: expected a list of integers, found nothing"),
        (entry(configuration=[2, 2]), "configuration: expected an object"),
        (entry(configuration={"chunks_per_shard": [2]}), "chunks_per_shard: expected 2 lengths"),
        (entry(configuration={"chunks_per_shard": [2, 0]}), r"chunks_per_shard\[1\]: expected an integer in \[1"),
        (entry(configuration={"chunks_per_shard": [2, 2.0]}), r"chunks_per_shard\[1\]"),
        (entry(configuration={"chunks_per_shard": [True, 2]}), r"chunks_per_shard\[0\]"),
        (entry(configuration={"chunks_per_shard": 2}), "chunks_per_shard: expected a list of integers, found 2"),
        (entry(must_understand=False), "must_understand: expected no such member"),
        ("sharding", "an object with extension and type"),
    ],
)
def test_d144_what_is_wrong_with_an_entry(item: Any, expected: str) -> None:
    """D-144: URI and type are required, the type is "indexed", and there is one integer for each dimension."""
    with pytest.raises(MetadataError, match=rf"storage_transformers\[0\].*{expected}"):
        read(item)


def test_d144_all_problems_at_once() -> None:
    """D-144: a document with several mistakes is told all of them."""
    with pytest.raises(MetadataError) as caught:
        read(entry(type="x", configuration={"chunks_per_shard": [0, 1, -1], "codec": 1}))
    assert len(caught.value.problems) == 4


def test_d144_an_index_of_more_than_a_gibibyte_is_refused() -> None:
    """An index is held in memory, so there is a cap, as for shards of codecs."""
    with pytest.raises(LimitError, match="index of at most"):
        read(entry(configuration={"chunks_per_shard": [2**20, 2**20]}))


@pytest.mark.parametrize("option", ["write_order", "compact", "max_gap"])
def test_d152_how_shards_are_written_is_nothing_for_documents(option: str) -> None:
    """D-152: no parameter of the write strategy in metadata: refused when read, never written."""
    with pytest.raises(MetadataError, match=f"{option}: expected no such option"):
        read(entry(configuration={"chunks_per_shard": [2, 2], option: 1}))
    assert set(ShardingTransformer((2, 2)).configuration()) == {"chunks_per_shard"}


# Keys


@pytest.mark.parametrize(
    ("prefix", "separator", "chunk", "shard"),
    [
        ("data/foo/baz/", "/", "data/foo/baz/c96/18", "data/foo/baz/c3/9"),
        ("data/foo/baz/", "/", "data/foo/baz/c127/19", "data/foo/baz/c3/9"),
        ("data/foo/baz/", ".", "data/foo/baz/c96.18", "data/foo/baz/c3.9"),
        ("data/root/foo/baz/", "/", "data/root/foo/baz/c97/18", "data/root/foo/baz/c3/9"),
        ("data/root/", ".", "data/root/c127.19", "data/root/c3.9"),
        ("data/", "/", "data/c96/19", "data/c3/9"),
        ("data/c1/", "/", "data/c1/c96/18", "data/c1/c3/9"),
    ],
)
def test_d146_keys_of_shards(prefix: str, separator: str, chunk: str, shard: str) -> None:
    """D-146, C-1: indices are divided and rounded down, the separator stays; with and without ``root``."""
    inner = MemoryStore()
    store = sharded(inner, (32, 2), prefix, separator)
    store.set(chunk, b"chunk")
    assert inner.list() == [shard]
    assert store.list() == [chunk]


def test_d146_the_chunks_of_one_shard() -> None:
    """D-146: all of [96, 18] to [127, 19] are in [3, 9], and their neighbours are not."""
    inner = MemoryStore()
    store = sharded(inner, (32, 2))
    store.set_many([(f"data/foo/baz/c{i}/{j}", b"1") for i in range(96, 128) for j in (18, 19)])
    assert inner.list() == ["data/foo/baz/c3/9"]
    store.set_many([(f"data/foo/baz/c{i}/{j}", b"1") for i, j in ((95, 18), (128, 19), (96, 17), (127, 20))])
    assert inner.list() == [f"data/foo/baz/c{shard}" for shard in ("2/9", "3/10", "3/8", "3/9", "4/9")]


@pytest.mark.parametrize(
    "key",
    [
        "zarr.json",
        "meta/foo/baz.array.json",
        "data/foo/baz",
        "data/foo/baz/c",
        "data/foo/baz/c1",
        "data/foo/baz/c1/2/3",
        "data/foo/baz/c01/2",
        "data/foo/baz/c1/x",
        "data/foo/baz/d1/2",
        "data/foo/bazz/c1/2",
        "data/c1/2",
    ],
)
def test_d145_other_keys_pass_through(key: str) -> None:
    """D-145: only the keys of this array's chunks are touched, in every operation."""
    inner = MappingStore({})
    store = sharded(inner, (2, 2))
    store.set(key, b"0123456789")
    assert inner.mapping == {key: b"0123456789"}
    assert store.get(key) == b"0123456789"
    assert [bytes(part) for part in store.get_ranges(key, [(2, 3), (-1, None)])] == [b"234", b"9"]
    assert [bytes(value) for value in store.get_many([key])] == [b"0123456789"]
    assert store.size(key) == 10
    assert store.replace(key, b"0123456789", b"new")
    store.set_partial_values([(key, 1, b"E")])
    assert store.list() == [key]
    assert inner.mapping == {key: b"nEw"}
    store.delete(key)
    assert inner.mapping == {}


def test_a_scalar_has_one_chunk_in_one_shard() -> None:
    """No dimensions: the shard has the key of the only chunk."""
    inner = MappingStore({})
    store = sharded(inner, ())
    store.set("data/foo/baz/c", b"x")
    assert inner.mapping == {"data/foo/baz/c": b"x" + pair(0, 1)}
    assert (store.get("data/foo/baz/c"), store.list()) == (b"x", ["data/foo/baz/c"])


# Bytes


def test_d147_d148_d149_chunks_then_an_index_in_c_order() -> None:
    """D-147, D-148, D-149: 16 bytes for each chunk, little endian, 2^64 - 1 twice for a missing one, no checksum."""
    assert encode((2, 2), {2: b"abc", 1: b"de"}) == b"deabc" + NOTHING + pair(0, 2) + pair(2, 3) + NOTHING


def test_d150_the_index_is_full() -> None:
    """D-150, C-8: it has all chunks of a shard, also those that no array has: 16 * 64 is 1,024."""
    inner = MemoryStore()
    sharded(inner, (32, 2)).set("data/foo/baz/c0/0", b"chunk")
    assert inner.size("data/foo/baz/c0/0") == 5 + 1024


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_d151_d153_any_order_with_gaps_is_read(order: tuple[int, ...]) -> None:
    """D-147, D-151, D-153: chunks lie in any order, between them there may be anything."""
    values = [b"first", b"second!", b"third"]
    body, index = b"junk", [NOTHING] * 4
    for entry_number in order:
        index[entry_number] = pair(len(body), len(values[entry_number]))
        body += values[entry_number] + b"\0" * entry_number
    inner = MappingStore({"data/foo/baz/c0/0": body + b"".join(index)})
    store = sharded(inner, (2, 2))
    assert [store.get(f"data/foo/baz/c{place}") for place in ("0/0", "0/1", "1/0", "1/1")] == [*values, None]


def test_d153_appended_shards_and_shards_changed_in_place_are_read() -> None:
    """D-153: what other strategies leave behind, like old versions of chunks and of the index, is a gap."""
    first = b"old" + pair(0, 3) + NOTHING
    appended = first + b"new" + b"two" + pair(len(first), 3) + pair(len(first) + 3, 3)
    store = sharded(MappingStore({"data/foo/baz/c0": appended}), (2,))
    assert [store.get("data/foo/baz/c0"), store.get("data/foo/baz/c1")] == [b"new", b"two"]
    in_place = b"shorter.." + b"two" + pair(0, 7) + pair(9, 3)
    store = sharded(MappingStore({"data/foo/baz/c0": in_place}), (2,))
    assert [store.get("data/foo/baz/c0"), store.get("data/foo/baz/c1")] == [b"shorter", b"two"]
    store.set("data/foo/baz/c1", b"2")
    assert store.store.mapping["data/foo/baz/c0"] == b"shorter2" + pair(0, 7) + pair(7, 1)


def test_c9_a_chunk_is_missing_when_both_numbers_say_so() -> None:
    """C-9: the document has it the wrong way round; both 2^64 - 1 is missing, everything else is there."""
    index = Index(pair(0, 0) + NOTHING, Place("c0", (0,), (2,)))
    assert [index.get(0), index.get(1)] == [(0, 0), None]


def test_w15_a_shard_that_zarr_python_wrote() -> None:
    """W-15: 8x8 of int32, chunks 2x2, 2x2 of them in a shard; the newest chunk lies first."""
    six, five = (6).to_bytes(4, "little") * 4, (5).to_bytes(4, "little") * 4
    written = six + five + NOTHING + pair(0, 16) + pair(16, 16) + NOTHING
    store = sharded(MappingStore({"data/root/a/c0/0": written}), (2, 2), "data/root/a/")
    assert store.list() == ["data/root/a/c0/1", "data/root/a/c1/0"]
    assert [store.get("data/root/a/c0/1"), store.get("data/root/a/c1/0")] == [six, five]
    assert store.get("data/root/a/c0/0") is None


def test_w15_a_chunk_that_zarr_python_deleted() -> None:
    """W-15: it patches the index alone; the bytes stay as a gap, which the next change of the shard closes."""
    patched = b"one" + b"two" + pair(0, 3) + NOTHING
    inner = MappingStore({"data/root/a/c0": patched})
    store = sharded(inner, (2,), "data/root/a/")
    assert [store.get("data/root/a/c0"), store.get("data/root/a/c1")] == [b"one", None]
    store.set("data/root/a/c1", b"2")
    assert inner.mapping["data/root/a/c0"] == b"one2" + pair(0, 3) + pair(3, 1)


# Indices that cannot be


HOSTILE = {
    "half missing, offset": (pair(2**64 - 1, 3) + pair(0, 3), "0", "is half missing"),
    "half missing, length": (pair(0, 3) + pair(3, 2**64 - 1), "1", "is half missing"),
    "overflow": (pair(2**63, 3) + pair(0, 3), "0", r"reaches beyond 2\^63 bytes"),
    "overflow of a sum": (pair(0, 3) + pair(2**63 - 2, 2**63 - 2), "1", r"reaches beyond 2\^63 bytes"),
    "no room for the index": (pair(0, 3) + pair(2**63 - 32, 1), "1", r"reaches beyond 2\^63 bytes, with the index"),
    "wraps around": (pair(2**64 - 2, 4) + pair(0, 3), "0", r"reaches beyond 2\^63 bytes"),
    "offset beyond the end": (pair(0, 3) + pair(500, 1), "1", "reaches beyond the 6 bytes of chunks"),
    "length beyond the end": (pair(0, 3) + pair(3, 2**40), "1", "reaches beyond the 6 bytes of chunks"),
    "into the index": (pair(0, 3) + pair(3, 4), "1", "reaches beyond the 6 bytes of chunks"),
    "overlap": (pair(0, 4) + pair(3, 3), "1", "overlaps another one"),
    "within": (pair(0, 6) + pair(2, 2), "1", "overlaps another one"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_indices_are_errors_that_name_shard_and_chunk(case: str) -> None:
    """Offsets and lengths are checked before they are used, whatever is asked for."""
    index, inner_chunk, reason = HOSTILE[case]
    inner = MappingStore({"data/foo/baz/c7": b"onetwo" + index})
    store = sharded(inner, (2,))
    asked = f"data/foo/baz/c{14 + int(inner_chunk)}"
    operations = [
        lambda: store.get(asked),
        lambda: store.get_ranges(asked, [(0, 1)]),
        lambda: store.set("data/foo/baz/c14", b"new"),
        lambda: store.erase_values([asked]),
        lambda: store.set_partial_values([(asked, 0, b"x")]),
    ]
    if "bytes of chunks" not in reason:
        operations += [lambda: store.list(), lambda: store.list_dir("data/foo/baz/"), lambda: store.size(asked)]
    for operation in operations:
        with pytest.raises(ShardIndexError, match=reason) as caught:
            operation()
        assert caught.value.key == "data/foo/baz/c7"
        assert caught.value.chunk == (7, int(inner_chunk))
        assert str(caught.value).startswith(
            f"cannot read inner chunk {inner_chunk} of chunk data/foo/baz/c7: sharding:"
        )
    assert inner.mapping["data/foo/baz/c7"] == b"onetwo" + index


@pytest.mark.parametrize("value", [b"", b"x", b"x" * 31])
def test_a_shard_that_is_shorter_than_its_index(value: bytes) -> None:
    """An error that names the shard, never a missing chunk."""
    store = sharded(MappingStore({"data/foo/baz/c7": value}), (2,))
    for operation in (
        lambda: store.get("data/foo/baz/c14"),
        lambda: store.list(),
        lambda: store.set("data/foo/baz/c14", b"1"),
    ):
        with pytest.raises(ShardIndexError, match=f"index of 32 bytes, found {len(value)} bytes") as caught:
            operation()
        assert caught.value.key == "data/foo/baz/c7"


def test_chunks_that_share_all_of_their_bytes_are_read_and_do_not_multiply() -> None:
    """Equal chunks may be stored once; but not so many that a small shard becomes a large one when it is changed."""
    shared = b"abcdef" + pair(0, 6) * 3 + NOTHING
    store = sharded(MappingStore({"data/foo/baz/c0": shared}), (4,))
    assert [store.get(f"data/foo/baz/c{number}") for number in range(4)] == [b"abcdef"] * 3 + [None]
    store.set("data/foo/baz/c3", b"!")
    assert [store.get(f"data/foo/baz/c{number}") for number in range(4)] == [b"abcdef"] * 3 + [b"!"]

    bomb = b"x" * 100_000 + pair(0, 100_000) * 999 + NOTHING
    store = sharded(MappingStore({"data/foo/baz/c0": bomb}), (1000,))
    assert len(store.list()) == 999
    with pytest.raises(ShardIndexError, match="many share bytes; write the shard as a whole"):
        store.set("data/foo/baz/c999", b"!")


def test_empty_chunks_are_there() -> None:
    """No codec makes them, but a key may hold no bytes, which is not the same as no key."""
    store = sharded(MemoryStore(), (4,))
    store.set("data/foo/baz/c1", b"")
    store.set("data/foo/baz/c2", b"")
    store.set("data/foo/baz/c3", b"x")
    assert store.list() == [f"data/foo/baz/c{number}" for number in (1, 2, 3)]
    assert [store.get(f"data/foo/baz/c{number}") for number in range(4)] == [None, b"", b"", b"x"]
