"""Stores with the same options share what takes long to make: HTTP clients, and their connections."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest.importorskip("obstore")

from blizzarr.stores import ObjectStore
from blizzarr.stores.obstore_library import store_of_url


class Server(ThreadingHTTPServer):
    """Counts the connections that it accepts."""

    connections = 0

    def get_request(self) -> Any:
        """Accept a connection."""
        self.connections += 1
        return super().get_request()


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"value")

        def log_message(self, *args: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def test_the_next_store_of_a_server_need_not_connect(server: Server) -> None:
    for timeout in ("11s", "11s", "12s"):
        before = server.connections
        store = ObjectStore.from_url(f"http://127.0.0.1:{server.server_port}", client_options={"timeout": timeout})
        assert store.get("a") == b"value"
        made = server.connections - before
        # The last answer's connection is free a moment after that answer has been taken.
        time.sleep(0.05)
        assert (made == 0) is (before > 0 and timeout == "11s")


def test_a_url_that_was_opened_before(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "s3://bucket/a"
    first = store_of_url(url, {"region": "eu-west-1"})
    assert store_of_url(url, {"region": "eu-west-1"}) is first
    assert store_of_url(url, {"region": "eu-west-2"}).config["region"] == "eu-west-2"
    assert store_of_url(url, {"region": "eu-west-1", "credential_provider": lambda: None}) is not first
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert store_of_url(url, {"region": "eu-west-1"}).client_options == {"allow_http": "true"}
