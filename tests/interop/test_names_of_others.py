"""The table of who reads which name is made from the results, and has every name of blizzarr."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blizzarr
from blizzarr.codecs import CATALOGUE
from blizzarr.codecs.catalogue import ALIASES
from blizzarr.dtypes.table import from_json as data_type
from blizzarr.model.chunk_grid import CHUNK_GRIDS
from blizzarr.problems import Problems
from blizzarr.transformers import KEY_ENCODINGS
from interop.elements import pack
from interop.names import PAGE, READERS, RESULTS, SHAPE, arrays, data_of, page, with_codec
from interop.peer import PeerMissing
from interop.peers import PEERS, Peer


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


LACKING = {"zarr-python newest": {"cast_value", "numcodecs.pcodec", "numcodecs.zfpy"}}
"""Codecs of packages that the environment of a peer lacks."""
ONLY_V2 = {"json2", "numcodecs.json2"}
"""Codecs for elements of any type, which v3 does not have."""


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.name in READERS], ids=lambda peer: peer.name)
def test_names_that_others_list(peer: Peer, tmp_path: Path) -> None:
    """What a peer says that it knows is known here, and what is stored with such a codec it reads."""
    if peer.name == "zarrista":
        pytest.skip("zarrs does not list its names; those that its sources have are among the aliases below")
    try:
        listed = peer.call("names", {"codecs": sorted(CATALOGUE)})
    except PeerMissing as missing:
        pytest.skip(str(missing))
    assert not set(listed.get("Chunk grids", ())) - set(CHUNK_GRIDS)
    assert not set(listed.get("Chunk key encodings", ())) - {"default", "v2", *KEY_ENCODINGS}
    problems = Problems()
    for name in listed.get("Data types", ()):
        options = {"configuration": {"length_bytes": 2}} if name == "raw_bytes" else {}
        data_type({"name": name, **options}, "data_type", problems)
    assert problems.extensions == []
    codecs = {ALIASES.get(name, name) for name in listed["Codecs"]} - ONLY_V2
    assert len(codecs) > 5
    assert not codecs - set(CATALOGUE)
    for number, name in enumerate(sorted(codecs - LACKING.get(peer.name, set()) - {"endian"})):
        given = with_codec(name)
        array = blizzarr.create_array(tmp_path / str(number), shape=SHAPE, **{"chunks": (3, 4), **given})
        array[...] = data_of(array)
        answer = peer.call("read", {"root": str(tmp_path), "path": str(number)})
        assert answer["values"] == pack(array[...]), name


@pytest.mark.parametrize(("alias", "name"), [*ALIASES.items(), ("numcodecs.vlen-array", "vlen-array")])
def test_aliases(alias: str, name: str) -> None:
    """A codec is read under each of its names, and written under one of them."""
    if "zfp" in name or name == "numcodecs.pcodec":
        pytest.importorskip("zfpy" if "zfp" in name else "pcodec")
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, shape=SHAPE, **{"chunks": (3, 4), **with_codec(name)})
    array[...] = data_of(array)
    document = json.loads(store["zarr.json"])
    named = [{"name": codec} if isinstance(codec, str) else codec for codec in document["codecs"]]
    renamed = [{**codec, "name": alias if codec["name"] == name else codec["name"]} for codec in named]
    assert renamed != named
    store["zarr.json"] = json.dumps({**document, "codecs": renamed}).encode()
    again = blizzarr.open_array(store)
    assert pack(again[...]) == pack(array[...])
    assert again.metadata == array.metadata


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
