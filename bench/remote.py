"""How long reading takes from a server that is far away: `python -m bench.remote [MILLISECONDS]`.

A server on this machine waits so long before each answer; all peers take turns, and every result is checked. It needs
what the tests need, and obstore, which serves zarr-python.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import obstore
import tensorstore
import zarr
from zarr.storage import ObjectStore

import blizzarr

SHAPE = (256, 256, 256)
ROUNDS = 7
LAYOUTS: dict[str, dict[str, Any]] = {
    "zstd 64 KiB": {"chunks": (32, 32, 32)},
    "zstd 1 MiB": {"chunks": (128, 64, 64)},
    "shards of zstd 64 KiB": {"chunks": (32, 32, 32), "shards": (128, 128, 128)},
}
KEYS: dict[str, Any] = {
    "whole": (slice(None),) * 3,
    "one element": (100, 100, 100),
    "a plane": (slice(None), slice(None), 77),
    "a box of 100³": (slice(20, 120),) * 3,
}


def serve(directory: str, milliseconds: float, connection: Any) -> None:
    """Serve files, or ranges of them, after a delay."""

    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise a small answer waits for the acknowledgement of its headers.
        disable_nagle_algorithm = True

        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=directory)

        def log_message(self, *args: Any) -> None:
            pass

        def send_head(self) -> Any:
            time.sleep(milliseconds / 1000)
            found, wanted = Path(self.translate_path(self.path)), self.headers.get("Range")
            if wanted is None or not found.is_file():
                return super().send_head()
            content = found.read_bytes()
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            begin = int(first) if first else max(0, len(content) - int(last))
            end = min(int(last) + 1 if first and last else len(content), len(content))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
            self.send_header("Content-Length", str(end - begin))
            self.send_header("Last-Modified", self.date_time_string(int(found.stat().st_mtime)))
            self.end_headers()
            return BytesIO(content[begin:end])

    class Server(ThreadingHTTPServer):
        request_queue_size = 256

    server = Server(("127.0.0.1", 0), Handler)
    connection.send(server.server_port)
    server.serve_forever()


def openers(url: str) -> dict[str, Callable[[], Callable[[Any], Any]]]:
    """What opens the array and returns a function that reads a selection, by the name of the peer."""
    http = {"allow_http": True}

    def ours() -> Callable[[Any], Any]:
        array = blizzarr.open_array(url, mode="r")
        return lambda key: array[key]

    def theirs() -> Callable[[Any], Any]:
        store = obstore.store.HTTPStore.from_url(url, client_options=http)
        array = zarr.open_array(ObjectStore(store, read_only=True), mode="r")
        return lambda key: array[key]

    def tensorstores() -> Callable[[Any], Any]:
        array = tensorstore.open({"driver": "zarr3", "kvstore": url + "/"}).result()
        return lambda key: array[key].read().result()

    return {"blizzarr": ours, "tensorstore": tensorstores, "zarr-python": theirs}


def main(milliseconds: float) -> None:
    """Print a table of median times, and ratios to blizzarr's."""
    values = np.random.default_rng(0).integers(0, 200, SHAPE).astype("u2").cumsum(0, dtype="u2")
    with tempfile.TemporaryDirectory() as directory:
        for name, layout in LAYOUTS.items():
            blizzarr.save_array(Path(directory) / name.replace(" ", "-"), values, **layout)
        here, there = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        server = context.Process(target=serve, args=(directory, milliseconds, there), daemon=True)
        server.start()
        root = f"http://127.0.0.1:{here.recv()}"
        print(f"each request takes {milliseconds:g} ms; medians of {ROUNDS} rounds; in brackets: times blizzarr's")
        for name in LAYOUTS:
            for what, key in KEYS.items():
                times: dict[str, list[float]] = {}
                peers = openers(f"{root}/{name.replace(' ', '-')}")
                for _ in range(ROUNDS):
                    for peer, opener in peers.items():
                        read = opener()
                        begun = time.perf_counter()
                        found = read(key)
                        times.setdefault(peer, []).append(time.perf_counter() - begun)
                        assert np.array_equal(found, values[key]), peer
                best = {peer: statistics.median(each) for peer, each in times.items()}
                shown = (
                    f"{peer} {1000 * taken:.0f} ms ({taken / best['blizzarr']:.2f})" for peer, taken in best.items()
                )
                print(f"{name}, {what}: {', '.join(shown)}", flush=True)
        server.terminate()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20)
