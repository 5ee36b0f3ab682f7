"""The draft's abstract store interface over our stores: every operation, its rules for keys, and what a store lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blizzarr.errors import PathError, UnsupportedOperationError
from blizzarr.stores import (
    ForeignStore,
    Listing,
    LocalStore,
    MappingStore,
    MemoryStore,
    Store,
    ZipStore,
    read_only,
)
from blizzarr.transformers import ArrayKeys, ShardingTransformer, StoreInterface

MAKERS: dict[str, Callable[[Path], Store]] = {
    "local": lambda path: LocalStore(path / "root"),
    "memory": lambda path: MemoryStore(),
    "mapping": lambda path: MappingStore({}),
    "sharded": lambda path: ShardingTransformer((2, 2)).wrap(MemoryStore(), ArrayKeys("a/", "c", "/", "c", 2)),
}


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> StoreInterface:
    return StoreInterface(MAKERS[request.param](tmp_path))


def filled(store: StoreInterface, *keys: str) -> StoreInterface:
    for key in keys:
        store.set(key, key.encode())
    return store


@pytest.mark.parametrize("key", ["a", "a/b", "A.b-c_d/0", "data/foo/baz/c1/0", "...a"])
def test_d85_keys_are_letters_digits_and_a_few_signs(store: StoreInterface, key: str) -> None:
    """D-85: these may be used, and upper and lower case differ."""
    store.set(key, b"1")
    assert store.get(key) == b"1"
    assert store.get(key.swapcase()) is None


@pytest.mark.parametrize("key", ["", "a/", "/", "a b", "é", "a\\b", "a:b", "a\n", "../a", "a//b"])
def test_d85_other_keys_are_refused_by_every_operation(store: StoreInterface, key: str) -> None:
    """D-85: other characters and a slash at the end; and what leads out of the store."""
    operations: list[Callable[[], object]] = [
        lambda: store.get(key),
        lambda: store.get_partial_values([("ok", (0, None)), (key, (0, None))]),
        lambda: store.set(key, b""),
        lambda: store.set_partial_values([("ok", 0, b"1"), (key, 0, b"")]),
        lambda: store.erase(key),
        lambda: store.erase_values(["ok", key]),
    ]
    for operation in operations:
        with pytest.raises(PathError):
            operation()
    assert store.list() == []


def test_d85_keys_are_case_sensitive(store: StoreInterface) -> None:
    """D-85: "foo" and "FOO" are two."""
    store.set("foo", b"a")
    store.set("FOO", b"b")
    assert (store.get("foo"), store.get("FOO")) == (b"a", b"b")


def test_d86_d87_values_are_bytes_and_each_key_has_one(store: StoreInterface) -> None:
    """D-86, D-87: any bytes, of which the last ones count."""
    store.set("a/c0/0", bytes(range(256)))
    store.set("a/c0/0", b"\0")
    assert store.get("a/c0/0") == b"\0"
    assert store.list() == ["a/c0/0"]


def test_d88_ranges(store: StoreInterface) -> None:
    """D-88: start and length; a length of none is the rest, and [0, none] is everything."""
    for key in ("a/b", "a/c0/0"):
        store.set(key, b"0123456789")
        parts = store.get_partial_values([(key, part) for part in ((0, None), (3, 4), (7, None), (8, 5), (2, 0))])
        assert [bytes(part or b"") for part in parts] == [b"0123456789", b"3456", b"789", b"89", b""]


@pytest.mark.parametrize("prefix", ["a", "a/b", "a b/", "é/", "//", "a//"])
def test_d89_d100_prefixes_end_with_a_slash(store: StoreInterface, prefix: str) -> None:
    """D-89, D-100: what list_prefix does with others is not defined, so they are refused."""
    for operation in (store.list_prefix, store.list_dir, store.erase_prefix):
        with pytest.raises(PathError):
            operation(prefix)


def test_d90_get(store: StoreInterface) -> None:
    """D-90: the value, or none."""
    filled(store, "a/b")
    assert store.get("a/b") == b"a/b"
    assert store.get("a/c") is None


def test_d91_get_partial_values(store: StoreInterface) -> None:
    """D-91: results in the order of the requests, none for a missing key; keys may come more than once."""
    filled(store, "a/b", "a/c0/1", "a/c1/1")
    asked = [("a/c1/1", (2, 1)), ("x", (0, None)), ("a/b", (0, None)), ("a/c1/1", (0, 1)), ("a/c0/0", (0, 1))]
    found = store.get_partial_values(asked)
    assert [part if part is None else bytes(part) for part in found] == [b"c", None, b"a/b", b"a", None]
    assert store.get_partial_values([]) == []


def test_d92_set(store: StoreInterface) -> None:
    """D-92: the value is there, and is another one afterwards."""
    filled(store, "a/b")
    store.set("a/b", b"new")
    assert store.get("a/b") == b"new"


def test_d93_set_partial_values(store: StoreInterface) -> None:
    """D-93: bytes in the middle, behind the end, and of a key that is not there yet; the rest stays."""
    store.set("a/b", b"0123456789")
    store.set("a/c0/0", b"abc")
    store.set_partial_values([("a/b", 8, b"XYZ"), ("a/c0/0", 1, b"B"), ("a/c1/1", 0, b"new"), ("a/b", 0, b"A")])
    assert [store.get(key) for key in ("a/b", "a/c0/0", "a/c1/1")] == [b"A1234567XYZ", b"aBc", b"new"]
    store.set_partial_values([("a/c1/1", 5, b"!")])
    assert store.get("a/c1/1") == b"new\0\0!"


@pytest.mark.parametrize("key", ["a/b", "a/c0/0"])
def test_d93_ranges_of_one_key_may_not_overlap(store: StoreInterface, key: str) -> None:
    """D-93: refused before anything changes; ranges that touch, and ranges of other keys, are fine."""
    store.set(key, b"0123456789")
    with pytest.raises(ValueError, match=r"do not overlap, found \[3, 6\) and one from 5 on"):
        store.set_partial_values([(key, 5, b"xx"), ("a/d", 0, b"1"), (key, 3, b"yyy")])
    assert store.get(key) == b"0123456789"
    assert store.get("a/d") is None
    with pytest.raises(ValueError, match="at 0 or later"):
        store.set_partial_values([(key, -1, b"x")])
    store.set_partial_values([(key, 3, b"yy"), (key, 5, b"xx"), ("a/d", 3, b"1")])
    assert store.get(key) == b"012yyxx789"


def test_d94_erase(store: StoreInterface) -> None:
    """D-94: the value is gone and its neighbours are not."""
    filled(store, "a/b", "a/c0/0", "a/c0/1")
    store.erase("a/b")
    store.erase("a/c0/0")
    assert store.list() == ["a/c0/1"]


def test_d95_erase_values(store: StoreInterface) -> None:
    """D-95: several at once; missing ones are fine."""
    filled(store, "a/b", "a/c0/0", "a/c0/1", "b")
    store.erase_values(["a/b", "a/c0/1", "a/c1/1", "nothing"])
    assert store.list() == ["a/c0/0", "b"]


def test_d96_erase_prefix(store: StoreInterface) -> None:
    """D-96: all keys under the prefix, not those that only begin alike."""
    filled(store, "a/b", "a/c0/0", "ab", "b/a/c")
    store.erase_prefix("a/")
    assert store.list() == ["ab", "b/a/c"]
    store.erase_prefix("nothing/")
    assert store.list() == ["ab", "b/a/c"]


def test_d97_c11_list(store: StoreInterface) -> None:
    """D-97, C-11: all keys; the draft's ``/`` for everything is understood, though no key begins with it."""
    filled(store, "a/b", "a/c0/1", "z")
    assert store.list() == store.list_prefix("/") == ["a/b", "a/c0/1", "z"]


