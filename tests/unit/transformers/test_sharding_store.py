"""Every operation of the sharding transformer, and what it asks of the store underneath."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from blizzarr.errors import ConflictError, UnsupportedOperationError
from blizzarr.stores import ByteRange, Listing, MappingStore, MemoryStore, StoreWrapper, Value
from blizzarr.transformers import ArrayKeys, ShardingTransformer, StoreInterface, wrap
from blizzarr.transformers.sharded import ShardedStore

PREFIX = "data/foo/baz/"


class Watched(StoreWrapper):
    """Writes down what is asked of a store; takes many requests at once, as the draft's stores do."""

    def __init__(self) -> None:
        super().__init__(MappingStore({}))
        self.calls: list[str] = []

    def get(self, key: str) -> Value | None:
        self.calls.append(f"get {key}")
        return super().get(key)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> list[Value | None]:
        asked = list(key_ranges)
        self.calls.append(f"get_partial_values of {len({key for key, _ in asked})}")
        found: list[Value | None] = []
        for key, part in asked:
            parts = self.store.get_ranges(key, [part])
            found.append(None if parts is None else parts[0])
        return found

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> list[Value] | None:
        raise AssertionError("expected get_partial_values to be used")

    def set(self, key: str, value: Value) -> None:
        self.calls.append(f"set {key}")
        super().set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        self.calls.append(f"replace {key}")
        return super().replace(key, expected, value)

    def delete(self, key: str) -> object:
        self.calls.append(f"delete {key}")
        return super().delete(key)

    def delete_prefix(self, prefix: str) -> None:
        self.calls.append(f"delete_prefix {prefix}")
        super().delete_prefix(prefix)


def over(inner: Any, *counts: int, separator: str = "/") -> ShardedStore:
    return ShardingTransformer(counts).wrap(inner, ArrayKeys(PREFIX, "c", separator, "c", len(counts)))


def keys(*names: str) -> list[str]:
    return [PREFIX + name for name in names]


@pytest.fixture
def watched() -> Watched:
    """A store with the chunks 0/0, 0/1, 1/1, 2/3 and 9/9 in shards of 2 x 2."""
    inner = Watched()
    over(inner, 2, 2).set_many([(key, key.encode()) for key in keys("c0/0", "c0/1", "c1/1", "c2/3", "c9/9")])
    inner.calls.clear()
    return inner


def test_d90_get_of_one_chunk(watched: Watched) -> None:
    """A chunk that is there, one that is not, and one whose shard is not."""
    store = over(watched, 2, 2)
    assert [store.get(key) for key in keys("c1/1", "c1/0", "c6/6")] == [b"data/foo/baz/c1/1", None, None]


def test_d154_get_partial_values_is_two_requests(watched: Watched) -> None:
    """D-154: one for the indices of all shards, one for all parts of chunks."""
    wanted = [(key, (9, None)) for key in keys("c2/3", "c0/0", "c1/0", "c6/6", "c1/1")]
    found = StoreInterface(over(watched, 2, 2)).get_partial_values([*wanted, ("zarr.json", (0, None))])
    assert [part if part is None else bytes(part) for part in found] == [
        b"baz/c2/3",
        b"baz/c0/0",
        None,
        None,
        b"baz/c1/1",
        None,
    ]
    assert watched.calls == ["get_partial_values of 3", "get_partial_values of 3"]


def test_d88_parts_of_chunks_are_cut_to_the_chunk(watched: Watched) -> None:
    """D-88: what lies behind a chunk in its shard is another chunk, and none of its bytes."""
    store = over(watched, 2, 2)
    parts = store.get_ranges(PREFIX + "c0/0", [(15, 10), (17, None), (50, 1), (-2, None), (-99, 3), (0, 0)])
    assert parts is not None
    assert [bytes(part) for part in parts] == [b"/0", b"", b"", b"/0", b"dat", b""]
    assert store.get_ranges(PREFIX + "c1/0", []) is None
    assert store.get_ranges(PREFIX + "c0/0", []) == []


def test_reading_while_a_shard_is_replaced() -> None:
    """Index and chunks are of one version of the shard, however often it changes in between."""

    class Changing(MappingStore):
        asked = 0

        def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> list[Value] | None:
            found = super().get_ranges(key, ranges)
            self.asked += 1
            number = self.asked
            over(MappingStore(self.mapping), 2).set_many(
                [(PREFIX + "c0", b"a" * number), (PREFIX + "c1", b"b" * number)]
            )
            return found

    inner = Changing({})
    store = over(inner, 2)
    store.set_many([(PREFIX + "c0", b"a"), (PREFIX + "c1", b"b")])
    found = [bytes(value or b"") for value in store.get_many(keys("c0", "c1"))]
    assert len(found[0]) == len(found[1])
    assert set(found[0]) == {ord("a")}
    assert set(found[1]) == {ord("b")}


