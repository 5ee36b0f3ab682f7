"""Clusters of Dask, from Python and from the shell."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.cli import main
from blizzarr.stores import LocalStore
from support.slow_store import SlowStore

DATA = np.arange(64 * 30, dtype="int32").reshape(64, 30)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of a cluster of two worker processes."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def test_a_lost_worker_costs_its_pieces_only(client: Any, tmp_path: Path) -> None:
    blizzarr.create_array(tmp_path / "a", data=DATA, chunks=(2, 30))
    source = blizzarr.open(SlowStore(LocalStore(tmp_path / "a"), 0.05), mode="r")
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        if not killed and done * 4 >= total:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    with blizzarr.config.set(copy_bytes=DATA.nbytes // 32):
        copied = blizzarr.copy(source, tmp_path / "b", chunks=(2, 10), progress=kill, executor=client)
    assert killed
    np.testing.assert_array_equal(copied[:], DATA)
    assert blizzarr.diff(tmp_path / "a", tmp_path / "b", executor=client.get_executor()).same


def test_the_scheduler_of_the_shell(client: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    blizzarr.create_array(a, data=DATA, chunks=(2, 30), zarr_format=2)
    scheduler = ["--scheduler", client.scheduler.address]
    pids = set(client.run(os.getpid).values())
    assert os.getpid() not in pids
    for command in (
        ["copy", a, b, "--chunks", "4,10"],
        ["check", b, "--record", str(tmp_path / "sums")],
        ["diff", a, b],
        ["upgrade", a],
    ):
        with pytest.raises(SystemExit) as ended:
            main([*command, *scheduler])
        assert ended.value.code == 0, capfd.readouterr()
    np.testing.assert_array_equal(blizzarr.open(a)[:], DATA)


def test_without_dask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path), "--scheduler", "tcp://127.0.0.1:1"])
    assert ended.value.code == 2
    assert "pip install 'blizzarr[dask]'" in capfd.readouterr().err