def test_d98_list_prefix(store: StoreInterface) -> None:
    """D-98: the example of the document."""
    filled(store, "a/b", "a/c/d", "e/f/g")
    assert store.list_prefix("a/") == ["a/b", "a/c/d"]


def test_d99_list_dir(store: StoreInterface) -> None:
    """D-99: the example of the document."""
    filled(store, "a/b", "a/c", "a/d/e", "a/f/g")
    assert store.list_dir("a/") == Listing(("a/b", "a/c"), ("a/d/", "a/f/"))
    assert store.list_dir("b/") == Listing((), ())
    assert store.list_dir("/") == Listing((), ("a/",))


def test_d102_what_a_store_cannot_do_is_said(tmp_path: Path) -> None:
    """D-102: a zip file cannot erase and says so before and after; a store need not be listable or writable."""
    packed = StoreInterface(ZipStore(tmp_path / "a.zip", mode="w"))
    packed.set("a", b"1")
    assert (packed.readable, packed.writable, packed.erasable, packed.listable) == (True, True, False, True)
    for operation in (lambda: packed.erase("a"), lambda: packed.erase_values(["a"]), lambda: packed.erase_prefix("a/")):
        with pytest.raises(UnsupportedOperationError, match="cannot delete"):
            operation()
    assert packed.get("a") == b"1"

    class Letters:
        def get(self, key: str) -> bytes | None:
            return key.encode() if key.isalpha() else None

    letters = StoreInterface(ForeignStore(Letters()))
    assert (letters.readable, letters.writable, letters.erasable, letters.listable) == (True, False, False, False)
    assert letters.get_partial_values([("abc", (1, 1)), ("1", (0, None))]) == [b"b", None]
    with pytest.raises(UnsupportedOperationError, match="'list'"):
        letters.list()

    closed = StoreInterface(read_only(MemoryStore()))
    assert (closed.writable, closed.erasable) == (False, False)


def test_d126_a_transformer_and_a_store_can_stand_for_each_other(store: StoreInterface) -> None:
    """D-126: the same interface on both sides, so the interface over either is a store's."""
    assert isinstance(store.store, Store)
    assert str(store) == str(store.store)
    assert repr(store.store) in repr(store)


def test_d101_stores_without_partial_access_have_it_here() -> None:
    """D-101: a store with nothing but get, set, delete and list has all operations."""

    class Few:
        def __init__(self) -> None:
            self.values: dict[str, bytes] = {}

        def get(self, key: str) -> Any:
            return self.values.get(key)

        def get_ranges(self, key: str, ranges: Any) -> Any:
            value = self.values.get(key)
            return None if value is None else [value[start:][:length] for start, length in ranges]

        def set(self, key: str, value: bytes) -> None:
            self.values[key] = bytes(value)

        def delete(self, key: str) -> None:
            self.values.pop(key, None)

        def list(self, prefix: str = "") -> Any:
            return [key for key in self.values if key.startswith(prefix)]

        def list_dir(self, prefix: str = "") -> Any:
            raise AssertionError

    store = filled(StoreInterface(Few()), "a/b", "a/c", "d")
    store.set_partial_values([("a/b", 1, b"xx")])
    assert store.get_partial_values([("a/b", (0, 2)), ("e", (0, 2))]) == [b"ax", None]
    store.erase_values(["a/c"])
    assert store.list_prefix("a/") == ["a/b"]
    store.erase_prefix("a/")
    assert store.list() == ["d"]
