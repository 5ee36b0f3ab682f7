"""A web server that answers late, and S3's protocol, too.

It answers GET and HEAD of whole files and of ranges, listings, where a directory at the top is a bucket, and PUT with
S3's conditions, whose values it keeps in memory. Signatures are not looked at. It is one asyncio protocol without a
framework (moto needs milliseconds for an answer), because a server that needs as much of the processor as its clients
would be what is measured.
"""

from __future__ import annotations

import asyncio
import hashlib
from email.utils import formatdate
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote
from xml.sax.saxutils import escape

DATE = formatdate(1_700_000_000, usegmt=True)


WRITTEN: dict[Path, tuple[bytes, str]] = {}
"""The bytes and ETags of what was written."""


def content(path: Path) -> tuple[bytes, str] | None:
    """Return the bytes and the ETag of what is stored; `None` if there is nothing."""
    return WRITTEN.get(path) or of_file(path)


@cache
def of_file(path: Path) -> tuple[bytes, str] | None:
    return tagged(path.read_bytes()) if path.is_file() else None


def tagged(value: bytes) -> tuple[bytes, str]:
    return value, f'"{hashlib.md5(value).hexdigest()}"'


def listing(bucket: Path, query: dict[str, list[str]]) -> bytes:
    """Return the listing of a bucket in one answer, however long it is."""
    prefix, delimiter = (query.get(name, [""])[0] for name in ("prefix", "delimiter"))
    entries, folders = [], set()
    for path in sorted(each for each in bucket.rglob("*") if each.is_file()):
        key = path.relative_to(bucket).as_posix()
        if not key.startswith(prefix):
            continue
        inside, found, _ = key[len(prefix) :].partition(delimiter or "\0")
        if found:
            folders.add(f"{prefix}{inside}{delimiter}")
            continue
        facts = f"<Size>{path.stat().st_size}</Size><LastModified>2023-11-14T22:13:20.000Z</LastModified>"
        entries.append(f'<Contents><Key>{escape(key)}</Key>{facts}<ETag>"-"</ETag></Contents>')
    entries += [f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in sorted(folders)]
    name = f"<Name>{bucket.name}</Name><KeyCount>{len(entries)}</KeyCount><IsTruncated>false</IsTruncated>"
    return f'<?xml version="1.0"?><ListBucketResult>{name}{"".join(entries)}</ListBucketResult>'.encode()


def answer(root: Path, first: str, headers: dict[str, str], value: bytes) -> list[bytes]:
    """Return the head and the body of the answer to one request."""
    method, target, _ = first.split(" ")
    path, _, query = target.partition("?")
    place = root / unquote(path).strip("/")
    status, body, more = "200 OK", b"", {"Content-Type": "application/octet-stream"}
    if method == "PUT":
        _, tag = content(place) or (b"", None)
        if (tag and "if-none-match" in headers) or headers.get("if-match", tag) != tag:
            status, body = "412 Precondition Failed", b"<Error><Code>PreconditionFailed</Code></Error>"
        else:
            WRITTEN[place] = tagged(value)
            more["ETag"] = WRITTEN[place][1]
    elif "list-type=2" in query:
        body, more = listing(place, parse_qs(query)), {"Content-Type": "application/xml"}
    elif (found := content(place)) is not None:
        body, tag = found
        more |= {"ETag": tag, "Last-Modified": DATE, "Accept-Ranges": "bytes"}
        if wanted := headers.get("range"):
            begin, end = span(wanted, len(body))
            status, more["Content-Range"] = "206 Partial Content", f"bytes {begin}-{end - 1}/{len(body)}"
            body = body[begin:end]
    elif not place.is_dir():
        status = "404 Not Found"
        body = b"<Error><Code>NoSuchKey</Code><Message>There is none.</Message></Error>"
    more["Content-Length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in more.items())
    return [f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1"), b"" if method == "HEAD" else body]


def span(wanted: str, size: int) -> tuple[int, int]:
    """Return which bytes a header asks for: from where, and up to where."""
    first, _, last = wanted.removeprefix("bytes=").partition("-")
    begin = int(first) if first else max(0, size - int(last))
    return begin, min(int(last) + 1, size) if first and last else size


class Connection(asyncio.Protocol):
    """Each request of a connection is answered after the delay."""

    def __init__(self, root: Path, delay: float) -> None:
        self.root, self.delay, self.received = root, delay, bytearray()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            first, *lines = self.received[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            begin, length = end + 4, int(headers.get("content-length", 0))
            if len(self.received) < begin + length:
                if "expect" in headers and len(self.received) == begin:
                    self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                return
            value = bytes(self.received[begin : begin + length])
            del self.received[: begin + length]
            asyncio.get_running_loop().call_later(self.delay, self.respond, first, headers, value)

    def respond(self, *request: Any) -> None:
        if not self.transport.is_closing():
            self.transport.writelines(answer(self.root, *request))


def serve(root: str, milliseconds: float, connection: Any) -> None:
    """Serve a directory on a free port, which is sent through `connection`, until the process ends."""

    async def forever() -> None:
        def connected() -> Connection:
            return Connection(Path(root), milliseconds / 1000)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(connected, "127.0.0.1", 0, backlog=1024)
        connection.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())
