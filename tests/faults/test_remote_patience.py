"""Rows 93, 94, 101, 115, 118, 120, 121 far away: values that change between requests, servers that come to no end."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, ConflictError, StoreError
from blizzarr.stores import FsspecStore, ObjectStore
from support.child import Child, answer
from support.faulty_server import FaultyServer, store_at, times

VALUES = np.arange(1, 513, dtype="u2")
KEY = "/bucket/a/c/0"
QUICK = {"allow_http": True, "timeout": "200ms"}
BACKOFF = {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=5)}
TWICE = {"max_retries": 1, "backoff": BACKOFF}


def stored(server: FaultyServer, **layout: Any) -> dict[str, bytes]:
    """The values of an array of two inner chunks, which are put on the server."""
    layout = layout or {"chunks": 64, "shards": 512, "compressors": None}
    values: dict[str, bytes] = {}
    blizzarr.create_array(values, data=VALUES, fill_value=9, **layout)
    server.objects.update({f"/bucket/a/{key}": bytes(value) for key, value in values.items()})
    return values


def shortened() -> bytes:
    """A shard with one inner chunk, the first."""
    values: dict[str, bytes] = {}
    array = blizzarr.create_array(values, shape=512, dtype="u2", fill_value=9, chunks=64, shards=512, compressors=None)
    array[0] = 1
    return bytes(values["c/0"])


def gets(server: FaultyServer, ending: str = "c/0") -> int:
    return sum(method == "GET" and path.endswith(ending) for method, path in server.requests)


def by_http(server: FaultyServer) -> ObjectStore:
    return ObjectStore.from_url(f"{server.url}/bucket/a", client_options=QUICK, retry_config=TWICE)


@pytest.mark.parametrize("reach", [FaultyServer.store, by_http])
@pytest.mark.parametrize("cycle", [2, 3, 5])
def test_row_101_a_shard_that_is_longer_and_shorter_by_turns(
    server: FaultyServer, reach: Callable[[FaultyServer], ObjectStore], cycle: int
) -> None:
    """What is beyond the end for one request is there for the next: the shard is read again, of one version."""
    longer = bytes(stored(server)["c/0"])
    shorter = shortened()
    array = blizzarr.open_array(reach(server), mode="r")
    # Index, elements, length and so on: one version for each request.
    versions = itertools.cycle([longer] * cycle + [shorter])
    server.fault = lambda method, path: server.objects.__setitem__(KEY, next(versions)) if path == KEY else None
    for _ in range(6):
        found = array[320:384]
        assert np.array_equal(found, VALUES[320:384]) or (found == 9).all()


def test_row_101_a_range_beyond_the_end_of_what_does_not_change_is_an_error(server: FaultyServer) -> None:
    """Whether the value is too short, or the server refuses a range that is there."""
    whole = bytes(stored(server)["c/0"])
    array = blizzarr.open_array(server.store(), mode="r")
    # The index, at the end, is as it was; the inner chunks are not there.
    server.objects[KEY] = whole[1024:]
    with pytest.raises(BlizzarrError) as caught:
        array[448:512]
    assert caught.value.key == "c/0"
    server.objects[KEY] = whole
    server.fault = lambda method, path: 416 if method == "GET" and path == KEY else None
    server.requests.clear()
    with pytest.raises(BlizzarrError, match="416") as caught:
        array[448:512]
    assert caught.value.key == "c/0"
    assert len(server.requests) < 50


@pytest.mark.parametrize(("reach", "pause"), [(FaultyServer.store, 0), (FaultyServer.store, 0.15), (by_http, 0)])
def test_row_120_another_etag_for_each_answer(
    server: FaultyServer, reach: Callable[[FaultyServer], ObjectStore], pause: float
) -> None:
    """Several requests are never of one version; who waits is told so within seconds. One request is enough for all."""
    stored(server)
    numbers = itertools.count()
    server.tags = lambda value: f'"{next(numbers)}"'
    server.fault = lambda method, path: time.sleep(pause) if path == KEY else None
    store = reach(server)
    array = blizzarr.open_array(store, mode="r")
    for read in (
        lambda: array[320:384],
        lambda: store.get_ranges("c/0", [(0, 4), (-4, 4)]),  # which are two requests
    ):
        began = time.monotonic()
        with pytest.raises(ConflictError, match=r"another ETag"):
            read()
        assert time.monotonic() - began < 20
    assert np.array_equal(array[:], VALUES)


def test_row_101_a_file_of_fsspec_that_is_longer_and_shorter_by_turns(server: FaultyServer) -> None:
    """Where fsspec says that a range is not there, the whole value tells."""
    pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFileSystem

    class Changing(MemoryFileSystem):
        cachable = False
        store: ClassVar = {}

        def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
            size = self.size(path)
            if start and start >= size:
                # The next request finds a longer one.
                self.pipe_file(path, longer)
                raise OSError("416 Requested Range Not Satisfiable")
            return super().cat_file(path, start, end, **options)

    longer = bytes(range(200))
    files = Changing()
    files.pipe_file("/a/c", longer[:50])
    store = FsspecStore(files, "/a")
    parts = store.get_ranges("c", [(100, 20), (190, None)])
    assert parts is not None
    assert [bytes(part) for part in parts] == [longer[100:120], longer[190:]]


@pytest.mark.parametrize("fault", ["stall", "drip", "silence"])
def test_row_115_all_attempts_together_have_one_limit(server: FaultyServer, fault: str) -> None:
    """Two attempts are two requests, wherever the answer stops."""
    stored(server, chunks=512, compressors=None)
    store = server.store(client_options=QUICK, retry_config=TWICE)
    array = blizzarr.open_array(store, mode="r")
    server.requests.clear()
    server.fault = times(1000, fault)
    began = time.monotonic()
    with pytest.raises(StoreError, match=r"after .* s|retries") as caught:
        array[:]
    assert caught.value.key == "c/0"
    assert gets(server) == 2
    # The limit is 0.4 s, and the server's own patience 30 s: the rest is for a machine that is busy.
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("fault", ["silence", "redirect", "try later", 503])
def test_row_115_writes_and_listings_have_a_limit_too(server: FaultyServer, fault: str | int) -> None:
    store = server.store(client_options=QUICK, retry_config=TWICE)
    store.set("a", b"value")
    store.replace("b", None, b"value")
    server.fault = lambda method, path: fault
    began = time.monotonic()
    for work in (lambda: store.list(), lambda: store.list_dir(), lambda: store.version("a"), lambda: store.get("a")):
        server.requests.clear()
        with pytest.raises(StoreError):
            work()
        # Redirects are followed ten times, and on a busy machine the time of the first attempt may end among them.
        assert len(server.requests) <= 4 * (11 if fault == "redirect" else 1)
    if isinstance(fault, int):
        for work in (lambda: store.set("a", b"other"), lambda: store.replace("b", b"value", b"other")):
            server.requests.clear()
            with pytest.raises(StoreError):
                work()
            assert len(server.requests) <= 6
    assert time.monotonic() - began < 25


def test_row_115_what_has_no_server_is_an_error_that_names_the_key() -> None:
    """Nobody listens, or the name of the server does not exist."""
    for url in ("http://127.0.0.1:9", "http://nobody.invalid"):
        store = store_at(url, max_retries=1, client_options=QUICK)
        with pytest.raises(StoreError, match="after 1 retry") as caught:
            store.get("a")
        assert caught.value.key == "a"


def test_ordinary_requests_are_as_few_as_ever(server: FaultyServer) -> None:
    stored(server)
    store = server.store()
    array = blizzarr.open_array(store, mode="r+")
    assert array[3] == 4
    server.requests.clear()

    def asked(work: Callable[[], object]) -> list[str]:
        server.requests.clear()
        work()
        # Some are made at the same time.
        return sorted(method for method, _ in server.requests)

    assert asked(lambda: array[3]) == ["GET", "GET"]
    assert asked(lambda: array[:]) == ["GET"]
    # Each write looks first whether the array was replaced: by its document, and then by the version of that.
    assert asked(lambda: array.__setitem__(slice(None), 7)) == ["GET", "PUT"]
    # The first write of a part looks whether the server refuses what it should, by two conditions.
    assert asked(lambda: array.__setitem__(0, 8)) == ["GET", "GET", "HEAD", "PUT", "PUT", "PUT"]
    assert asked(lambda: array.__setitem__(0, 9)) == ["GET", "HEAD", "PUT"]
    assert asked(lambda: store.version("c/0")) == ["HEAD"]
    assert asked(store.list) == ["GET"]
    assert asked(store.list_dir) == ["GET"]
    assert asked(lambda: store.delete_many(["c/0", "c/1"])) == ["POST"]


@pytest.mark.parametrize("page", [2, 3, 1000])
def test_row_121_a_listing_of_many_parts(server: FaultyServer, page: int) -> None:
    server.objects = {f"/bucket/a/{number}/zarr.json": b"" for number in range(8)}
    server.page = page
    assert server.store().list() == [f"{number}/zarr.json" for number in range(8)]
    assert server.store().list_dir().prefixes == tuple(f"{number}/" for number in range(8))


@pytest.mark.parametrize("page", [7, 1])
def test_row_121_a_server_that_repeats_its_listing_is_found_out(server: FaultyServer, page: int) -> None:
    """It gives the token again that it was given."""
    server.objects = {f"/bucket/a/{number}": b"" for number in range(30)}
    server.page = page
    server.next_token = lambda number, token: token or str(number)
    for work in (server.store().list, server.store().list_dir):
        with pytest.raises(StoreError, match="the listing has no end"):
            work()


@pytest.mark.parametrize("is_same", [True, False])
def test_row_121_a_listing_without_end_and_without_keys_has_a_limit(server: FaultyServer, is_same: bool) -> None:
    """Its parts are empty, and each names the same one, or another one, as the next."""
    server.objects = {f"/bucket/a/{number}": b"" for number in range(3)}
    server.page = 0
    server.next_token = lambda number, token: "0" if is_same else f"0{token or 0}"
    store = server.store(client_options=QUICK, retry_config=TWICE)
    with pytest.raises(StoreError, match="the listing has no end"):
        store.list()


INTERRUPTED = """
from support.faulty_server import store_at
server, kind = ARGUMENTS["server"], ARGUMENTS["kind"]
store = store_at(server, client_options={"allow_http": True, "timeout": "20s"})
array = blizzarr.open_array(store, mode="r+")
work = {
    "one chunk": lambda: array[0],
    "many chunks": lambda: array[:],
    "many values": lambda: store.get_many([f"c/{number}" for number in range(64)]),
    "parts": lambda: store.get_ranges("c/0", [(0, 1), (1 << 20, 1), (2 << 20, 1)]),
    "writing": lambda: array.__setitem__(slice(None), 7),
    "listing": store.list,
    "directory": store.list_dir,
    "open": lambda: blizzarr.open(store),
}[kind]
tell(ready=True)
input()
sent = []

