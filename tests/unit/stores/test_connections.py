"""Stores with the same options share what takes long to make: HTTP clients, and their connections."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from blizzarr.stores import ObjectStore


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
        if before > 0 and timeout == "11s":
            # The last answer's connection is free a moment after that answer has been taken.
            for _ in range(100):
                if server.connections == before:
                    break
                before = server.connections
                time.sleep(0.05)
                assert store.get("a") == b"value"
            assert server.connections == before
        else:
            assert server.connections == before + 1
