"""Keys, prefixes and paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blizzarr.errors import PathError
from blizzarr.stores.keys import check_key, check_name, check_path, check_prefix
from blizzarr.testing.stores import BAD_KEYS


@pytest.mark.parametrize("key", [*BAD_KEYS, "\ud800"])
def test_bad_keys_say_what_is_wrong(key: str) -> None:
    """Rows 67, 68: the error carries the key and its text names the fault."""
    with pytest.raises(PathError, match=r"empty|absolute|'\.\.?'|NUL|backslash|Unicode") as caught:
        check_key(key)
    assert caught.value.key == key


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
        assert check_path(key) == key
    else:
        with pytest.raises(PathError):
            check_key(key)


@pytest.mark.parametrize(
    "name", ["", "...", "a/...", "__x", "a/__x/b", "zarr.json", ".zarray", "a/.zgroup", "/a", "a/"]
)
def test_names_that_a_node_may_not_have(name: str) -> None:
    """F-7, row 75: not empty, not only dots, not reserved, not the name of a document."""
    with pytest.raises(PathError):
        check_name(name)


@pytest.mark.parametrize("name", ["a", "c", "c/0", "_x", "%2e%2e", "a b", ".hidden", "CON", "0"])
def test_names_that_a_node_may_have(name: str) -> None:
    """Row 75: everything else, also names that look like chunk keys."""
    assert check_name(name) == name
