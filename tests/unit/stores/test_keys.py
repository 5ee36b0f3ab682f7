"""Keys and prefixes."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blizzarr.errors import PathError
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
