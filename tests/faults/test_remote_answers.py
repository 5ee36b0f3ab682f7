"""Rows 112, 113 and 116 to 118: what an answer of a server of objects means, and what it does not say."""

from __future__ import annotations

import gzip
import time
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, StoreError
from blizzarr.stores import ObjectStore
from support.faulty_server import Answering, FaultyServer, times
from support.object_servers import requested
from support.remote_arrays import KEY, LAYOUTS, PARTS, VALUES, known, outcome, stored


def error_in_xml(code: str) -> tuple[int, bytes]:
    return 404, f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>Text.</Message></Error>".encode()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((404, b'{"message":"no Route matched with those values"}'), "no Route matched"),
        ((404, b"404 page not found\n"), "404 page not found"),
        ((404, b"default backend - 404"), "default backend"),
        (error_in_xml("NoSuchBucket"), "no such bucket"),
        (error_in_xml("ResourceNotFound"), r"404: Text \(ResourceNotFound\)"),
        (error_in_xml("NoSuchAccessPoint"), "NoSuchAccessPoint"),
    ],
)
def test_row_113_a_404_about_something_else_is_an_error(
    server: FaultyServer, array: Any, answer: tuple[int, bytes], reason: str
) -> None:
    """Of a gateway without a route, or of a store that has no such bucket. Behind HTTP, nothing tells these apart."""
    server.fault = lambda method, path: answer if path.endswith(KEY) else None
    for work in (*(lambda part=part: array[part] for part in PARTS), lambda: array.store.version("c/0")):
        with pytest.raises(StoreError, match=reason) as caught:
            work()
        assert caught.value.key == "c/0"
    before = dict(server.objects)
    with pytest.raises(StoreError, match=reason):
        array[3:7] = 1
    with pytest.raises(StoreError, match=reason):
        array.store.set("c/0", b"value")
    assert server.objects == before
    if b"NoSuchBucket" not in answer[1]:
        assert ObjectStore.from_url(f"{server.url}/bucket/a").get("c/0") is None


@pytest.mark.parametrize("answer", [(404, b""), (404, b"Not Found\n"), error_in_xml("NoSuchKey")])
def test_row_112_a_404_that_is_bare_or_names_the_key_is_the_fill_value(
    server: FaultyServer, array: Any, answer: tuple[int, bytes]
) -> None:
    server.fault = lambda method, path: answer if path.endswith(KEY) else None
    assert (array[:] == 9).all()
    assert (array[3:7] == 9).all()
    assert array.store.version("c/0") is None


def compressed(wanted: str | None, value: bytes) -> bytes:
    """What S3 answers for an object that was stored with ``Content-Encoding: gzip``: ranges of the compressed bytes."""
    stored = gzip.compress(value)
    begin, end = requested(wanted, len(stored)) if wanted else (0, len(stored))
    if begin >= end:
        return b"HTTP/1.1 416 Range\r\nContent-Length: 0\r\n\r\n"
    status = f"206 Part\r\nContent-Range: bytes {begin}-{end - 1}/{len(stored)}" if wanted else "200 OK"
    head = f"HTTP/1.1 {status}\r\nContent-Encoding: gzip\r\nContent-Length: {end - begin}\r\n"
    return head.encode() + b'ETag: "packed"\r\nLast-Modified: Sun, 22 Nov 2026 00:00:00 GMT\r\n\r\n' + stored[begin:end]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("is_http", [False, True])
def test_row_116_objects_that_are_stored_compressed_are_read(server: FaultyServer, layout: str, is_http: bool) -> None:
    """Ranges of them, too, although the server's are those of the compressed bytes."""
    stored(server, layout)
    server.fault = lambda method, path: compressed if path in server.objects and method == "GET" else None
    store = ObjectStore.from_url(f"{server.url}/bucket/a") if is_http else server.store()
    array = blizzarr.open_array(store, mode="r")
    for part in (*PARTS, slice(60, 64), slice(5, 6)):
        assert array[part].tolist() == VALUES[part].tolist()
    server.fault = lambda method, path: lambda wanted, value: compressed(wanted, value)[:-9] + bytes(9)
    with pytest.raises(StoreError, match=r"cannot be decompressed \(Content-Encoding: gzip\)"):
        store.get("zarr.json")


def test_row_116_the_size_of_an_object_that_is_stored_compressed(server: FaultyServer) -> None:
    stored(server, "raw")
    head = b'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 70\r\nETag: "packed"\r\n'
    head += b"Last-Modified: Sun, 22 Nov 2026 00:00:00 GMT\r\n\r\n"
    server.fault = lambda method, path: compressed if method == "GET" else lambda wanted, value: head
    store = server.store()
    assert store.size("c/0") == VALUES.nbytes
    assert bytes(store.get_ranges("c/0", [(126, 2), (-2, None)])[1]) == VALUES[-1:].tobytes()
    assert store.version("c/0") == '"packed"'


