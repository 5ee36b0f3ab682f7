"""Listing from sorted keys, against the plain definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blizzarr.stores.keys import list_sorted, list_sorted_dir

_segment = st.text(alphabet="ab-/.0\u00ff", min_size=1, max_size=3).map(lambda text: text.replace("/", "_"))
_keys = st.lists(st.lists(_segment, min_size=1, max_size=4).map("/".join), max_size=20, unique=True).map(sorted)


@given(_keys, st.lists(_segment, max_size=2).map("/".join))
def test_list_dir_is_what_d99_defines(keys: list[str], place: str) -> None:
    """D-97 to D-99: keys below the prefix; those without another slash, and the distinct first steps of the rest."""
    prefix = place + "/" if place else ""
    below = [key for key in keys if key.startswith(prefix)]
    assert list(list_sorted(keys, prefix)) == below
    found, prefixes = list_sorted_dir(keys, prefix)
    assert list(found) == [key for key in below if "/" not in key[len(prefix) :]]
    steps = {prefix + key[len(prefix) :].split("/")[0] + "/" for key in below if "/" in key[len(prefix) :]}
    assert sorted(prefixes) == sorted(steps)
