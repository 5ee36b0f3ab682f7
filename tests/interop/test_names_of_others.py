"""The table of who reads which name is made from the results, and has every name of blizzarr."""

from __future__ import annotations

import json
from typing import Any

import pytest

import blizzarr
from blizzarr.codecs import CATALOGUE
from interop.elements import pack
from interop.names import PAGE, READERS, RESULTS, arrays, data_of, page


def test_the_page_is_made_from_the_results() -> None:
    """`python -m tests.interop.names` writes both; each result is of each peer."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8") == page(results)
    assert all(set(row) == set(READERS.values()) for rows in results.values() for row in rows.values())
    assert {kind: list(rows) for kind, rows in results.items()} == names()


def names() -> dict[str, list[str]]:
    listed: dict[str, list[str]] = {}
    for kind, name, _ in arrays():
        listed.setdefault(kind, []).append(name)
    return listed


def test_every_name_is_in_the_table() -> None:
    """A new codec gets a row."""
    ours = {name for name in CATALOGUE if not name.startswith("numcodecs.")} - {"endian"}
    assert set(names()["Codecs"]) == ours


@pytest.mark.parametrize(("kind", "name", "given"), [pytest.param(*row, id=f"{row[0]}: {row[1]}") for row in arrays()])
def test_blizzarr_reads_them_all(kind: str, name: str, given: dict[str, Any]) -> None:
    """What blizzarr stores under a name, it reads again."""
    if name == "zfp":
        pytest.importorskip("zfpy")
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, shape=(6, 4), **{"chunks": (3, 4), **given})
    array[...] = data_of(array)
    again = blizzarr.open(store)
    assert pack(again[...]) == pack(array[...])
    assert again.metadata == array.metadata
