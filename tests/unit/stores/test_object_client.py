"""Objects are read and written by the engine itself: how many requests there are, how many at once, with which keys."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.config import config
from blizzarr.errors import StoreError
from blizzarr.stores import ObjectStore
from support.far_away import requested
from support.faulty_server import FaultyServer, faulty_server, times
from support.object_servers import new_bucket, s3_server

VALUES = np.arange(1, 401, dtype="u2")


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as running:
        values: dict[str, bytes] = {}
        blizzarr.create_array(values, data=VALUES, chunks=1, compressors=None)
        running.objects.update({f"/bucket/a/{key}": bytes(value) for key, value in values.items()})
        yield running


class Slow:
    """Answers take a while; counts how many are given at once."""

    def __init__(self, server: FaultyServer, seconds: float) -> None:
        self.now = self.most = 0
        self._lock, self._seconds, self._tags = Lock(), seconds, server.tags
        server.tags = self._answer

    def _answer(self, value: bytes) -> str | None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self._seconds)
        with self._lock:
            self.now -= 1
        return self._tags(value)


def test_as_many_requests_as_the_server_answers_well(server: FaultyServer) -> None:
    """More than at first, as each answer takes as long as before."""
    array = blizzarr.open_array(server.store(), mode="r")
    slow = Slow(server, 0.1)
    assert np.array_equal(array[:], VALUES)
    assert 64 < slow.most <= 256


def test_what_was_learnt_of_a_server_holds_for_another_array(server: FaultyServer) -> None:
    """It asked for fewer requests, and so gets half as many, whoever makes them."""
    server.fault = times(1, 503)
    assert blizzarr.open_array(server.store(), mode="r")[0] == 1
    another = blizzarr.open_array(server.store(retry_config={"max_retries": 2}), mode="r")
    slow = Slow(server, 0.1)
    assert np.array_equal(another[:62], VALUES[:62])
    assert slow.most < 40


@pytest.mark.parametrize(("method", "ending"), [("GET", "c/0"), ("PUT", "new")])
def test_a_body_that_came_too_slowly_is_sent_again(server: FaultyServer, method: str, ending: str) -> None:
    """S3 says so with the status 400, as many requests that have to share a line are slow."""
    answer = b"<Error><Code>RequestTimeout</Code></Error>"
    server.fault = times(1, (400, answer), method, ending)
    store = server.store(retry_config={"max_retries": 2})
    store.set("new", b"value")
    assert (store.get("c/0"), store.get("new")) == (b"\1\0", b"value")


def test_many_values_are_requested_at_once(server: FaultyServer) -> None:
    slow = Slow(server, 0.05)
    keys = ["c/3", "missing", *(f"c/{number}" for number in range(40))]
    found = server.store().get_many(keys)
    assert found == [b"\4\0", None, *(VALUES[number].tobytes() for number in range(40))]
    assert slow.most > 15


def test_one_of_many_values_that_cannot_be_read(server: FaultyServer) -> None:
    server.fault = lambda method, path: 403 if path.endswith("c/7") else None
    with pytest.raises(StoreError) as caught:
        server.store().get_many([f"c/{number}" for number in range(10)])
    assert (caught.value.key, caught.value.direction) == ("c/7", "read")


def test_many_values_of_a_derived_store(server: FaultyServer) -> None:
    class Loud(ObjectStore):
        def get(self, key: str) -> Any:
            return key.encode()

    store = server.store()
    assert Loud(store._settings).get_many(["a", "b"]) == [b"a", b"b"]


@pytest.mark.parametrize("most", [1, 5])
def test_the_setting_is_a_limit(server: FaultyServer, most: int) -> None:
    array = blizzarr.open_array(server.store(), mode="r")
    slow = Slow(server, 0.01)
    with config.set(concurrent_requests=most, threads=1):
        assert np.array_equal(array[:40], VALUES[:40])
    assert slow.most == most


def test_a_server_that_asks_for_fewer_requests_gets_fewer(server: FaultyServer) -> None:
    """It refuses whatever is more than it wants to answer at once; nothing is lost, and no request fails for good."""
    store = server.store(retry_config={"max_retries": 20, "backoff": {"init_backoff": timedelta(milliseconds=5)}})
    array = blizzarr.open_array(store, mode="r")
    slow = Slow(server, 0.005)
    server.fault = lambda method, path: 503 if slow.now >= 8 else None
    assert np.array_equal(array[:], VALUES)


def test_nothing_enters_python_for_each_chunk(server: FaultyServer) -> None:
    array = blizzarr.open_array(server.store(), mode="r")
    assert array[0] == 1
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    with config.set(concurrent_requests=1):
        sys.setprofile(count)
        try:
            found = array[:100]
        finally:
            sys.setprofile(None)
    assert np.array_equal(found, VALUES[:100])
    assert calls < 50


def test_an_array_opens_with_three_requests(server: FaultyServer) -> None:
    server.requests.clear()
    assert blizzarr.open(server.store(), mode="r")[5] == 6
    assert sorted(path.removeprefix("/bucket/a/") for _, path in server.requests) == [
        ".zarray",
        ".zattrs",
        "c/5",
        "zarr.json",
    ]


@pytest.mark.parametrize("list_them", [ObjectStore.list, ObjectStore.list_dir, lambda store: [*store.list_sizes()]])
def test_an_answer_that_is_no_listing(server: FaultyServer, list_them: Any) -> None:
    """It is not an empty one, nor one that ends where the server has more."""
    store = server.store()
    server.fault = lambda method, path: "html" if "list-type=2" in path else None
    with pytest.raises(StoreError, match="it is no listing"):
        list_them(store)
    server.fault = lambda method, path: None
    server.page, server.next_token = 1, lambda number, token: ""
    with pytest.raises(StoreError, match="goes on, but does not say where"):
        list_them(store)


def test_an_object_that_stands_for_the_directory_is_no_key(server: FaultyServer) -> None:
    server.page = 1  # a part of the listing that has nothing else
    server.objects = {"/bucket/a/": b"", "/bucket/a/b/": b"", "/bucket/a/b/c": b"value"}
    store = server.store()
    assert store.list_dir() == ((), ("b/",))
    assert store.list_dir("b/") == (("b/c",), ())
    assert store.list("b/") == ["b/c"]


@pytest.mark.parametrize("arrives", [True, False])
def test_a_conflict_with_a_request_whose_answer_was_lost(server: FaultyServer, arrives: bool) -> None:
    """409 says nothing of the object, whose writer may be the request before: it is not known not to be there."""
    store, left = server.store(), [500, 409, 409]
    server.code = "ConditionalRequestConflict"

    def fault(method: str, path: str) -> int | None:
        found = left.pop(0) if left and method == "PUT" else None
        if arrives and method == "PUT" and found is None:
            server.objects["/bucket/a/new"] = b"value"
        return found

    server.fault = fault
    assert store.replace("new", None, b"value")
    assert bytes(store.get("new") or b"") == b"value"


@pytest.mark.parametrize("fault", ["503, cut", "412, cut"])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_an_error_whose_text_breaks_off(server: FaultyServer, fault: str, method: str) -> None:
    """The status says whether the request is made again, and whether the object is looked at."""
    store = server.store()
    store.set("b", b"before")
    server.fault = times(1, fault, method, ending="b")
    if method == "PUT":
        assert store.replace("b", b"before", b"after")
        assert bytes(store.get("b") or b"") == b"after"
    elif fault == "503, cut":
        assert bytes(store.get("b") or b"") == b"before"
    else:
        with pytest.raises(StoreError):
            store.get("b")


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as url:
        yield url


def test_a_function_that_provides_credentials(s3: str) -> None:
    """It is asked once, and again when what it has provided expires."""
    asked: list[datetime | None] = []

    def provide() -> dict[str, Any]:
        asked.append(None if len(asked) < 1 else datetime.now(UTC) + timedelta(hours=1))
        return {"access_key_id": "key", "secret_access_key": "secret", "token": None, "expires_at": asked[-1]}

    store = ObjectStore.from_url(f"s3://{new_bucket(s3)}/a", endpoint=s3, region="x", credential_provider=provide)
    for number in range(5):
        store.set(f"{number}", b"value")
    assert bytes(store.get("3") or b"") == b"value"
    assert asked == [None]


@pytest.mark.parametrize("status", [400, 401, 403])
def test_credentials_that_expire_before_their_time(status: int) -> None:
    """They were revoked, or a clock is wrong: the function is asked again, once, and the request is made again."""
    asked: list[int] = []

    def provide() -> dict[str, Any]:
        asked.append(len(asked))
        return {"access_key_id": "key", "secret_access_key": "secret", "token": f"t{len(asked)}", "expires_at": None}

    with faulty_server() as server:
        retries = {"retry_config": {"max_retries": 0}}
        store = ObjectStore.from_url(
            "s3://bucket/a", endpoint=server.url, region="x", credential_provider=provide, **retries
        )
        assert store.replace("a", None, b"before")
        accepted = 1
        expired = status, b"<Error><Code>ExpiredToken</Code></Error>"
        server.fault = lambda method, path: expired if len(asked) < accepted else None
        uses: list[tuple[Any, Any]] = [
            (lambda: bytes(store.get("a") or b""), b"before"),
            (lambda: [bytes(part) for part in store.get_ranges("a", [(1, 2)]) or ()], [b"ef"]),
            (lambda: store.replace("a", b"before", b"after"), True),
            (lambda: store.set("b", b"value"), None),
            (lambda: sorted(store.list()), ["a", "b"]),
            (lambda: store.delete("b"), None),
            (lambda: [value and bytes(value) for value in store.get_many(["a", "b"] * 20)], [b"after", None] * 20),
        ]
        # An answer to HEAD has no code; 403 may be that of an object that is missing.
        uses += [(lambda: store.size("a"), 5)] if status != 403 else []
        for use, expected in uses:
            accepted += 1
            assert use() == expected
            assert len(asked) == accepted
        server.fault = lambda method, path: expired
        with pytest.raises(StoreError, match=rf"the server answered {status}: ExpiredToken, after 1 retry"):
            store.get("a")
        assert len(asked) == accepted + 1


@pytest.mark.parametrize("name", ["access_key_id", "secret_access_key", "token"])
def test_a_line_break_in_credentials_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As files and secrets of clusters end with one; no header can have it."""
    given = {"access_key_id": "key", "secret_access_key": "secret", "token": "t", name: "given\n"}
    options: dict[str, Any] = {"endpoint": "http://localhost:9", "region": "x"}
    store = ObjectStore.from_url("s3://bucket/a", **options, credential_provider=lambda: {**given, "expires_at": None})
    with pytest.raises(StoreError, match=f"printable ASCII characters in {name}, .* a line break"):
        store.get("zarr.json")
    with pytest.raises(ValueError, match="expected printable ASCII characters"):
        ObjectStore.from_url("s3://bucket/a", **options, **given).get("zarr.json")
    monkeypatch.setenv(f"AWS_{'session_' if name == 'token' else ''}{name}".upper(), "given\n")
    with pytest.raises(ValueError, match="expected printable ASCII characters"):
        ObjectStore.from_url("s3://bucket/a", **options).get("zarr.json")


