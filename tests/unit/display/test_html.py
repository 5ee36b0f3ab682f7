"""Arrays and groups as HTML: the facts are in it, hostile text is harmless, no chunk is read."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import blizzarr
from blizzarr.creation.describe import describe_array, describe_group
from blizzarr.display.chunk_grid import draw
from blizzarr.display.html import array_html, group_html
from blizzarr.hierarchy.place import place_node
from blizzarr.model import ArrayMeta, RegularGrid
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, Store

EVIL = '<script>alert("&")</script>'


class Watched(MappingStore):
    """A store that notes which keys were read, and cannot tell sizes."""

    def __init__(self) -> None:
        super().__init__({})
        self.gets: list[str] = []

    def get(self, key: str) -> Any:
        self.gets.append(key)
        return super().get(key)


class Checker(HTMLParser):
    """Notes elements, and that each that was opened is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def elements(html: str) -> list[str]:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker.seen


def make(store: Store, path: str, **options: Any) -> ArrayMeta:
    metadata = describe_array(**options)
    place_node(store, path, metadata)
    return metadata


def facts_of(html: str) -> dict[str, str]:
    return dict(re.findall(r"<tr><th>([^<]*)</th><td>([^<]*)</td></tr>", html))


def test_facts_of_an_array(tmp_path: Any) -> None:
    store = LocalStore(tmp_path)
    meta = make(
        store, "a/t1", shape=(100, 60), dtype="uint16", chunks=(10, 20), shards=(50, 60), dimension_names=("y", None)
    )
    store.set("a/t1/c/0/0", bytes(3000))
    html = array_html(store, "a/t1", meta)
    elements(html)
    found = facts_of(html)
    assert found["Shape"] == "100 \xd7 60"
    assert found["Data type"] == "uint16"
    assert found["Dimensions"] == "y, -"
    assert found["Chunks"] == "10 \xd7 20 (30 of 400 bytes)"
    assert found["Shards"] == "50 \xd7 60 (2 of 5.86 KiB)"
    assert found["Raw size"] == "11.7 KiB"
    assert found["Stored size"] == "2.93 KiB in 1 of 2 shards, ratio 4.0\xd7"
    assert '<i style="width:25.00%">' in html


def test_no_chunk_is_read_and_sizes_only_where_that_is_cheap() -> None:
    store = Watched()
    meta = make(store, "a", shape=(100,), dtype="int8", chunks=10)
    make(store, "g/b", shape=(100,), dtype="int8", chunks=10)
    store.set("a/c/0", b"x")
    store.gets.clear()
    assert "Stored size" not in facts_of(array_html(store, "a", meta))
    assert store.gets == []
    html = group_html(store, "", describe_group())
    assert set(store.gets) == {"a/zarr.json", "g/zarr.json"}
    assert "<b>b</b>" not in html


def test_names_and_attributes_are_escaped() -> None:
    """Whoever wrote the data chose them."""
    store = MemoryStore()
    meta = make(
        store, "x", shape=(4,), dtype="int8", attributes={EVIL: EVIL, "n": {"a": [EVIL]}}, dimension_names=[EVIL]
    )
    place_node(store, "g/<img src=x>", describe_group({EVIL: EVIL}))
    store.set("bad/zarr.json", b'{"zarr_format": 3, "node_type": "<img>"}')
    for html in (array_html(store, "x", meta), group_html(store, "", describe_group({"a": EVIL}))):
        assert {"script", "img"}.isdisjoint(elements(html))
        assert "&lt;script&gt;" in html


def test_halves_of_characters_are_spelled_out() -> None:
    """JSON can say them, and no page can hold them."""
    store = MemoryStore()
    make(store, "x", shape=(4,), dtype="int8", attributes={"half": "?"}, dimension_names=["?"])
    store.set("x/zarr.json", store.get("x/zarr.json").replace(b'"?"', b'"\\ud800"'))
    array = blizzarr.open_array(store, path="x")
    assert array.attrs["half"] == "\ud800"
    assert b"\\ud800" in array._repr_html_().encode()


def test_tree_of_a_group() -> None:
    store = MemoryStore()
    make(store, "a/b/x", shape=(2, 3), dtype="int16")
    make(store, "a/y", shape=(), dtype="bool")
    make(store, "z", shape=(7,), dtype="float32", dimension_names=("time",))
    html = group_html(store, "", describe_group())
    elements(html)
    assert "3 arrays, 2 groups" in html
    assert re.findall(r"<b>([^<]+)</b>", html) == ["/", "a", "b", "x", "y", "z"]
    assert "(time)" in html


def test_many_members_and_attributes_are_cut_off() -> None:
    store = MemoryStore()
    for number in range(210):
        place_node(store, f"g{number}", describe_group())
    html = group_html(store, "", describe_group({f"a{number}": "v" * 1000 for number in range(70)}))
    assert "and 10 more" in html
    assert html.count("<li>") == 200
    assert len(html) < 120_000


def cuts(svg: str, kind: str) -> int:
    return sum(path.count("M") for path in re.findall(rf'<path class="bzr-{kind}" d="([^"]*)"', svg))


@pytest.mark.parametrize(
    ("shape", "chunks", "shards", "thin", "thick"),
    [
        ((10,), (3,), None, 3, 0),
        ((10, 10), (5, 2), None, 5, 0),
        ((8, 8, 8), (2, 2, 2), (4, 8, 8), 9, 1),
        ((10_000, 5), (1, 5), None, 19, 0),
        ((), (), None, 0, 0),
        ((0, 4), (2, 2), None, 1, 0),
        ((9, 5, 8, 8, 8), (1, 1, 4, 4, 4), None, 3, 0),
    ],
)
def test_grid_is_drawn_with_a_line_for_each_cut(
    shape: tuple[int, ...], chunks: tuple[int, ...], shards: tuple[int, ...] | None, thin: int, thick: int
) -> None:
    svg = draw(shape, RegularGrid(chunks).edges, RegularGrid(shards).edges if shards else None)
    elements(svg)
    assert (cuts(svg, "chunk"), cuts(svg, "shard")) == (thin, thick)


def test_leading_axes_are_named_under_the_drawing() -> None:
    edges = RegularGrid((1, 1, 4, 4, 4)).edges
    assert "\xd7 9 time \xd7 5</text>" in draw((9, 5, 8, 8, 8), edges, None, ("time", None, None, None, None))


def test_uneven_chunks_are_drawn_where_they_are() -> None:
    array = blizzarr.create_array({}, shape=(100, 20), dtype="int8", chunks=[[10, 60, 30], 10])
    svg = array._repr_html_()
    assert facts_of(svg)["Chunks"] == "(10, 60, 30) \xd7 10 (6 of up to 600 bytes)"
    grid = draw((100, 20), array.metadata.chunk_grid.edges)
    assert cuts(grid, "chunk") == 3
    heights = re.findall(r"L[0-9.]+ ([0-9.]+)", re.search(r'bzr-chunk" d="([^"]*)', grid)[1])  # type: ignore[index]
    top = min(map(float, heights))
    assert {round((float(height) - top) / 170, 2) for height in heights} >= {0.1, 0.7}


def test_notebooks_ask_arrays_and_groups_themselves() -> None:
    root = blizzarr.create_group(MemoryStore())
    array = root.create_array("a", shape=(10, 10), dtype="int8", chunks=(5, 5))
    assert facts_of(array._repr_html_())["Chunks"] == "5 \xd7 5 (4 of 25 bytes)"
    assert "1 array, 0 groups" in root._repr_html_()
