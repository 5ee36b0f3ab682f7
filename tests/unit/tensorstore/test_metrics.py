"""What is counted, and how it is told under TensorStore's names."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.stores import ObjectStore
from support.object_servers import OPTIONS, new_bucket, s3_server
from tensorstore_face import ours, theirs


def counted(prefix: str) -> dict[str, int]:
    """All that is counted, by the rest of the name."""
    found = ours.experimental_collect_matching_metrics(prefix, include_zero_metrics=True)
    return {each["name"].removeprefix(prefix): each["values"][0]["value"] for each in found}


def came(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What has changed."""
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


def test_files(tmp_path: Path) -> None:
    """Two chunks are written, and one of them, and half of it, read."""
    array = blizzarr.create_array(tmp_path, shape=(200,), chunks=100, dtype="u1", compressors=None)
    array.resize((200,))
    before = counted("/tensorstore/kvstore/file/")
    array[:] = np.arange(200, dtype="u1")
    written = counted("/tensorstore/kvstore/file/")
    assert came(before, written).items() >= {"bytes_written": 200, "write": 2}.items()
    array.store.get("c/0")
    read = counted("/tensorstore/kvstore/file/")
    assert came(written, read) == {"bytes_read": 100, "open_read": 1, "read": 1}
    array.store.get_ranges("c/0", [(10, 50)])
    assert came(read, counted("/tensorstore/kvstore/file/")) == {"bytes_read": 50, "open_read": 1, "read": 1}
    array.store.delete("c/0")
    assert came(read, counted("/tensorstore/kvstore/file/"))["write"] == 1


def test_caches() -> None:
    pool = blizzarr.CachePool(1 << 20)
    array = blizzarr.create_array({}, data=np.arange(40), chunks=10)
    cached = array.cached(pool, recheck=False)
    before = counted("/tensorstore/cache/")
    cached[:10]
    cached[:10]
    assert came(before, counted("/tensorstore/cache/")) == {"hit_count": 1, "miss_count": 1}


def test_elements() -> None:
    array = blizzarr.create_array({}, shape=(40,), chunks=10, dtype="i4")
    before = counted("/tensorstore/blizzarr/")
    array[:20] = 5
    array[5:10]
    assert came(before, counted("/tensorstore/blizzarr/")) == {"bytes_encoded": 80, "bytes_decoded": 20}


def test_objects() -> None:
    from obstore.store import S3Store

    with s3_server() as server:
        store = ObjectStore(
            S3Store(new_bucket(server), endpoint=server, client_options={"allow_http": True}, **OPTIONS)
        )
        before = counted("/tensorstore/kvstore/s3/")
        store.set("a", b"value")
        assert bytes(store.get("a") or b"") == b"value"
        store.delete("a")
        assert came(before, counted("/tensorstore/kvstore/s3/")) == {
            "bytes_read": 5,
            "bytes_written": 5,
            "read": 1,
            "write": 2,
        }


def test_names_are_those_of_tensorstore() -> None:
    """All but those that it does not have, as it counts nothing of the kind."""
    known = {each["name"] for each in theirs.experimental_collect_matching_metrics("", True)}
    own = {f"/tensorstore/{name}" for name in counted("/tensorstore/")} - known
    assert {name.split("/")[2] + "/" + name.split("/")[3] for name in own} == {
        "blizzarr/bytes_decoded",
        "blizzarr/bytes_encoded",
        "kvstore/azure",
    }


def test_zeros_and_prefixes() -> None:
    assert ours.experimental_collect_matching_metrics("/mallocz") == []
    every = ours.experimental_collect_matching_metrics("", True)
    nonzero = ours.experimental_collect_matching_metrics()
    assert [each for each in every if each["values"][0]["value"]] == nonzero
    lines = ours.experimental_collect_prometheus_format_metrics("/tensorstore/cache/")
    assert [line.split()[0] for line in lines[1::2]] == [
        "tensorstore_cache_evict_count",
        "tensorstore_cache_hit_count",
        "tensorstore_cache_miss_count",
    ]
    assert all(line.startswith("# HELP tensorstore_cache_") for line in lines[::2])


@pytest.fixture
def gateway() -> Iterator[tuple[str, list[Any]]]:
    """A server that answers like a Pushgateway, and what it was sent."""
    sent: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sent.append((self.path, body.decode()))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", sent
    server.shutdown()
    server.server_close()
    thread.join()


def test_metrics_are_pushed(gateway: tuple[str, list[Any]]) -> None:
    url, sent = gateway
    assert ours.experimental_push_metrics_to_prometheus(url, "a job", "here", "/tensorstore/cache/").result() == 202
    ((path, body),) = sent
    assert path == "/metrics/job/a%20job/instance/here"
    assert body.splitlines() == ours.experimental_collect_prometheus_format_metrics("/tensorstore/cache/")


@pytest.mark.parametrize("arguments", [(), ("localhost", "job"), ("http://127.0.0.1:1", "")])
def test_what_cannot_be_pushed(arguments: tuple[str, ...]) -> None:
    """The same errors as TensorStore's."""
    for module in (ours, theirs):
        with pytest.raises(ValueError, match=r"PushGatewayConfig bad (job|host)"):
            module.experimental_push_metrics_to_prometheus(*arguments).result()


def test_a_gateway_that_is_not_there() -> None:
    with pytest.raises(blizzarr.errors.StoreError, match="cannot reach the Pushgateway"):
        ours.experimental_push_metrics_to_prometheus("http://127.0.0.1:1", "job").result()


def test_flags_and_logs() -> None:
    """They are accepted, as far as they are text."""
    for module in (ours, theirs):
        module.parse_tensorstore_flags(["program", "--flag"])
        with pytest.raises(TypeError):
            module.parse_tensorstore_flags([3])
        with pytest.raises(TypeError):
            module.experimental_update_verbose_logging(3)
    ours.experimental_update_verbose_logging("file", overwrite=True)
