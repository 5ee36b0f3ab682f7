"""Servers that end each connection with its answer, like `python -m http.server`, get few connections at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.stores import ObjectStore

VALUES = np.arange(1, 201, dtype="u2")


class Counting(ThreadingHTTPServer):
    """A web server that counts how many requests it answers at once.

    Attributes
    ----------
    seconds
        How long each answer takes.
    most
        The most requests at once so far.
    version
        The version of HTTP that it answers with.
    says
        What it answers as ``Connection``.
    """

    # The system lets connections beyond the usual 5 wait for a second.
    request_queue_size = 256
    daemon_threads = True
    now = most = 0
    seconds = 0.0
    version = "HTTP/1.0"
    says: str | None = None

    def __init__(self, directory: Path) -> None:
        self.lock = Lock()
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(directory)))
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(SimpleHTTPRequestHandler):
    server: Counting

    def setup(self) -> None:
        super().setup()
        self.protocol_version = self.server.version

    def log_message(self, *args: Any) -> None:
        pass

    def end_headers(self) -> None:
        if self.server.says is not None:
            self.send_header("Connection", self.server.says)
        super().end_headers()

    def do_GET(self) -> None:
        server = self.server
        with server.lock:
            server.now += 1
            server.most = max(server.most, server.now)
        time.sleep(server.seconds)
        with server.lock:
            server.now -= 1
        super().do_GET()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Counting]:
    blizzarr.create_array(tmp_path / "a", data=VALUES, chunks=1, compressors=None)
    with Counting(tmp_path) as running:
        Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        yield running
        running.shutdown()


# Four, unless this machine is so busy that each answer takes long at first.
FEW = 8
ENDING = pytest.mark.parametrize(("version", "says"), [("HTTP/1.0", None), ("HTTP/1.1", "close")])


@ENDING
def test_few_requests_at_once(server: Counting, version: str, says: str | None) -> None:
    server.version, server.says = version, says
    array = blizzarr.open_array(f"{server.url}/a", mode="r")
    server.seconds = 0.005
    assert np.array_equal(array[:], VALUES)
    assert 1 < server.most <= FEW


@ENDING
def test_few_requests_before_anything_is_known(server: Counting, version: str, says: str | None) -> None:
    """As in a worker that was sent an array, whose first requests are those for chunks."""
    server.version, server.says, server.seconds = version, says, 0.005
    found = ObjectStore.from_url(f"{server.url}/a").get_many([f"c/{number}" for number in range(100)])
    assert found == [value.tobytes() for value in VALUES[:100]]
    assert 1 < server.most <= FEW


@pytest.mark.parametrize(("version", "says"), [("HTTP/1.1", None), ("HTTP/1.0", "Keep-Alive")])
def test_many_requests_where_connections_are_kept(server: Counting, version: str, says: str | None) -> None:
    server.version, server.says = version, says
    array = blizzarr.open_array(f"{server.url}/a", mode="r")
    server.seconds = 0.1
    assert np.array_equal(array[:], VALUES)
    assert server.most > 16


def test_more_requests_where_answers_take_long(server: Counting) -> None:
    """Each takes so long that more at once help."""
    server.seconds = 0.05
    assert np.array_equal(blizzarr.open_array(f"{server.url}/a", mode="r")[:], VALUES)
    assert server.most > FEW
