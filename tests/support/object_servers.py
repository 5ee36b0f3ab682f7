"""Servers on this machine that speak the protocols of object stores."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any

_buckets = count()
OPTIONS = {"access_key_id": "key", "secret_access_key": "secret", "region": "us-east-1"}


@contextmanager
def s3_server() -> Iterator[str]:
    """Run moto's S3 server; yield its URL.

    It answers one request at a time: moto itself compares and replaces an object in two steps.
    """
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application = DomainDispatcherApplication(create_backend_app)
    turn = Lock()

    def one_at_a_time(environ: Any, start_response: Any) -> list[bytes]:
        with turn:
            return list(application(environ, start_response))

    server = make_server("127.0.0.1", 0, one_at_a_time, True, request_handler=MotoRequestHandler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def new_bucket(server: str) -> str:
    """Make a bucket; return its name."""
    name = f"bucket-{next(_buckets)}"
    client(server).create_bucket(Bucket=name)
    return name


def client(server: str) -> Any:
    """Return a client of AWS's own library."""
    import boto3

    return boto3.client(
        "s3", endpoint_url=server, aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1"
    )


def requested(header: str, size: int) -> tuple[int, int]:
    """Return where a range of HTTP begins and ends in so many bytes."""
    first, _, last = header.removeprefix("bytes=").partition("-")
    return int(first) if first else max(0, size - int(last)), min(int(last) + 1 if first and last else size, size)


@contextmanager
def http_server(directory: Path, *, ranges: bool) -> Iterator[tuple[str, list[str]]]:
    """Serve the files of a directory; yield the URL, and a list of the requests that are made.

    Parameters
    ----------
    directory
        The directory.
    ranges
        Answer requests for ranges with these; otherwise with the whole, as simple servers do.
    """
    requests: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(directory))

        def log_message(self, *args: Any) -> None:
            pass

        def send_head(self) -> Any:
            wanted = self.headers.get("Range")
            requests.append(f"{self.command} {self.path} {wanted or ''}".rstrip())
            found = Path(self.translate_path(self.path))
            if not ranges or wanted is None or not found.is_file():
                return super().send_head()
            content = found.read_bytes()
            begin, end = requested(wanted, len(content))
            if begin >= end:
                self.send_error(416)
                return None
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
            self.send_header("Content-Length", str(end - begin))
            self.send_header("Last-Modified", self.date_time_string(int(found.stat().st_mtime)))
            self.end_headers()
            return BytesIO(content[begin:end])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
