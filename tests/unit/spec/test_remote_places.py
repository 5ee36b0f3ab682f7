"""Buckets and servers through TensorStore's interface, beside TensorStore itself on the same server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore as ts

import blizzarr
import blizzarr.tensorstore as ours
from blizzarr.errors import SpecError, UnsupportedOperationError
from support.object_servers import http_server, new_bucket, s3_server

pytest.importorskip("obstore")
pytest.importorskip("moto")

VALUES = np.arange(400, dtype="i2").reshape(20, 20)
FACES: dict[str, Any] = {"tensorstore": ts, "blizzarr": ours}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The spec of a new bucket."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    return {"driver": "s3", "bucket": new_bucket(server), "endpoint": server, "aws_region": "us-east-1"}


@pytest.mark.parametrize("reader", FACES)
@pytest.mark.parametrize("writer", FACES)
def test_each_reads_what_the_other_writes(writer: str, reader: str, bucket: dict[str, Any]) -> None:
    spec = {"driver": "zarr3", "kvstore": {**bucket, "path": "a b/c/"}}
    schema = {"chunk_layout": {"read_chunk": {"shape": [3, 4]}, "write_chunk": {"shape": [9, 8]}}}
    array = FACES[writer].open({**spec, "schema": schema}, create=True, dtype="int16", shape=[20, 20]).result()
    array[:] = VALUES
    array[3:5, 2:] = -1
    expected = VALUES.copy()
    expected[3:5, 2:] = -1
    assert np.array_equal(FACES[reader].open(spec).result().read().result(), expected)


def test_generations_are_those_of_tensorstore(bucket: dict[str, Any]) -> None:
    """Both may take turns with conditions on what the other has read or written."""
    one, other = (face.KvStore.open({**bucket, "path": "x/"}).result() for face in (ours, ts))
    first = one.write("a", b"1").result().generation
    assert one.read("a").result().stamp.generation == first == other.read("a").result().stamp.generation
    assert other.write("a", b"2", if_equal=first).result().generation
    assert one.write("a", b"3", if_equal=first).result().generation == b""
    second = other.read("a").result().stamp.generation
    assert one.read("a", if_not_equal=second).result().state == "unspecified"
    assert one.write("a", b"3", if_equal=second).result().generation
    assert one.write("a", b"4", if_equal=b"\2").result().generation == b""
    assert one.write("b", b"4", if_equal=b"\2").result().generation
    assert sorted(one.list().result()) == sorted(other.list().result()) == [b"a", b"b"]
    assert (one["a"], other["b"]) == (b"3", b"4")
    one.delete_range(ours.KvStore.KeyRange("a", "b")).result()
    assert [bytes(key) for key in other.list().result()] == [b"b"]


def test_http(tmp_path: Path) -> None:
    blizzarr.save(tmp_path / "a.zarr", VALUES)
    with http_server(tmp_path, ranges=True) as (url, _):
        for face in FACES.values():
            by_url = face.open(f"{url}/a.zarr|zarr3:").result()
            place = {"driver": "http", "base_url": url, "path": "/a.zarr/", "headers": ["X-Header: value"]}
            by_spec = face.open({"driver": "zarr3", "kvstore": place}).result()
            for array in (by_url, by_spec):
                assert np.array_equal(array[3:7].read().result(), VALUES[3:7])
            with pytest.raises(NotImplementedError):
                face.KvStore.open(url).result().list().result()
        with pytest.raises(PermissionError):
            ours.KvStore.open(url).result().write("a", b"").result()


def test_what_obstore_has_not(bucket: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedOperationError, match="host_header"):
        ours.KvStore.open({**bucket, "host_header": "x"}).result()
    with pytest.raises(UnsupportedOperationError, match='aws_credentials of the type "profile"'):
        ours.KvStore.open({**bucket, "aws_credentials": {"type": "profile"}}).result()
    with pytest.raises(UnsupportedOperationError, match="a query in the base URL"):
        ours.KvStore.open("https://example.org/a?token=x").result()
    with pytest.raises(SpecError):
        ours.KvStore.open({**bucket, "bucket": "?"}).result()
