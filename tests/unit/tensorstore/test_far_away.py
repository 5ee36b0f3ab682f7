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
