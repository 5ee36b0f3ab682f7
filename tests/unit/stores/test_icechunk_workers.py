"""Workers of Dask in other processes, which write through forks of one session of icechunk."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
import blizzarr.dask
from blizzarr.errors import ReadOnlyError, UnsupportedOperationError

icechunk: Any = pytest.importorskip("icechunk", reason="icechunk is not installed")
distributed: Any = pytest.importorskip("distributed", reason="Dask is not installed")
dask: Any = pytest.importorskip("dask")
da: Any = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of a cluster of two worker processes."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


@pytest.fixture
def repository(tmp_path: Path) -> Any:
    made = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repository")))
    session = made.writable_session("main")
    blizzarr.create_array(session.store, name="co2", shape=(40,), chunks=(5,), dtype="i4", fill_value=-1)
    session.commit("made")
    return made


def write(fork: Any, start: int, values: Any) -> Any:
    blizzarr.open_array(fork.store, path="co2")[start : start + len(values)] = values
    return fork


def test_workers_write_through_forks(client: Any, repository: Any) -> None:
    session = repository.writable_session("main")
    fork = session.fork()
    pieces = [client.submit(write, fork, start, np.arange(start, start + 5), pure=False) for start in range(0, 35, 5)]
    session.merge(*client.gather(pieces))
    assert blizzarr.open_array(session.store, path="co2")[:].tolist() == [*range(35), *[-1] * 5]
    session.commit("workers")
    stored = blizzarr.open_array(repository.readonly_session("main").store, path="co2")
    assert stored[:].tolist() == [*range(35), *[-1] * 5]
    # Their tasks read the same session.
    assert blizzarr.dask.from_zarr(stored).sum().compute().item() == sum(range(35)) - 5
    same = client.submit(np.asarray, stored).result()
    assert same.tolist() == stored[:].tolist()


def test_changes_that_would_be_lost_are_refused(client: Any, repository: Any, tmp_path: Path) -> None:
    """Written through a copy of the session in another process, they would never come back."""
    session = repository.writable_session("main")
    data = da.arange(40, chunks=7)
    for store in (session.store, session.fork().store):
        with pytest.raises(UnsupportedOperationError, match="a fork of the icechunk session"):
            blizzarr.dask.to_zarr(data, blizzarr.open_array(store, path="co2"))
    blizzarr.create_array(tmp_path / "a", data=np.arange(40))
    with pytest.raises(UnsupportedOperationError, match="a fork of the icechunk session"):
        blizzarr.copy(tmp_path / "a", session.fork().store, path="copy", executor=client)
    pending = blizzarr.dask.to_zarr(data, blizzarr.open_array(session.fork().store, path="co2"), compute=False)
    with pytest.raises(ReadOnlyError, match="pass a fork of the session itself"):
        pending.compute()
    with pytest.raises(ReadOnlyError, match="pass a fork of the session itself"):
        pickle.loads(pickle.dumps(blizzarr.open_array(session.fork().store, path="co2")))[:] = 1
    # Threads of this process share the session.
    array = blizzarr.open_array(session.store, path="co2")
    with dask.config.set(scheduler="threads"):
        blizzarr.dask.to_zarr(data, array)
    assert array[:].tolist() == [*range(40)]