def test_d155_a_whole_shard_is_written_without_reading(watched: Watched) -> None:
    """D-155: all chunks are given, so the old ones do not matter."""
    over(watched, 2, 2).set_many([(key, b"new") for key in keys("c0/0", "c0/1", "c1/0", "c1/1")])
    assert watched.calls == [f"set {PREFIX}c0/0"]


def test_d155_a_part_of_a_shard_is_merged(watched: Watched) -> None:
    """D-155: the other chunks stay, and each shard is read once and replaced once."""
    store = over(watched, 2, 2)
    store.set_many([(key, b"new") for key in keys("c0/0", "c1/0", "c3/3")])
    assert watched.calls == [
        f"get {PREFIX}c0/0", f"replace {PREFIX}c0/0", f"get {PREFIX}c1/1", f"replace {PREFIX}c1/1",
    ]  # fmt: skip
    assert store.get(PREFIX + "c0/1") == b"data/foo/baz/c0/1"
    assert store.get(PREFIX + "c1/0") == b"new"


def test_d93_d155_set_partial_values(watched: Watched) -> None:
    """D-93, D-155: bytes within chunks; several chunks of a shard are one change of it."""
    store = over(watched, 2, 2)
    StoreInterface(store).set_partial_values(
        [(PREFIX + "c0/0", 9, b"BAZ"), (PREFIX + "c1/0", 2, b"xy"), (PREFIX + "c0/0", 0, b"D"), ("other", 1, b"z")]
    )
    assert store.get(PREFIX + "c0/0") == b"Data/foo/BAZ/c0/0"
    assert store.get(PREFIX + "c1/0") == b"\0\0xy"
    assert store.get("other") == b"\0z"
    assert watched.calls[:4] == ["get other", "replace other", f"get {PREFIX}c0/0", f"replace {PREFIX}c0/0"]


def test_d156_erasing_a_whole_shard(watched: Watched) -> None:
    """D-156: all chunks of a shard are named, so it goes, unread."""
    over(watched, 2, 2).erase_values(keys("c1/1", "c0/0", "c1/0", "c0/1"))
    assert watched.calls == [f"delete {PREFIX}c0/0"]


def test_d156_erasing_chunks_of_a_shard(watched: Watched) -> None:
    """D-156: the others stay; with the last one the shard goes."""
    store = over(watched, 2, 2)
    store.erase_values(keys("c0/0", "c1/0"))
    assert watched.calls == [f"get {PREFIX}c0/0", f"replace {PREFIX}c0/0"]
    assert store.list() == keys("c0/1", "c1/1", "c2/3", "c9/9")
    watched.calls.clear()
    assert [store.delete(key) for key in keys("c0/1", "c0/1", "c1/1", "c6/6")] == [True, False, True, False]
    assert watched.calls[-2:] == [f"delete {PREFIX}c0/0", f"get {PREFIX}c3/3"]
    assert store.list() == keys("c2/3", "c9/9")


def test_d157_erase_prefix_of_everything(watched: Watched) -> None:
    """D-157: a prefix above the chunks takes whole shards, which are not read."""
    StoreInterface(over(watched, 2, 2)).erase_prefix("data/foo/")
    assert watched.calls == ["delete_prefix data/foo/"]
    assert watched.store.list() == []


def test_d157_erase_prefix_of_a_row_of_chunks(watched: Watched) -> None:
    """D-157: a prefix inside the chunks' keys takes parts of shards, and shards of which nothing is left."""
    store = over(watched, 2, 2)
    store.delete_prefix(PREFIX + "c0/")
    assert store.list() == keys("c1/1", "c2/3", "c9/9")
    store.delete_prefix(PREFIX + "c2")
    assert store.list() == keys("c1/1", "c9/9")
    assert watched.store.list() == keys("c0/0", "c4/4")


def test_d157_erase_prefix_where_shards_are_one_chunk_wide(watched: Watched) -> None:
    """D-157: a shard of which nothing stays is not read."""
    inner = Watched()
    store = over(inner, 1, 2)
    store.set_many([(key, b"1") for key in keys("c0/0", "c0/1", "c0/2", "c1/0")])
    inner.calls.clear()
    store.delete_prefix(PREFIX + "c0/")
    assert f"delete {PREFIX}c0/0" in inner.calls
    assert f"get {PREFIX}c0/0" not in inner.calls
    assert store.list() == keys("c1/0")


def test_d158_list_and_list_prefix(watched: Watched) -> None:
    """D-158: the original keys, from the indices, which are asked for at once."""
    store = over(watched, 2, 2)
    watched.store.set("data/other", b"1")
    assert store.list() == [*keys("c0/0", "c0/1", "c1/1", "c2/3", "c9/9"), "data/other"]
    assert watched.calls == ["get_partial_values of 3"]
    assert store.list(PREFIX + "c0/") == keys("c0/0", "c0/1")
    assert store.list(PREFIX + "c1/") == keys("c1/1")
    assert store.list(PREFIX + "c3/") == []
    assert store.list("data/") == store.list()
    assert store.list("meta/") == []