@contextmanager
def answering(answer: bytes) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """A server that answers everything; yield its URL, and the paths and authorizations of requests."""
    requests: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append((self.path, self.headers.get("Authorization")))
            self.send_response(200)
            self.send_header("ETag", '"1"')
            self.send_header("Last-Modified", "Sun, 22 Nov 2026 00:00:00 GMT")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", requests
        running.shutdown()


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, 1e19])
def test_credentials_may_expire_after_all_time(seconds: float) -> None:
    class Moment:
        def timestamp(self) -> float:
            return seconds

    provided = {"access_key_id": "key", "secret_access_key": "secret", "expires_at": Moment()}
    with answering(b"value") as (url, requests):
        store = ObjectStore.from_url("s3://b/a", endpoint=url, region="x", credential_provider=lambda: provided)
        assert bytes(store.get("k") or b"") == b"value"
        assert len(requests) == 1


@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_functions_that_provide_credentials_for_google_and_azure(is_asynchronous: bool) -> None:
    """They may be asynchronous, and each is asked once; signatures of Azure may be pairs."""
    asked: list[str] = []

    def provider(**members: Any) -> Any:
        def provide() -> dict[str, Any]:
            asked.append("")
            return {"expires_at": datetime.now(UTC) + timedelta(hours=1), **members}

        async def provide_later() -> dict[str, Any]:
            await asyncio.sleep(0)
            return provide()

        return provide_later if is_asynchronous else provide

    with answering(b"value") as (url, requests):
        google = ObjectStore.from_url("gs://b/a", base_url=url, credential_provider=provider(token="t0"))
        azure = {"endpoint": url, "account_name": "acc"}
        pairs = [("sv", "1"), ("sig", "a+b")]
        for store in (
            google,
            ObjectStore.from_url("az://b/a", **azure, credential_provider=provider(token="t1")),
            ObjectStore.from_url("az://b/a", **azure, credential_provider=provider(sas_token=pairs)),
            ObjectStore.from_url("az://b/a", **azure, credential_provider=provider(sas_token="?sv=1&sig=a%2Bb")),
        ):
            assert [bytes(store.get("k") or b"") for _ in range(2)] == [b"value"] * 2
    assert requests[::2] == [
        ("/b/a%2Fk", "Bearer t0"),
        ("/b/a/k", "Bearer t1"),
        ("/b/a/k?sv=1&sig=a%2Bb", None),
        ("/b/a/k?sv=1&sig=a%2Bb", None),
    ]
    assert len(asked) == 4


