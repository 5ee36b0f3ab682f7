"""Keys, prefixes, and ranges of bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blizzarr.errors import PathError
from blizzarr.stores import FsspecStore, LocalStore, MappingStore, MemoryStore, ZipStore
from blizzarr.stores.keys import check_key, check_prefix
from blizzarr.testing.stores import BAD_KEYS


@pytest.mark.parametrize("key", [*BAD_KEYS, "\ud800"])
def test_bad_keys_say_what_is_wrong(key: str) -> None:
    """Rows 67, 68: the error carries the key and its text names the fault."""
    with pytest.raises(PathError, match=r"empty|absolute|'\.\.?'|NUL|backslash|Unicode") as caught:
        check_key(key)
    assert caught.value.key == key


@example("\n")
@example("a/..\n")
@given(st.text(max_size=20))
def test_a_key_that_passes_has_only_good_segments(key: str) -> None:
    """P9: whatever passes stays below the root on every system."""
    good = (
        all(segment not in ("", ".", "..") for segment in key.split("/"))
        and not set(key) & {"\0", "\\"}
        and key.encode("utf-8", "replace").decode() == key
    )
    if good:
        assert check_key(key) == key
        assert check_prefix(key) == check_prefix(key + "/") == key + "/"
    else:
        with pytest.raises(PathError):
            check_key(key)


@pytest.mark.parametrize("kind", ["memory", "directory", "mapping", "zip", "fsspec"])
def test_no_range_has_a_negative_length(kind: str, tmp_path: Path) -> None:
    stores: dict[str, Callable[[], Any]] = {
        "memory": MemoryStore,
        "directory": lambda: LocalStore(tmp_path),
        "mapping": lambda: MappingStore({}),
        "zip": lambda: ZipStore(tmp_path / "x.zip", mode="w"),
        "fsspec": lambda: FsspecStore.from_url("memory://ranges"),
    }
    store = stores[kind]()
    store.set("a", b"012")
    assert [bytes(part) for part in store.get_ranges("a", [(1, 1), (-2, 1)])] == [b"1", b"1"]
    with pytest.raises(ValueError, match="a range cannot be -3 bytes long; use None for all bytes to the end"):
        store.get_ranges("a", [(0, 1), (0, -3)])
