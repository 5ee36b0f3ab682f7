"""TensorStore's interface and stores far away: what does not depend on each other is requested at once."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ts
from blizzarr.futures import POOL
from support.faulty_server import FaultyServer, faulty_server

COUNT = 3


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    """A server with arrays; only one of our threads works at once, unless others wait for requests."""
    monkeypatch.setattr(POOL, "_limit", 1)
    with faulty_server() as running:
        for number in range(COUNT):
            blizzarr.create_array(values := {}, data=np.full(4, number))
            running.objects.update({f"/bucket/n{number}/{key}": bytes(value) for key, value in values.items()})
        yield running


def spec(server: FaultyServer, number: int, driver: str = "zarr3") -> dict[str, Any]:
    return {"driver": driver, "kvstore": {"driver": "http", "base_url": server.url, "path": f"/bucket/n{number}/"}}


def documents_together(server: FaultyServer, count: int = COUNT) -> None:
    """Let the server answer the first requests, for so many documents, only together."""
    together, tags, waiting = Barrier(count), server.tags, iter(range(count))

    def wait(value: bytes) -> str | None:
        if value.startswith(b"{") and next(waiting, None) is not None:
            together.wait(5)
        return tags(value)

    server.tags = wait


def test_arrays_are_opened_at_once(server: FaultyServer) -> None:
    documents_together(server)
    opened = [future.result() for future in [ts.open(spec(server, number)) for number in range(COUNT)]]
    assert [store[0].read().result() for store in opened] == list(range(COUNT))


def test_layers_of_a_stack_are_opened_at_once(server: FaultyServer) -> None:
    documents_together(server)
    layers = [
        spec(server, number)
        | {"transform": {**bounds, "output": [{"offset": -bounds["input_inclusive_min"][0], "input_dimension": 0}]}}
        for number, bounds in enumerate({"input_inclusive_min": [4 * at], "input_shape": [4]} for at in range(COUNT))
    ]
    stack = ts.open({"driver": "stack", "layers": layers, "dtype": "int64"}).result()
    assert stack.read().result().tolist() == np.repeat(range(COUNT), 4).tolist()


def test_formats_are_looked_for_at_once(server: FaultyServer) -> None:
    blizzarr.create_array(values := {}, data=np.arange(4), zarr_format=2)
    server.objects["/bucket/n0/.zarray"] = values[".zarray"]
    documents_together(server, 2)
    with pytest.raises(ValueError, match="Multiple possible formats"):
        ts.open(spec(server, 0, "auto")).result()


def test_keys_are_listed_with_one_request(server: FaultyServer) -> None:
    store = server.store()
    for key in ("x/a", "x/b/c", "y/d"):
        store.set(key, b"v")
    place = {"driver": "s3", "bucket": "bucket", "endpoint": server.url, "aws_region": "us-east-1", "path": "a/"}
    keys = ts.KvStore.open({**place, "aws_credentials": {"type": "anonymous"}}).result()
    server.requests.clear()
    assert keys.list().result() == [b"x/a", b"x/b/c", b"y/d"]
    assert len(server.requests) == 1


@pytest.fixture
def place(server: FaultyServer) -> dict[str, Any]:
    kvstore = {"driver": "s3", "bucket": "bucket", "endpoint": server.url, "aws_region": "us-east-1", "path": "a/x/"}
    metadata = {
        "shape": [8],
        "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    }
    return {
        "driver": "zarr3",
        "kvstore": {**kvstore, "aws_credentials": {"type": "anonymous"}},
        "metadata": metadata,
    }


def test_chunks_of_a_transaction_are_stored_at_once(server: FaultyServer, place: dict[str, Any]) -> None:
    store = ts.open(place, create=True).result()
    together, waiting = Barrier(4), iter(range(4))

    def wait(method: str, path: str) -> None:
        if method == "PUT" and "/c/" in path and next(waiting, None) is not None:
            together.wait(5)

    server.fault = wait
    with ts.Transaction() as transaction:
        store.with_transaction(transaction)[...] = np.arange(8, dtype="u1")
    assert store.read().result().tolist() == [*range(8)]


def test_a_resized_array_is_read_together_with_the_groups_above(server: FaultyServer, place: dict[str, Any]) -> None:
    store = ts.open(place, create=True).result()
    server.requests.clear()
    store.resize(exclusive_max=[12]).result()
    made = [(method, path.partition("?")[0].removeprefix("/bucket/")) for method, path in server.requests]
    reads = [("GET", "a/x/zarr.json"), ("GET", "a/zarr.json"), ("GET", "zarr.json")]
    assert sorted(made[:3]) == reads
    # Nothing is stored where the array grows.
    assert sorted(made[3:5]) == [("GET", "a/x/c/4"), ("GET", "a/x/c/5")]
    assert [made[5], *sorted(made[6:])] == [("PUT", "a/x/zarr.json"), *reads[1:]]


def test_an_array_is_created_without_a_look_at_its_place(server: FaultyServer, place: dict[str, Any]) -> None:
    """The server refuses to store a document where there is one. Groups above may have consolidated metadata."""
    kvstore = {**place["kvstore"], "path": "a/y/"}
    ts.open(place, create=True).result()  # This asks, too, whether the server heeds conditions.
    server.requests.clear()
    ts.open({**place, "kvstore": kvstore}, create=True).result()
    above = [("GET", "/bucket/a/zarr.json"), ("GET", "/bucket/zarr.json")]
    made = list(server.requests)
    assert [sorted(made[:2]), made[2:3], sorted(made[3:])] == [above, [("PUT", "/bucket/a/y/zarr.json")], above]
    with pytest.raises(ValueError, match="Error writing"):
        ts.open({**place, "kvstore": kvstore}, create=True).result()