def test_row_116_a_part_of_a_compressed_object_is_not_asked_for_again_and_again(server: FaultyServer) -> None:
    """A range beyond the end of the compressed bytes is refused each time, and a look at the length reads all."""
    server.objects["/bucket/a/c/0"] = value = bytes(1000) + VALUES.tobytes()
    head = b'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 70\r\nETag: "packed"\r\n'
    head += b"Last-Modified: Sun, 22 Nov 2026 00:00:00 GMT\r\n\r\n"
    server.fault = lambda method, path: compressed if method == "GET" else lambda wanted, value: head
    store = server.store()
    server.requests.clear()
    assert store.get_ranges("c/0", [(1000, 8)]) == [value[1000:1008]]
    assert [method for method, _ in server.requests] == ["GET", "HEAD", "GET", "GET"]


def test_a_page_that_was_stored_is_a_value(server: FaultyServer) -> None:
    page = b"<!DOCTYPE html><html>stored</html>"
    server.fault = lambda method, path: lambda wanted, value: answer
    answer = f'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\nETag: "page"\r\n'.encode()
    answer += b"Last-Modified: Sun, 22 Nov 2026 00:00:00 GMT\r\n\r\n" + page
    store = server.store()
    assert [bytes(store.get(key) or b"") for key in ("index.html", "x/index.htm")] == [page, page]
    with pytest.raises(StoreError, match="a page of HTML"):
        store.get("c/0")


@pytest.mark.parametrize(
    "fault", ["see another", "see itself", 307, (200, b"<Error><Code>InternalError</Code></Error>")]
)
def test_row_116_an_answer_to_another_request_confirms_no_change(
    server: FaultyServer, array: Any, fault: int | str | tuple[int, bytes]
) -> None:
    """After 303, what is there is read: the answer to that says nothing of the change."""
    server.objects["/bucket/a/welcome"] = b""
    for found in (known(server), server):
        before = dict(found.objects)
        server.fault = lambda method, path: fault if method in ("PUT", "POST", "DELETE") else None
        for write in (
            lambda: array.__setitem__(3, 7),
            lambda: array.__setitem__(slice(None), 7),
            lambda: array.attrs.update(a=1),
            lambda: array.resize(100),
            lambda: array.store.set("c/0", b"value"),
            lambda: array.store.replace("new", None, b"value"),
            lambda: array.store.delete("c/0"),
        ):
            with pytest.raises(StoreError):
                write()
        server.fault = lambda method, path: None
        assert server.objects == before


@pytest.mark.parametrize("fault", [409, 404, (404, b"<Error><Code>NoSuchKey</Code></Error>"), 405, 412])
def test_row_118_a_server_that_takes_no_writes_is_given_up_soon(
    server: FaultyServer, fault: int | tuple[int, bytes]
) -> None:
    """Unless what it says may end: 412 is also what it answers while others write."""
    array = stored(known(server), "plain")
    server.fault = lambda method, path: fault if method == "PUT" else None
    status = fault if isinstance(fault, int) else fault[0]
    began = time.monotonic()
    with pytest.raises(StoreError, match=str(status)):
        array.store.set("c/0", b"value")
    if status == 412:
        return
    for write in (
        lambda: array.__setitem__(3, 7),
        lambda: array.attrs.update(a=1),
        lambda: array.resize(100),
        lambda: array.append([1]),
        lambda: array.store.replace("new", None, b"value"),
    ):
        with pytest.raises(StoreError, match=str(status)):
            write()
    assert time.monotonic() - began < 25  # a write that may succeed later is tried for 30 s, each


def answer(status: int, body: bytes, **headers: str) -> bytes:
    """The bytes of an answer."""
    lines = {"Content-Length": str(len(body)), "ETag": '"e"', "Connection": "close"}
    lines |= {name.replace("_", "-"): text for name, text in headers.items()}
    head = "".join(f"{name}: {text}\r\n" for name, text in lines.items())
    return f"HTTP/1.1 {status} Text\r\n{head}\r\n".encode() + body


def part_of(wanted: str | None, value: bytes, more: int = 0, **headers: str) -> bytes:
    """The bytes of an answer with what is wanted, moved by so many bytes."""
    if wanted is None:
        return answer(200, value, **headers)
    begin, end = requested(wanted, len(value))
    place = f"bytes {begin + more}-{end + more - 1}/{len(value)}"
    return answer(206, value[begin + more : end + more], **{"Content_Range": place, **headers})


LIES: dict[str, Answering] = {
    "accepted": lambda wanted, value: answer(202, value),
    "no content": lambda wanted, value: answer(205, b""),
    "a part of the whole": lambda wanted, value: (
        part_of(wanted or "bytes=0-63", value, Content_Range=f"bytes 0-63/{len(value)}")
        if wanted is None
        else part_of(wanted, value, more=-1)
    ),
    "all as a part": lambda wanted, value: answer(206, value),
    "several parts": lambda wanted, value: part_of(
        wanted, bytes(len(value)), Content_Type="multipart/byteranges; boundary=X"
    ),
    "compressed": lambda wanted, value: part_of(wanted, bytes(len(value)), Content_Encoding="gzip"),
    "a part of a longer whole": lambda wanted, value: part_of(wanted, value, Content_Range="bytes 0-3/9999"),
    "an earlier part": lambda wanted, value: part_of(wanted, value, more=-1),
    "an error": lambda wanted, value: answer(200, b"<Error><Code>InternalError</Code></Error>"),
}
"""What no elements may come from: answers to a GET that are no errors by their first line."""


