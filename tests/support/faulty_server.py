"""A server of objects that does what servers, and what lies between, should not do.

It speaks as much of S3 as reading, writing and conditions take; requests need no signature.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from blizzarr.stores import ObjectStore
from support.object_servers import requested

Answering: TypeAlias = Callable[[str | None, bytes], bytes]
Fault: TypeAlias = int | str | tuple[int, bytes] | Answering
LOGIN = b"<!DOCTYPE html><html><body><form>Please sign in</form></body></html>"


class FaultyServer:
    """What is stored, and what goes wrong.

    Attributes
    ----------
    objects
        The bytes by path, which is that of the bucket and the key.
    fault
        Called with the method and path of each request, before the object is looked up; what it returns goes wrong: a
        status, one with a body, what makes the bytes of an answer from the range that is wanted and the object, or
        one of the names in `Handler`. None: nothing.
    page
        Keys and prefixes in each part of a listing.
    next_token
        The token of the next part of a listing, from the number of its first entry and the token of the request;
        the empty one is left out.
    delimits
        Whether listings heed a delimiter.
    code
        The code of errors.
    tags
        The ETag of bytes, if there are ETags.
    conditions
        The headers with conditions that are heeded.
    requests
        Method and path of all requests.
    """

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.fault: Callable[[str, str], Fault | None] = lambda method, path: None
        self.tags: Callable[[bytes], str | None] = lambda value: f'"{hashlib.md5(value).hexdigest()}"'
        self.code = "Something"
        self.conditions = {"If-Match", "If-None-Match"}
        self.page = 1000
        self.delimits = True
        self.next_token: Callable[[int, str | None], str] = lambda number, token: str(number)
        self.requests: list[tuple[str, str]] = []
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.metadata: dict[str, dict[str, str]] = {}
        self.url = ""

    def store(self, **options: Any) -> ObjectStore:
        """Return a store of a bucket there, which does not wait long."""
        return store_at(self.url, **{"client_options": {"allow_http": True, "timeout": "2s"}, **options})


def store_at(url: str, max_retries: int = 3, **options: Any) -> ObjectStore:
    """Return a store of a bucket at this server, which soon makes requests again."""
    backoff = {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=5)}
    retries = {"max_retries": max_retries, "backoff": backoff}
    given = {"endpoint": url, "skip_signature": True, "region": "x", "retry_config": retries}
    return ObjectStore.from_url("s3://bucket/a", **{**given, **options})


def times(count: int, fault: Fault, method: str = "GET", ending: str = "c/0") -> Callable[[str, str], Any]:
    """What goes wrong so many times with requests for one key."""
    left = [fault] * count

    def choose(found: str, path: str) -> Any:
        return left.pop() if left and found == method and path.endswith(ending) else None

    return choose


_USED: set[int] = set()


@contextmanager
def faulty_server() -> Iterator[FaultyServer]:
    """Run a server."""
    state = FaultyServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *args: Any) -> None:
            pass

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except (ConnectionError, TimeoutError):
                self.close_connection = True

        def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            if status != 204:
                self.send_header("Content-Length", headers.get("length", str(len(body))))
            if self.close_connection:
                # A client that is not told would make its next request on a connection that may just be ending.
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def go_wrong(self, path: str, fault: Fault, value: bytes) -> None:
            self.close_connection = True
            if callable(fault):
                self.wfile.write(fault(self.headers.get("Range"), value))
            elif isinstance(fault, tuple):
                self.answer(fault[0], fault[1])
            elif isinstance(fault, int):
                self.answer(fault, b"" if fault == 204 else f"<Error><Code>{state.code}</Code></Error>".encode())
            elif fault == "silence":
                state.ended.wait(30)
            elif fault == "redirect":
                self.answer(302, Location=self.path)
            elif isinstance(fault, str) and fault.startswith("see "):
                # What is there is then read in place of the change.
                same = fault.endswith("itself")
                self.answer(303, Location=self.path if same else "/bucket/a/welcome")
            elif fault == "try later":
                self.answer(429, Retry_After="3600")
            elif fault in ("503, cut", "412, cut"):
                self.answer(int(fault[:3]), b"<Error>", length="99")
            elif fault == "404 of a proxy":
                self.answer(404, LOGIN)
            elif fault == "html":
                self.answer(200, LOGIN, ETag='"login"', Last_Modified=_DATE, Content_Type="text/html; charset=utf-8")
            elif fault in ("cut", "stall", "drip"):
                wanted = self.headers.get("Range")
                begin, end = requested(wanted, len(value)) if wanted else (0, len(value))
                self.send_response(206 if wanted else 200)
                tag = state.tags(value)
                if tag is not None:
                    self.send_header("ETag", tag)
                self.send_header("Last-Modified", _DATE)
                self.send_header("Content-Length", str(end - begin))
                if wanted:
                    self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(value)}")
                self.end_headers()
                half = (begin + end) // 2
                self.wfile.write(value[begin:half])
                for byte in value[half:end] if fault == "drip" else b"":
                    state.ended.wait(0.1)
                    self.wfile.write(bytes([byte]))
                if fault == "stall":
                    state.ended.wait(30)
            elif fault == "gzip":
                packed = gzip.compress(value)
                self.answer(200, packed, Content_Encoding="gzip", ETag='"packed"', Last_Modified=_DATE)
            elif fault == "wrong range":
                self.answer(206, value[:3], Content_Range=f"bytes 1-3/{len(value)}", ETag='"x"', Last_Modified=_DATE)
            else:
                assert fault == "reset", fault
                self.connection.close()

        def do_GET(self) -> None:
            path = unquote(self.path)
            with state.lock:
                state.requests.append((self.command, path))
                fault = state.fault(self.command, path)
                value = state.objects.get(path)
            if fault is None and "list-type=2" in path:
                self.list_objects()
                return
            needs_value = not (_is_answer(fault) or fault in _OF_NO_VALUE or "list-type=2" in path)
            if fault is not None and (value is not None or not needs_value):
                self.go_wrong(path, fault, value or b"")
                return
            if value is None:
                self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
                return
            headers = {"Last_Modified": _DATE}
            tag = state.tags(value)
            if tag is not None:
                headers["ETag"] = tag
            headers |= {f"x_amz_meta_{name}": text for name, text in state.metadata.get(path, {}).items()}
            wanted = self.headers.get("Range")
            if wanted is None:
                self.answer(200, value, **headers)
                return
            begin, end = requested(wanted, len(value))
            if begin >= end:
                self.answer(416)
            else:
                self.answer(206, value[begin:end], Content_Range=f"bytes {begin}-{end - 1}/{len(value)}", **headers)

        def list_objects(self) -> None:
            query = dict(parse_qsl(urlsplit(self.path).query))
            above = f"/bucket/{query.get('prefix', '')}"
            entries: dict[str, bytes | None] = {}
            for path, value in sorted(state.objects.items()):
                if path.startswith(above) and path.removeprefix("/bucket/") > query.get("start-after", ""):
                    end = path.find("/", len(above)) + 1 if "delimiter" in query and state.delimits else 0
                    entries |= {path[:end]: None} if end else {path: value}
            token = query.get("continuation-token")
            first = int(token or 0)
            listed = list(entries.items())[first : first + state.page]
            in_xml = _in_url if query.get("encoding-type") == "url" else _in_xml
            answer = [
                f"<CommonPrefixes><Prefix>{in_xml(path)}</Prefix></CommonPrefixes>"
                if value is None
                else f"<Contents><Key>{in_xml(path)}</Key><Size>{len(value)}</Size>"
                "<LastModified>2026-11-22T00:00:00Z</LastModified></Contents>"
                for path, value in listed
            ]
            if first + state.page < len(entries):
                following = state.next_token(first + state.page, token)
                answer.append("<IsTruncated>true</IsTruncated>")
                if following:
                    answer.append(f"<NextContinuationToken>{following}</NextContinuationToken>")
            if in_xml is _in_url:
                answer.append("<EncodingType>url</EncodingType>")
            self.answer(200, f"<ListBucketResult>{''.join(answer)}</ListBucketResult>".encode())

        do_HEAD = do_GET  # noqa: N815 (its name there)

        def do_PUT(self) -> None:
            path = unquote(self.path)
            value = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            marked = "x-amz-meta-"
            metadata = {
                name[len(marked) :]: text for name, text in self.headers.items() if name.lower().startswith(marked)
            }
            with state.lock:
                state.requests.append((self.command, path))
                fault = state.fault(self.command, path)
            if _is_answer(fault) or fault == "html" or fault in _OF_NO_VALUE:
                self.go_wrong(path, fault, value)
                return
            with state.lock:
                before = state.objects.get(path)
                heeded = {name: self.headers.get(name) for name in state.conditions}
                expected = heeded.get("If-Match")
                met = (before is None or heeded.get("If-None-Match") is None) and (
                    expected is None or (before is not None and expected == state.tags(before))
                )
                if not met:
                    self.answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
                    return
                state.objects[path] = value
                state.metadata[path] = metadata
            if isinstance(fault, str) and fault.startswith("applied, "):
                self.close_connection = True
                if fault == "applied, but no answer":
                    self.connection.close()
                else:
                    self.answer(int(fault.removeprefix("applied, then ")))
                return
            tag = state.tags(value)
            self.answer(200, b"", **({} if tag is None else {"ETag": tag}))

        def do_DELETE(self) -> None:
            path = unquote(self.path)
            with state.lock:
                state.requests.append((self.command, path))
                fault = state.fault(self.command, path)
                if fault is None:
                    state.objects.pop(path, None)
            if fault is None:
                self.answer(204)
            else:
                self.go_wrong(path, fault, b"")

        def do_POST(self) -> None:
            import re

            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            with state.lock:
                state.requests.append((self.command, self.path))
                fault = state.fault(self.command, self.path)
                for key in re.findall("<Key>(.*?)</Key>", body) if fault is None else ():
                    state.objects.pop(f"/bucket/{key}", None)
            if fault is not None:
                self.go_wrong(self.path, fault, b"")
                return
            gone = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in re.findall("<Key>(.*?)</Key>", body))
            self.answer(200, f"<DeleteResult>{gone}</DeleteResult>".encode(), Content_Type="application/xml")

    class Server(ThreadingHTTPServer):
        # The system lets connections beyond the usual 5 wait for a second.
        request_queue_size = 256
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    while server.server_port in _USED:
        # What this process has learnt of a server, it would take for granted.
        server.server_close()
        server = Server(("127.0.0.1", 0), Handler)
    _USED.add(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        state.ended.set()
        server.shutdown()
        server.server_close()


_OF_NO_VALUE = (
    *("silence", "redirect", "see another", "see itself"),
    *("try later", "503, cut", "412, cut", "404 of a proxy"),
)
"""Faults that need no value."""


def _is_answer(fault: Fault | None) -> bool:
    return callable(fault) or isinstance(fault, int | tuple)


def _in_url(path: str) -> str:
    return quote(path.removeprefix("/bucket/"))


def _in_xml(path: str) -> str:
    """The key of an object as S3 lists it."""
    key = escape(path.removeprefix("/bucket/"))
    return "".join(f"&#{ord(character)};" if character < " " else character for character in key)


_DATE = "Sun, 22 Nov 2026 00:00:00 GMT"
