"""Arrays behind HTTP: read only, in ranges where the server has them."""

from __future__ import annotations

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.cli import main
from blizzarr.errors import NodeNotFoundError, ReadOnlyError, StoreError, UnsupportedOperationError
from blizzarr.stores import ObjectStore
from support.object_servers import http_server

VALUES = np.arange(100 * 100, dtype="u2").reshape(100, 100)


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A group with an array of shards, and one of plain chunks, in a directory with a name to be encoded."""
    root = blizzarr.create_group(tmp_path / "a b#ü.zarr")
    root.create_array("shards", data=VALUES, chunks=(10, 10), shards=(50, 50), compressors=None)
    root.create_array("chunks", data=VALUES, chunks=(30, 30))
    blizzarr.consolidate_metadata(root.store)
    return tmp_path


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
def test_arrays_are_read(served: Path, ranges: bool) -> None:
    with http_server(served, ranges=ranges) as (url, requests):
        root = blizzarr.open_group(f"{url}/a b%23ü.zarr", mode="r")
        assert sorted(root) == ["chunks", "shards"]
        for name in root:
            assert np.array_equal(root[name][:], VALUES)
        requests.clear()
        assert root["shards"][55, 60] == VALUES[55, 60]
        parts = [request for request in requests if "bytes=" in request]
        assert len(parts) >= 2, "the index, and an inner chunk"


@pytest.mark.parametrize("end", ["/", "//"])
def test_a_slash_at_the_end_is_no_part_of_the_path(served: Path, end: str) -> None:
    with http_server(served, ranges=True) as (url, requests):
        stores = [f"{url}/a b%23ü.zarr/chunks{end}", ObjectStore.from_url(f"{url}/a b%23ü.zarr/chunks{end}?tag=1/")]
        for store in stores:
            assert np.array_equal(blizzarr.open_array(store, mode="r")[:], VALUES)
        assert not [request for request in requests if "//" in request]
        assert [request for request in requests if "?tag=1/" in request]


def test_what_is_missing_is_fill(served: Path) -> None:
    array = blizzarr.create_array(served / "new", shape=4, chunks=2, dtype="u1", fill_value=7)
    array[:2] = 1
    with http_server(served, ranges=True) as (url, _):
        assert blizzarr.open_array(f"{url}/new", mode="r")[:].tolist() == [1, 1, 7, 7]
        with pytest.raises(NodeNotFoundError):
            blizzarr.open(f"{url}/nothing")


@pytest.mark.parametrize("status", [403, 405])
def test_a_refusal_is_no_fill_value_where_head_finds_nothing(status: int) -> None:
    """What may not be read, on a server that does not answer HEAD for it, or knows no HEAD at all."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_error(404)

        def do_GET(self) -> None:
            self.send_error(status)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        store = ObjectStore.from_url(f"http://127.0.0.1:{server.server_port}/a")
        calls: list[Callable[[], object]] = [
            lambda: store.get("b"),
            lambda: store.get_ranges("b", [(0, 4)]),
            lambda: store.get_ranges("b", [(-4, 4)]),
            lambda: store.get_ranges("b", [(0, 0)]),
            lambda: store.version("b"),
        ]
        for call in calls:
            with pytest.raises(StoreError, match=str(status)):
                call()
        server.shutdown()
        thread.join()


def test_it_is_read_only_and_cannot_be_listed(served: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with http_server(served, ranges=True) as (url, _):
        array = blizzarr.open_array(f"{url}/a b%23ü.zarr/chunks", mode="r+")
        with pytest.raises(ReadOnlyError, match="what is behind HTTP can only be read"):
            array[0] = 1
        with pytest.raises(UnsupportedOperationError, match="consolidated metadata; to check the data, copy"):
            ObjectStore.from_url(url).list()
        blizzarr.create_group(served / "g", attributes={"site": "north ridge"}).create_group("a")
        with pytest.raises(SystemExit):
            main(["rm", "-y", f"{url}/g"])
        assert "what is behind HTTP can only be read" in capsys.readouterr().err
        group = blizzarr.open_group(f"{url}/g", mode="r")
        assert (group.info.arrays, group.info.attributes) == (None, 1)
        assert "north ridge" in group._repr_html_()
        with pytest.raises(SystemExit) as ended:
            main(["info", f"{url}/g"])
        assert not ended.value.code
        with pytest.raises(NodeNotFoundError, match="zip files are opened in local directories only: download it"):
            blizzarr.open(f"{url}/a.zip")


def test_a_query_is_refused() -> None:
    with pytest.raises(ValueError, match=r"found '\?' in a URL") as caught:
        blizzarr.open("https://example.org/a?token=secret")
    assert "secret" not in str(caught.value)