@pytest.mark.parametrize("lie", LIES)
def test_row_116_no_elements_come_from_what_is_no_answer_to_a_read(server: FaultyServer, lie: str) -> None:
    """Behind HTTP or from a store; whatever the layout, and also for values that nobody decodes."""
    for layout in LAYOUTS:
        array = stored(server, layout)
        arrays = [array, blizzarr.open_array(f"{server.url}/bucket/a", mode="r")]
        server.fault = lambda method, path: LIES[lie] if method == "GET" and path.endswith(KEY) else None
        for opened in arrays:
            for part in (slice(None), slice(3, 7), slice(60, 62)):
                found = outcome(lambda opened=opened, part=part: opened[part])
                assert found.key == "c/0" if isinstance(found, BlizzarrError) else np.array_equal(found, VALUES[part])
        if lie in ("accepted", "no content", "a part of the whole", "several parts", "compressed"):
            with pytest.raises(StoreError, match="cannot be used"):
                array.store.get("c/0")
        server.fault = lambda method, path: None


def chunked(body: bytes) -> bytes:
    pieces = [body[start : start + 50] for start in range(0, len(body), 50)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


def without_length(answer: bytes, *, as_chunks: bool) -> bytes:
    """An answer that says by its chunks where it ends; or not at all, so that it ends where the connection does."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
    if not as_chunks:
        return b"\r\n".join(lines) + b"\r\n\r\n" + body
    return b"\r\n".join([*lines, b"Transfer-Encoding: chunked"]) + b"\r\n\r\n" + chunked(body)


def of_unknown(answer: bytes) -> bytes:
    """An answer with a part that does not say how long the whole is."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = [
        line.rpartition(b"/")[0] + b"/*" if line.startswith(b"Content-Range") else line for line in head.split(b"\r\n")
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


UNUSUAL: dict[str, Answering] = {
    "in chunks": lambda wanted, value: without_length(part_of(wanted, value), as_chunks=True),
    "a part of unknown": lambda wanted, value: of_unknown(part_of(wanted, value)),
    "sent in signed chunks": lambda wanted, value: part_of(wanted, value, Content_Encoding="aws-chunked"),
    "both": lambda wanted, value: without_length(of_unknown(part_of(wanted, value)), as_chunks=True),
}
"""Answers that RFC 9110 and 9112 allow, and few servers give."""


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", UNUSUAL)
def test_row_116_answers_without_lengths(server: FaultyServer, layout: str, name: str) -> None:
    array = stored(server, layout)
    whole = array.store.get("c/0")
    server.fault = lambda method, path: UNUSUAL[name] if method == "GET" and path.endswith(KEY) else None
    for opened in (array, blizzarr.open_array(f"{server.url}/bucket/a", mode="r")):
        for part in (slice(None), slice(3, 7), slice(60, 62)):
            assert np.array_equal(opened[part], VALUES[part])
        assert opened.store.get("c/0") == whole
        assert opened.store.get_ranges("c/0", [(2, 5), (-3, None)]) == [whole[2:7], whole[-3:]]


def test_row_116_an_answer_whose_end_cannot_be_told_is_an_error(server: FaultyServer) -> None:
    """It looks the same when the connection is lost; so does a chunk that breaks off."""
    array = stored(server, "plain")
    for lie, reason in (
        (lambda wanted, value: without_length(answer(200, value), as_chunks=False), "cannot be used"),
        (lambda wanted, value: without_length(answer(200, value), as_chunks=True)[:-9], "broke off"),
    ):
        server.fault = lambda method, path, lie=lie: lie if method == "GET" and path.endswith(KEY) else None
        with pytest.raises(StoreError, match=reason):
            array[:]


@pytest.mark.parametrize("status", [500, 503])
def test_row_117_a_write_that_was_made_although_a_proxy_says_503(server: FaultyServer, status: int) -> None:
    """It has lost the answer of the store, which would have a code."""
    array = stored(known(server), "plain")
    server.fault = times(1, f"applied, then {status}", "PUT", "zarr.json")
    array.resize(70)
    assert array.shape == (70,)
    server.fault = times(1, f"applied, then {status}", "PUT", "new")
    assert array.store.replace("new", None, b"value") is True


@pytest.mark.parametrize("page", [3, 1000])
def test_row_121_a_server_that_heeds_no_delimiter(server: FaultyServer, page: int) -> None:
    """What is further below shows that a member is there, and is none itself."""
    group = blizzarr.create_group(server.store())
    group.create_array("b", data=VALUES, chunks=4)
    group.create_group("c")
    server.delimits, server.page = False, page
    assert sorted(blizzarr.open_group(server.store(), mode="r")) == ["b", "c"]
    assert server.store().list_dir("b/") == (("b/zarr.json",), ("b/c/",))
    assert len([*server.store().list()]) == 3 + VALUES.size // 4
