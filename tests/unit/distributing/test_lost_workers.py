"""Four worker processes, one of which is killed: what comes out is as if it had not been."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.distributing import workers_of
from blizzarr.stores import LocalStore, Store
from support.object_servers import OPTIONS, new_bucket, s3_server
from support.processes import processes
from support.slow_store import SlowStore

DATA = np.arange(64 * 30, dtype="int32").reshape(64, 30)
PIECES = 32


@pytest.fixture
def pool() -> Iterator[ProcessPoolExecutor]:
    with processes(4) as made:
        yield made


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as server:
        yield server


@pytest.fixture(params=["directory", pytest.param("s3", marks=pytest.mark.thorough)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Store]:
    """A function from names to stores."""
    if request.param == "directory":
        return lambda name: LocalStore(tmp_path / name)
    from obstore.store import S3Store

    from blizzarr.stores import ObjectStore

    server = request.getfixturevalue("s3")
    bucket = new_bucket(server)
    options = {"endpoint": server, "client_options": {"allow_http": True}}
    return lambda name: ObjectStore(S3Store(bucket, prefix=name, **OPTIONS, **options))


class Killer:
    """Kills a worker of the pool once a quarter of the work is done; `told` has all progress."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool
        self.killed: int | None = None
        self.told: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.told.append((done, total))
        if self.killed is None and done * 4 >= total:
            self.killed = next(iter(self._pool._processes))
            os.kill(self.killed, signal.SIGKILL)

    def check(self) -> None:
        """A worker was killed on the way, and progress went on to the end."""
        assert self.killed is not None
        assert self.told == sorted(self.told)
        assert self.told[-1][0] == self.told[-1][1]
        assert len(self.told) > 8


def test_copy(place: Callable[[str], Store], pool: ProcessPoolExecutor) -> None:
    blizzarr.create_array(place("a"), data=DATA, chunks=(1, 30), shards=(2, 30))
    source = blizzarr.open(SlowStore(place("a"), 0.02), mode="r")
    told = Killer(pool)
    with blizzarr.config.set(copy_bytes=DATA.nbytes // PIECES):
        copied = blizzarr.copy(source, place("b"), chunks=(2, 10), progress=told, executor=pool)
    np.testing.assert_array_equal(copied[:], DATA)
    assert place("b").get("blizzarr-copy.json") is None
    told.check()


@pytest.mark.parametrize("place", ["directory"], indirect=True)
def test_copy_of_stored_objects(place: Callable[[str], Store], pool: ProcessPoolExecutor) -> None:
    blizzarr.create_array(place("a"), data=DATA, chunks=(2, 30))
    source = blizzarr.open(SlowStore(place("a"), 0.02), mode="r")
    told = Killer(pool)
    blizzarr.copy(source, place("b"), progress=told, executor=pool)
    assert {key: bytes(place("b").get(key) or b"") for key in place("b").list()} == {
        key: bytes(place("a").get(key) or b"") for key in place("a").list()
    }
    told.check()


def test_check_and_record(place: Callable[[str], Store], pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    made = blizzarr.create_array(place("a"), data=DATA, chunks=(2, 30))
    told = Killer(pool)
    slow = SlowStore(place("a"), 0.02)
    report = blizzarr.check(slow, record=tmp_path / "sums", progress=told, executor=pool)
    told.check()
    assert (report.ok, report.objects, report.chunks) == (True, 32, 32)
    blizzarr.check(place("a"), record=tmp_path / "alone")
    assert _sums(tmp_path / "sums") == _sums(tmp_path / "alone")
    key = made.store.list("c")[5]
    place("a").set(key, b"damaged")
    found = blizzarr.check(place("a"), against=tmp_path / "sums", executor=pool)
    assert [(finding.kind, finding.key) for finding in found.findings] == [("chunk", key), ("changed", key)]
    assert [str(finding) for finding in found.findings] == [
        str(finding) for finding in blizzarr.check(place("a"), against=tmp_path / "sums").findings
    ]


def _sums(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if not line.startswith("# recorded")]


@pytest.mark.parametrize(
    ("place", "chunks"),
    [("directory", (2, 30)), ("directory", (4, 10)), ("s3", (2, 30))],
    indirect=["place"],
)
def test_diff(place: Callable[[str], Store], pool: ProcessPoolExecutor, chunks: Any) -> None:
    blizzarr.create_array(place("a"), data=DATA, chunks=(2, 30))
    other = DATA.copy()
    other[7, 3], other[50, 29] = -1, -2
    b = blizzarr.create_array(place("b"), data=other, chunks=chunks)
    told = Killer(pool)
    with blizzarr.config.set(copy_bytes=8 * DATA.nbytes // PIECES):
        a = blizzarr.open(SlowStore(place("a"), 0.02), mode="r")
        found = blizzarr.diff(a, b, progress=told, executor=pool)
        alone = blizzarr.diff(blizzarr.open(place("a"), mode="r"), b)
    told.check()
    assert [difference.to_dict() for difference in found.differences] == [
        difference.to_dict() for difference in alone.differences
    ]
    assert found.differences[0].elements is not None
    assert found.differences[0].elements.different == 2


def test_upgrade(pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    blizzarr.create_array(tmp_path / "a", name="x", data=DATA, chunks=(1, 1), zarr_format="v3_draft")
    told = Killer(pool)
    assert blizzarr.upgrade(tmp_path / "a", progress=told, executor=pool).done
    np.testing.assert_array_equal(blizzarr.open(tmp_path / "a", path="x")[:], DATA)
    told.check()
    assert blizzarr.check(tmp_path / "a").clean


def test_a_new_executor_is_like_the_lost_one() -> None:
    made: dict[str, Any] = {
        "mp_context": get_context("spawn"),
        "initializer": print,
        "initargs": (1,),
        "max_tasks_per_child": 5,
    }
    with ProcessPoolExecutor(3, **made) as pool, workers_of(pool) as workers:
        assert workers is not None
        workers.renew()
        new: Any = workers._executor
        assert new is not pool
        assert new._max_workers == 3
        assert {name: getattr(new, f"_{name}") for name in made} == made
