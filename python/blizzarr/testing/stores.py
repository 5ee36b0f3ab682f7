"""The contract of stores as tests: inherit `StoreContract`, define `make`, and let pytest run it.

::

    class TestShelf(StoreContract):
        def make(self, tmp_path):
            return Shelf()
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from blizzarr.errors import PathError, ReadOnlyError, StoreError, UnsupportedOperationError
from blizzarr.stores import Listing, Store, read_only

BAD_KEYS = ("", "/a", "a/", "a//b", ".", "..", "a/.", "a/../b", "../a", "a\0b", "a\\b", "\\\\host\\x", "//x")
"""Keys that every store refuses, because they are empty, absolute, or lead out of the store."""


class StoreContract:
    """Tests of everything that `blizzarr.stores.Store` promises; derive a test class from it, with a `make` of your
    own."""

    def make(self, tmp_path: Path) -> Store:
        """Return a new, empty, writable store."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, tmp_path: Path) -> Any:
        """Yield the store of one test, and close it afterwards."""
        store = self.make(tmp_path)
        yield store
        if hasattr(store, "close"):
            store.close()

    def deletes(self, store: Store) -> bool:
        """Return whether this store can delete."""
        return bool(getattr(store, "supports_delete", True))

    def test_is_a_store(self, store: Store) -> None:
        """The store has all methods of the protocol."""
        assert isinstance(store, Store)

    def test_get_what_was_set(self, store: Store) -> None:
        """D-90, D-92: a value comes back as it was; a missing key is None."""
        values = {"zarr.json": b"{}", "a/b/c/0/1": bytes(range(256)), "empty": b"", "a/big": b"x" * 3_000_000}
        for key, value in values.items():
            store.set(key, value)
        for key, value in values.items():
            stored = store.get(key)
            assert stored is not None
            assert bytes(stored) == value
        assert store.get("a/nothing") is None
        assert store.get("no/such/place") is None

    def test_a_prefix_is_no_value(self, store: Store) -> None:
        """`a` is missing when only `a/b` is there, or an error, but never a value."""
        store.set("a/b", b"value")
        assert store.get("ab") is None
        for key in ("a", "a/b/c"):
            # A local directory has a file in one place and a directory in the other, and may raise for either.
            with suppress(StoreError):
                assert store.get(key) is None

    def test_set_replaces(self, store: Store) -> None:
        """D-87: one value per key, also when the new one is shorter than the old one."""
        store.set("a", b"a long value")
        store.set("a", b"short")
        assert bytes(store.get("a") or b"") == b"short"
        assert list(store.list()) == ["a"]

    def test_set_takes_any_bytes_and_copies_them(self, store: Store) -> None:
        """The store copies the value: changing the buffer afterwards changes nothing stored."""
        buffer = bytearray(b"value")
        store.set("array", buffer)
        store.set("view", memoryview(buffer)[1:3])
        buffer[:] = b"VALUE"
        assert bytes(store.get("array") or b"") == b"value"
        assert bytes(store.get("view") or b"") == b"al"

    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            ([(0, 3)], [b"012"]),
            ([(2, None)], [b"23456789"]),
            ([(-4, None)], [b"6789"]),
            ([(0, None), (5, 1), (5, 1), (0, 0)], [b"0123456789", b"5", b"5", b""]),
            ([(8, 5), (10, 1), (20, None), (-99, None)], [b"89", b"", b"", b"0123456789"]),
            ([], []),
        ],
    )
    def test_get_ranges(self, store: Store, wanted: list[tuple[int, int | None]], expected: list[bytes]) -> None:
        """D-88, D-91: parts in the order asked for, cut to what is there."""
        store.set("a", b"0123456789")
        parts = store.get_ranges("a", wanted)
        assert parts is not None
        assert [bytes(part) for part in parts] == expected

    def test_get_ranges_of_nothing(self, store: Store) -> None:
        """D-91: None when there is no value, not parts of nothing."""
        assert store.get_ranges("a", [(0, 3)]) is None

    def test_delete(self, store: Store) -> None:
        """D-94: the value is gone, its neighbours are not; deleting what is missing is fine."""
        store.set("a/b", b"value")
        store.set("a/c", b"other")
        store.delete("a/nothing")
        if not self.deletes(store):
            with pytest.raises(UnsupportedOperationError):
                store.delete("a/b")
            assert bytes(store.get("a/b") or b"") == b"value"
            return
        store.delete("a/b")
        store.delete("a/b")
        assert store.get("a/b") is None
        assert bytes(store.get("a/c") or b"") == b"other"
        assert list(store.list()) == ["a/c"]

    def test_delete_prefix(self, store: Store) -> None:
        """D-96: everything under `a/` is removed, and `ab` stays."""
        if not self.deletes(store) or not hasattr(store, "delete_prefix"):
            pytest.skip("this store has no delete_prefix")
        for key in ("a/b", "a/c/d", "ab", "b/a/c"):
            store.set(key, b"value")
        store.delete_prefix("a")
        assert sorted(store.list()) == ["ab", "b/a/c"]
        store.delete_prefix("nothing/here/")
        store.delete_prefix("")
        assert list(store.list()) == []

    def test_list(self, store: Store) -> None:
        """D-97, D-98: all keys, or those under a prefix, whose final slash may be left out."""
        for key in ("a/b", "a/c/d", "ab", "e/f/g"):
            store.set(key, b"value")
        assert sorted(store.list()) == ["a/b", "a/c/d", "ab", "e/f/g"]
        assert sorted(store.list("a/")) == sorted(store.list("a")) == ["a/b", "a/c/d"]
        assert list(store.list("nothing/")) == []

    def test_list_dir(self, store: Store) -> None:
        """D-99: keys and prefixes directly under a prefix, full and sorted."""
        for key in ("a/b", "a/c", "a/f/g", "a/d/e", "ab", "top"):
            store.set(key, b"value")
        assert store.list_dir("a/") == store.list_dir("a") == Listing(("a/b", "a/c"), ("a/d/", "a/f/"))
        assert store.list_dir() == Listing(("ab", "top"), ("a/",))
        assert store.list_dir("b/") == Listing((), ())

    def test_odd_names(self, store: Store) -> None:
        """Other characters are part of the name: nothing is percent-decoded, and no case is folded."""
        keys = ["%2e%2e/x", "a b/ü", "...", "c", "__x", ".zarray", "new\nline", "\u00e9", "e\u0301"]
        for number, key in enumerate(keys):
            store.set(key, bytes([number]))
        assert [bytes(store.get(key) or b"") for key in keys] == [bytes([number]) for number in range(len(keys))]
        assert sorted(store.list()) == sorted(keys)

    @pytest.mark.parametrize("key", BAD_KEYS)
    def test_bad_keys_are_refused(self, store: Store, key: str) -> None:
        """No method accepts a key that leads out of the store."""
        calls: tuple[Callable[[], object], ...] = (
            lambda: store.get(key),
            lambda: store.get_ranges(key, [(0, 1)]),
            lambda: store.set(key, b"value"),
            lambda: store.delete(key),
        )
        for call in calls:
            with pytest.raises(PathError):
                call()
        if key.removesuffix("/") not in ("", "a"):
            with pytest.raises(PathError):
                list(store.list(key))
            with pytest.raises(PathError):
                store.list_dir(key)
        assert list(store.list()) == []

    def test_read_only(self, store: Store) -> None:
        """Reading works; changes are refused before anything happens."""
        store.set("a/b", b"value")
        closed = read_only(store)
        assert getattr(closed, "read_only", False)
        assert bytes(closed.get("a/b") or b"") == b"value"
        calls: tuple[Callable[[], object], ...] = (
            lambda: closed.set("a/b", b"x"),
            lambda: closed.delete("a/b"),
            lambda: closed.set("new", b"x"),
        )
        for call in calls:
            with pytest.raises(ReadOnlyError):
                call()
        assert list(closed.list()) == ["a/b"]
        assert bytes(store.get("a/b") or b"") == b"value"

    def test_size(self, store: Any) -> None:
        """A store that knows lengths without reading knows them right."""
        if not hasattr(store, "size"):
            pytest.skip("this store has no size")
        store.set("a/b", b"value")
        assert (store.size("a/b"), store.size("a/c")) == (5, None)

    def test_versions(self, store: Any) -> None:
        """No two values of a key have the same version, not even equal values set twice; a missing key has none.

        The version of a value that did not change may differ: then a cache reads it once more.
        """
        if not hasattr(store, "version"):
            pytest.skip("this store tells no versions")
        assert store.version("a/b") is None
        versions = set()
        for value in (b"1", b"2", b"1", b"1"):
            store.set("a/b", value)
            version = store.version("a/b")
            assert isinstance(version, str | bytes)
            versions.add(version)
        assert len(versions) == 4
        assert store.version("a/c") is None
        if self.deletes(store):
            store.delete("a/b")
            assert store.version("a/b") is None
            store.set("a/b", b"1")
            assert store.version("a/b") not in versions

    def test_replace(self, store: Any) -> None:
        """A value is replaced only if it is still what the caller has seen; of two changes at once, one is refused."""
        if not hasattr(store, "replace"):
            pytest.skip("this store has no replace")
        assert store.replace("a", None, b"1")
        assert not store.replace("a", None, b"2")
        assert not store.replace("a", b"2", b"3")
        assert store.replace("a", b"1", b"2")
        assert bytes(store.get("a") or b"") == b"2"

        def count(_: int) -> None:
            for _ in range(10):
                while True:
                    before = store.get("n")
                    if store.replace("n", before, b"%d" % (int(bytes(before)) + 1 if before else 1)):
                        break

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(count, range(4)))
        assert bytes(store.get("n") or b"") == b"40"

    def test_many_threads(self, store: Store) -> None:
        """Concurrent calls neither lose nor mix values."""

        def work(worker: int) -> None:
            for turn in range(20):
                store.set(f"{worker}/{turn}", bytes([worker]) * 1000)
                store.set("shared", bytes([worker]) * 1000)
                assert bytes(store.get(f"{worker}/{turn}") or b"") == bytes([worker]) * 1000
                assert len(set(bytes(store.get("shared") or b""))) == 1
                store.list_dir(str(worker))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert len(list(store.list())) == 8 * 20 + 1
