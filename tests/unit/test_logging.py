"""What people look for when something is slow is in the logs below ``blizzarr``, on the level INFO."""

from __future__ import annotations

import fcntl
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import StoreError
from support.faulty_server import faulty_server

# `F_OFD_SETLK`, and the whole file: what the engine takes, too, where there are such locks.
OFD_SETLK, WHOLE = 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


@contextmanager
def released_later(seconds: float, lock: Callable[[], object], release: Callable[[], object]) -> Iterator[None]:
    """Hold a lock, and release it after so many seconds, while the block waits for it."""
    lock()
    thread = threading.Thread(target=lambda: (time.sleep(seconds), release()))
    thread.start()
    yield
    thread.join()


def logged(caplog: pytest.LogCaptureFixture, name: str) -> list[str]:
    """The messages of one logger, of the level INFO."""
    return [text for logger, level, text in caplog.record_tuples if (logger, level) == (name, 20)]


def test_a_repeated_request_says_why(caplog: pytest.LogCaptureFixture) -> None:
    """Each repetition is logged with the request and the reason, also if the last one fails; no others are."""
    caplog.set_level("INFO", "blizzarr")
    with faulty_server() as server:
        store = server.store(retry_config={"max_retries": 3, "backoff": {"init_backoff": timedelta(milliseconds=5)}})
        array = blizzarr.create_array(store, data=np.arange(4), chunks=4)
        assert logged(caplog, "blizzarr.requests") == []
        failing = iter((503, 500))
        server.fault = lambda method, path: next(failing, None) if path.endswith("c/0") else None
        assert array[:].tolist() == [0, 1, 2, 3]
        first, second = logged(caplog, "blizzarr.requests")
        caplog.clear()
        server.fault = lambda method, path: 502 if path.endswith("c/0") else None
        with pytest.raises(StoreError, match="502"):
            array[:]
        assert [text[-10:] for text in logged(caplog, "blizzarr.requests")] == ["status 502"] * 3
    assert first.startswith("GET http://127.0.0.1:")
    assert first.endswith("c/0 is repeated (request 2): status 503")
    assert second.endswith("c/0 is repeated (request 3): status 500")


@pytest.mark.skipif(not hasattr(os, "fork") or os.uname().sysname != "Linux", reason="locks of open files are Linux'")
def test_a_lock_of_the_engine_says_what_is_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After a second of waiting, and when it is over."""
    caplog.set_level("INFO", "blizzarr")
    array = blizzarr.create_array(tmp_path / "a.zarr", data=np.arange(8), chunks=4)
    array[0] = 1
    assert logged(caplog, "blizzarr.locks") == []
    file = open(tmp_path / "a.zarr/zarr.json", "r+b")  # noqa: SIM115
    with released_later(1.4, lambda: fcntl.fcntl(file, OFD_SETLK, WHOLE), file.close):
        array[1] = 7
    waiting, took = logged(caplog, "blizzarr.locks")
    assert waiting == "waiting for the lock of a chunk below zarr.json, which another thread or process holds"
    assert took.startswith("took the lock of a chunk below zarr.json after 1.")
    assert array[:].tolist() == [1, 7, 2, 3, 4, 5, 6, 7]


@pytest.mark.skipif(not hasattr(fcntl, "flock"), reason="there are no locks of directories")
def test_an_append_that_waits_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Another process that changes the array's shape holds the lock of its directory."""
    caplog.set_level("INFO", "blizzarr")
    array = blizzarr.create_array(tmp_path / "a.zarr", data=np.arange(4), chunks=4)
    array.append([4])
    assert logged(caplog, "blizzarr.locks") == []
    other = os.open(tmp_path / "a.zarr", os.O_RDONLY)
    with released_later(0.1, lambda: fcntl.flock(other, fcntl.LOCK_EX), lambda: os.close(other)):
        array.append([5])
    assert logged(caplog, "blizzarr.locks") == [f"waiting for / in {tmp_path}/a.zarr, which another process changes"]