def test_options_that_a_provider_has(s3: str) -> None:
    """Those of obstore know the region, for one; asynchronous ones work in a forked child, too."""

    class Provider:
        config: ClassVar = {"region": "us-east-1", "endpoint": s3}

        async def __call__(self) -> dict[str, Any]:
            return {"access_key_id": "key", "secret_access_key": "secret", "expires_at": None}

    store = ObjectStore.from_url(f"s3://{new_bucket(s3)}/a", credential_provider=Provider())
    store.set("b", b"value")
    child = os.fork()
    if not child:
        signal.alarm(60)
        store.set("c", bytes(store.get("b") or b""))
        os._exit(0)
    os.waitpid(child, 0)
    assert bytes(store.get("c") or b"") == b"value"


def test_a_provider_that_fails(s3: str) -> None:
    def provide() -> dict[str, Any]:
        raise RuntimeError("the vault is closed")

    store = ObjectStore.from_url(f"s3://{new_bucket(s3)}/a", endpoint=s3, region="x", credential_provider=provide)
    with pytest.raises(
        StoreError, match=r"the credential provider failed: RuntimeError: the vault is closed$"
    ) as caught:
        store.get("a")
    assert caught.value.key == "a"
    assert "no credentials" not in str(caught.value)


def test_advice_is_given_once_where_credentials_are_refused(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service of the machine that has credentials answers 403, as in a container that may not ask it."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "PROFILE", "SKIP_SIGNATURE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    server.fault = lambda method, path: 403
    store = ObjectStore.from_url("s3://bucket/a", endpoint=server.url, region="x", metadata_endpoint=server.url)
    with pytest.raises(StoreError, match="no credentials were found") as caught:
        store.get("a")
    assert str(caught.value).count("skip_signature=True") == 1


def test_an_append_does_not_read_the_document_that_it_has_stored(server: FaultyServer) -> None:
    array = blizzarr.open_array(server.store(), mode="r+")
    array.append(VALUES[:1])
    requested(server)
    array.append(VALUES[:1])
    # The handle knows the version that it has stored, which is replaced if it is still there.
    requests = requested(server)
    assert requests[0] == ("PUT", "zarr.json")
    assert {method for method, _ in requests} == {"PUT"}
    assert array[-1] == 1