def test_d158_list_dir(watched: Watched) -> None:
    """D-158: keys that are there, and prefixes of such keys."""
    store = over(watched, 2, 2)
    assert store.list_dir("data/") == Listing((), ("data/foo/",))
    found = store.list_dir(PREFIX)
    assert found.keys == ()
    assert found.prefixes == tuple(PREFIX + f"c{row}/" for row in (0, 1, 2, 9))
    assert store.list_dir(PREFIX + "c1/") == Listing((PREFIX + "c1/1",), ())
    assert store.list_dir(PREFIX + "c3/") == Listing((), ())


def test_d158_list_dir_in_three_dimensions() -> None:
    """D-158: each level of a prefix is divided by its own number of chunks."""
    inner = MemoryStore()
    store = over(inner, 2, 3, 1)
    store.set_many([(key, b"1") for key in keys("c5/7/0", "c5/8/2", "c4/6/0")])
    assert inner.list() == keys("c2/2/0", "c2/2/2")
    assert store.list_dir(PREFIX + "c5/") == Listing((), tuple(PREFIX + f"c5/{row}/" for row in (7, 8)))
    assert store.list_dir(PREFIX + "c5/8/") == Listing((PREFIX + "c5/8/2",), ())
    assert store.list_dir(PREFIX + "c5/6/") == Listing((), ())
    assert store.list(PREFIX + "c5/") == keys("c5/7/0", "c5/8/2")


def test_d158_keys_with_dots() -> None:
    """D-158: with ``.`` as separator all chunks are directly under the array's prefix."""
    store = over(MemoryStore(), 2, 2, separator=".")
    store.set_many([(key, b"1") for key in keys("c0.0", "c3.1")])
    assert store.list_dir(PREFIX) == Listing(tuple(keys("c0.0", "c3.1")), ())


def test_d158_keys_of_the_final_v3() -> None:
    """A head with a slash is a prefix of its own."""
    store = ShardingTransformer((2, 2)).wrap(MemoryStore(), ArrayKeys("foo/", "c/", "/", "c", 2))
    store.set("foo/c/3/1", b"1")
    store.set("foo/zarr.json", b"{}")
    assert store.list_dir("foo/") == Listing(("foo/zarr.json",), ("foo/c/",))
    assert store.list_dir("foo/c/") == Listing((), ("foo/c/3/",))
    assert store.list("foo/c/3") == ["foo/c/3/1"]
    assert store.store.list() == ["foo/c/1/0", "foo/zarr.json"]


def test_d128_stacked() -> None:
    """D-128: the first listed is nearest to the array: its shards are the chunks of the next one."""
    inner = MemoryStore()
    array = ArrayKeys(PREFIX, "c", "/", "c", 2)
    near, far = ShardingTransformer((2, 1)), ShardingTransformer((3, 2))
    store = wrap(inner, [near, far], array)
    wanted = {PREFIX + f"c{row}/{column}": b"%d.%d" % (row, column) for row in range(7) for column in range(3)}
    for key, value in wanted.items():
        store.set(key, value)
    assert inner.list() == keys("c0/0", "c0/1", "c1/0", "c1/1")
    assert {key: bytes(store.get(key) or b"") for key in store.list()} == wanted
    # A chunk of the outer shard is a shard of the inner ones, in which chunk 1/0 is the second.
    middle = far.wrap(inner, array)
    assert near.wrap(middle, array).get(PREFIX + "c1/0") == b"1.0"
    assert bytes(middle.get(PREFIX + "c0/0") or b"").startswith(b"0.01.0")
    store.delete_prefix(PREFIX + "c6/")
    assert inner.list() == keys("c0/0", "c0/1")
    assert store.list_dir(PREFIX + "c5/").keys == tuple(keys("c5/0", "c5/1", "c5/2"))
    assert store.size(PREFIX + "c5/2") == 3


def test_a_store_that_cannot_delete_says_so() -> None:
    """D-102: chunks of a shard can no more be erased than shards."""
    inner = MappingStore({})
    inner.supports_delete = False
    store = over(inner, 2, 2)
    store.set(PREFIX + "c0/0", b"1")
    assert not store.supports_delete
    for erase in (lambda: store.delete(PREFIX + "c0/0"), lambda: store.erase_values(keys("c0/0"))):
        with pytest.raises(UnsupportedOperationError):
            erase()
    assert store.get(PREFIX + "c0/0") == b"1"


def test_somebody_who_never_stops_changing_a_shard_is_an_error() -> None:
    """The change is not made at all rather than over somebody else's."""

    class Restless(MappingStore):
        def replace(self, key: str, expected: Value | None, value: Value) -> bool:
            return False

    with pytest.raises(ConflictError, match=r"data/foo/baz/c0/0.*100 times"):
        over(Restless({}), 2, 2).set(PREFIX + "c0/0", b"1")
