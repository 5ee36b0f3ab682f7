"""Arrays and groups in object stores: all kinds of work, other programs beside it, and several writers."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest
import zarr
from obstore.store import S3Store, from_url
from zarr.storage import ObjectStore as TheirStore

import blizzarr
from blizzarr.errors import ConflictError, NodeExistsError, NodeNotFoundError, ReadOnlyError, StoreError
from blizzarr.stores import MappingStore, ObjectStore
from support.faulty_server import faulty_server
from support.object_servers import OPTIONS, new_bucket, s3_server

pytest.importorskip("moto")

VALUES = np.arange(60 * 50, dtype="i4").reshape(60, 50)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture
def url(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a new place, whose credentials are in the environment."""
    names = {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "REGION": "us-east-1", "ENDPOINT_URL": server}
    for name, value in {**names, "ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    return f"s3://{new_bucket(server)}/some where/volume.zarr"


LAYOUTS: dict[str, dict[str, Any]] = {
    "v3": {"chunks": (7, 9)},
    "uneven": {"chunks": [[7, [20, 2], 13], 9]},
    "shards": {"chunks": (5, 5), "shards": (20, 25)},
    "uneven shards": {"chunks": (5, 5), "shards": [[15, [20, 2], 5], [10, 40]]},
    "raw shards": {"chunks": (5, 5), "shards": (20, 25), "compressors": None},
    "v2": {"chunks": (7, 9), "zarr_format": 2},
    "v1": {"chunks": (7, 9), "zarr_format": 1},
}


def test_markers_of_directories_are_no_files(server: str) -> None:
    # As consoles and Hadoop make them, which write whole keys, with the slash at their end.
    bucket = new_bucket(server)
    store = ObjectStore.from_url(f"s3://{bucket}/a", **OPTIONS, endpoint=server)
    z = blizzarr.create_array(store, data=np.arange(6), chunks=2)
    for marker in ("a/", "a/c/", "a/b/c/"):
        urlopen(Request(f"{server}/{bucket}/{marker}", b"", method="PUT")).close()
    assert z.nchunks_initialized == 3
    assert blizzarr.create_array(store, data=np.arange(7), overwrite=True)[...].tolist() == list(range(7))
    # One that is not empty has a name that no key can have: nobody touches it.
    urlopen(Request(f"{server}/{bucket}/a/mine/", b"1", method="PUT")).close()
    blizzarr.create_array(store, data=np.arange(3), overwrite=True)
    with urlopen(f"{server}/{bucket}?list-type=2") as answer:
        assert b"<Key>a/mine/</Key>" in answer.read()


# Of these there are smaller tests near by: on directories, and of the parts of shards.
SELDOM = ("uneven", "raw shards", "v1")


@pytest.mark.parametrize(
    "layout", [pytest.param(name, marks=[pytest.mark.thorough] * (name in SELDOM)) for name in LAYOUTS]
)
def test_all_kinds_of_work(url: str, layout: str) -> None:
    z = blizzarr.open_array(url, mode="w", data=VALUES, fill_value=-7, **LAYOUTS[layout])
    expected = VALUES.copy()
    z[3:50:4, 5:-3] = expected[3:50:4, 5:-3] = -1
    z.oindex[[1, 59], [0, 49]] = expected[np.ix_([1, 59], [0, 49])] = 5
    z.append(VALUES[:4])
    expected = np.concatenate([expected, VALUES[:4]])
    again = blizzarr.open(url, mode="r")
    assert np.array_equal(again[:], expected)
    assert np.array_equal(again[60:10:-3, 7], expected[60:10:-3, 7])
    z.attrs["of"] = "this"
    z.resize((11, 70))
    assert blizzarr.open(url).attrs["of"] == "this"
    z.resize((64, 50))
    shrunk = np.full((64, 50), -7, "i4")
    shrunk[:11] = expected[:11]
    assert np.array_equal(blizzarr.open(url)[:], shrunk)
    with pytest.raises(ReadOnlyError):
        again[0] = 1
    with pytest.raises(NodeExistsError):
        blizzarr.create_array(url, shape=1, dtype="u1", zarr_format=LAYOUTS[layout].get("zarr_format", 3))


def test_hierarchies(url: str) -> None:
    root = blizzarr.open_group(url, mode="w", attributes={"title": "brain"})
    root.create_array("a/b/x", data=VALUES, chunks=20)
    root.create_array("y", data=VALUES, chunks=20, shards=40)
    report = blizzarr.check(url)
    assert (report.ok, report.arrays, report.groups) == (True, 2, 3)
    blizzarr.consolidate_metadata(url)
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(f"{url}/nothing")
    assert np.array_equal(blizzarr.open(f"{url}/a/b/x")[:], VALUES)
    copied = blizzarr.copy(blizzarr.open_group(url), f"{url} copy")
    assert blizzarr.diff(url, f"{url} copy").same
    assert sorted(copied) == ["a", "y"]
    del root["a"]
    assert sorted(blizzarr.open_group(url)) == ["y"]
    assert [key for key in ObjectStore.from_url(url).list() if key.startswith("a/")] == []


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_python_reads_and_writes_the_same(url: str, zarr_format: Any) -> None:
    ours = blizzarr.open_array(url, mode="w", data=VALUES, chunks=(7, 9), zarr_format=zarr_format)
    theirs = zarr.open_array(TheirStore(from_url(url, client_options={"allow_http": True})), mode="r+")
    assert np.array_equal(theirs[:], VALUES)
    theirs[10:20] = 3
    ours[:, 40:] = 4
    expected = VALUES.copy()
    expected[10:20] = 3
    expected[:, 40:] = 4
    assert np.array_equal(ours[:], expected)
    assert np.array_equal(theirs[:], expected)


WRITER = """
import sys
import blizzarr
url, me = sys.argv[1], int(sys.argv[2])
z = blizzarr.open(url, mode="r+")
for step in range(10):
    z[me + 4 * step] = me + 1
    z.attrs[f"{me} {step}"] = step
    z.append([100 + me])
"""


@pytest.mark.parametrize("shards", [None, 100], ids=["one chunk", "one shard"])
def test_programs_that_write_at_once_lose_nothing(shards: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """4 programs, each with 10 elements of the same chunk, 10 attributes and 10 appended elements."""
    with faulty_server() as server:  # moto would lose some itself
        environment = {"ENDPOINT_URL": server.url, "ALLOW_HTTP": "true", "SKIP_SIGNATURE": "true", "REGION": "x"}
        for name, value in environment.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        documents: dict[str, bytes] = {}
        chunks = 100 if shards is None else 10
        blizzarr.create_array(documents, shape=40, dtype="u1", chunks=chunks, shards=shards, attributes={"kept": True})
        server.objects.update({f"/bucket/a/{key}": bytes(value) for key, value in documents.items()})
        url = "s3://bucket/a"
        programs = [subprocess.Popen([sys.executable, "-c", WRITER, url, str(number)]) for number in range(4)]
        assert [program.wait(120) for program in programs] == [0] * 4
        z = blizzarr.open(url)
        assert z[:40].tolist() == [1, 2, 3, 4] * 10
        assert sorted(z[40:].tolist()) == sorted([100, 101, 102, 103] * 10)
        assert len(z.attrs) == 41


def test_an_interrupted_append_is_repeated() -> None:
    """The array is longer already; what was not written yet reads as the fill value until the append is repeated."""
    with faulty_server() as running:
        z = blizzarr.open_array(running.store(), mode="w", shape=6, dtype="i2", chunks=4, fill_value=9)
        z[:] = 1
        added = [5, 6, 7, 8]
        running.fault = lambda method, path: 403 if method == "PUT" and path.endswith("c/2") else None
        with pytest.raises(StoreError, match="403"):
            z.append(added, at=6)
        running.fault = lambda method, path: None
        assert blizzarr.open(running.store())[6:].tolist() == [5, 6, 9, 9]
        for _ in range(2):
            assert blizzarr.open(running.store()).append(added, at=6) == (10,)
            assert blizzarr.open(running.store())[6:].tolist() == added
        with pytest.raises(ConflictError, match="found others"):
            blizzarr.open(running.store()).append([5, 6, 7, 1], at=6)


def test_options_are_those_of_the_call(server: str) -> None:
    store = ObjectStore.from_url(f"s3://{new_bucket(server)}/x", endpoint=server, **OPTIONS)
    blizzarr.save(store, VALUES)
    assert np.array_equal(blizzarr.load(store), VALUES)
    theirs = S3Store.from_url(f"{store}", endpoint=server, client_options={"allow_http": True}, **OPTIONS)
    assert np.array_equal(blizzarr.load(theirs), VALUES)


def test_the_shell_shows_what_is_stored(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A listing on S3 has the sizes in it."""
    from blizzarr.cli.app import app

    root = blizzarr.create_group(url)
    root.create_array("raw", data=np.arange(1000, dtype="i4"), chunks=500, compressors=None)
    root.create_array("empty", shape=(10,), dtype="i4")
    app(["ls", "-l", url], standalone_mode=False)
    assert [line.split()[-2:] for line in capsys.readouterr().out.splitlines()[1:]] == [["0", "bytes"], ["3.91", "KiB"]]
    app(["info", f"{url}/raw"], standalone_mode=False)
    assert "3.91 KiB in 2 of 2 chunks, ratio 1.0\N{MULTIPLICATION SIGN}" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["s3", "fsspec"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_around_a_store_is_kept_true(kind: str, zarr_format: int, url: str) -> None:
    """Who opens a node by its own URL does not have the groups around it in the store."""
    place = url if kind == "s3" else f"memory://{url.removeprefix('s3://')}"
    root = blizzarr.create_group(place, zarr_format=zarr_format)
    root.create_array("a/b", data=np.arange(4))

    def changes() -> Iterator[None]:
        yield blizzarr.open_array(f"{place}/a/b", mode="r+").append([7])
        yield blizzarr.open_array(f"{place}/a/b", mode="r+").attrs.update(units="m")
        yield blizzarr.create_array(f"{place}/a/c", data=[1], zarr_format=zarr_format)
        group = blizzarr.open_group(f"{place}/a", mode="r+")
        yield group.create_array("d/e", data=[1, 2])
        yield group["b"].resize(2)
        del group["c"]
        yield

    for _ in changes():
        assert blizzarr.open_group(place, mode="r").metadata.consolidated is None
        blizzarr.consolidate_metadata(f"{place}/a")
        blizzarr.consolidate_metadata(place)
    again = blizzarr.open_group(place, mode="r")
    assert {path: node.shape for path, node in again.members(None) if isinstance(node, blizzarr.Array)} == {
        "a/b": (2,),
        "a/d/e": (2,),
    }
    assert again["a/b"].attrs["units"] == "m"


def test_the_groups_around_a_store_may_be_out_of_reach(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blizzarr.create_group(url)
    array = blizzarr.create_array(f"{url}/a", data=np.arange(4))

    class Refusing(MappingStore):
        def get(self, key: str) -> Any:
            raise StoreError("403 Forbidden", errno=errno.EACCES)

    monkeypatch.setattr(ObjectStore, "store_above", Refusing({}))
    array.append([7])
    assert blizzarr.open_array(f"{url}/a")[...].tolist() == [0, 1, 2, 3, 7]