class Deadline(Exception):
    pass

def stop(*_):
    raise Deadline("the time is up")

if ARGUMENTS["handler"]:
    signal.signal(signal.SIGINT, stop)

def send():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.3, send).start()
try:
    work()
except (KeyboardInterrupt, Deadline) as raised:
    tell(late=time.perf_counter() - sent[0], kind=type(raised).__name__)
"""


@pytest.mark.parametrize("handler", [False, pytest.param(True, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "kind", ["one chunk", "many chunks", "many values", "parts", "writing", "listing", "directory", "open"]
)
def test_row_093_an_interrupt_while_a_server_is_silent(server: FaultyServer, kind: str, handler: bool) -> None:
    """Ctrl-C does not wait for answers."""
    stored(server, chunks=8, compressors=None)
    with Child(INTERRUPTED, server=server.url, kind=kind, handler=handler) as child:
        assert child.hear()["ready"]
        server.fault = lambda method, path: "silence"
        child.start()
        facts = child.finish()
    # Without signals it would wait for 30 s.
    assert facts["late"] < 10
    assert facts["kind"] == ("Deadline" if handler else "KeyboardInterrupt")


def test_row_094_the_interpreter_ends_while_a_server_is_silent(server: FaultyServer) -> None:
    """A thread that waits for an answer neither holds up the end nor meets it."""
    stored(server, chunks=8, compressors=None)
    server.fault = lambda method, path: "silence" if "/c/" in path else None
    facts = answer(
        """
        from support.faulty_server import store_at
        array = blizzarr.open_array(store_at(ARGUMENTS["server"]), mode="r")
        for _ in range(3):
            threading.Thread(target=lambda: array[:320], daemon=True).start()
        time.sleep(0.3)
        tell(began=time.time())
        """,
        server=server.url,
    )
    assert time.time() - facts["began"] < 20


def test_row_118_a_write_that_is_refused_for_ever_is_given_up(server: FaultyServer) -> None:
    """An attribute, whose writer knows how often it has tried; chunks are tested in the engine."""
    stored(server)
    array = blizzarr.open_array(server.store(), mode="r+")
    server.fault = lambda method, path: 412 if method == "PUT" and path.endswith("zarr.json") else None
    with pytest.raises((ConflictError, StoreError)):
        array.attrs["a"] = 1


def test_a_failure_ends_the_other_requests(server: FaultyServer) -> None:
    """They wait for what nobody needs any more."""
    stored(server, chunks=8, compressors=None)
    array = blizzarr.open_array(server.store(client_options={"allow_http": True, "timeout": "20s"}), mode="r")
    server.fault = lambda method, path: 403 if path.endswith("c/5") else "silence"
    began = time.monotonic()
    with pytest.raises(StoreError, match="403"):
        array[:100]
    assert time.monotonic() - began < 15


def test_an_event_loop_of_the_caller_goes_on(server: FaultyServer) -> None:
    import asyncio

    stored(server)

    async def work() -> int:
        array = blizzarr.open_array(server.store(), mode="r")
        assert array[3] == 4
        await asyncio.sleep(0)
        return int(array[4])

    assert asyncio.run(work()) == 5
