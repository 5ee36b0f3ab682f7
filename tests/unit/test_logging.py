"""What people look for when something is slow is in the logs below ``blizzarr``, on the level INFO."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import StoreError
from support.faulty_server import faulty_server, times

# `F_OFD_SETLK`, and the whole file: what the engine takes, too, where there are such locks.
OFD_SETLK, WHOLE = 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


class ReleasedWhenSaid(logging.Handler):
    """Releases a lock when a log says that it is waited for, so that nothing depends on how busy the machine is."""

    def __init__(self, release: Callable[[], object]) -> None:
        super().__init__()
        self._release = release

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("waiting for"):
            self._release()


@contextmanager
def released_when_said(release: Callable[[], object]) -> Iterator[None]:
    """Release a lock as soon as the block logs that it waits for it."""
    handler, log = ReleasedWhenSaid(release), logging.getLogger("blizzarr.locks")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


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


def test_an_object_that_others_replaced_meanwhile_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A part of a chunk is merged into what is there now, as often as somebody else was first."""
    caplog.set_level("INFO", "blizzarr")
    with faulty_server() as server:
        array = blizzarr.create_array(server.store(), data=np.arange(8), chunks=8)
        array[1] = 5
        assert logged(caplog, "blizzarr.conflicts") == []
        server.fault = times(2, 412, "PUT")
        array[3:5] = 7
        assert array[:].tolist() == [0, 5, 2, 7, 7, 5, 6, 7]
    assert logged(caplog, "blizzarr.conflicts") == [
        f"c/0 was replaced by somebody else; merged anew, attempt {number}" for number in (1, 2)
    ]


@pytest.mark.skipif(not hasattr(os, "fork") or os.uname().sysname != "Linux", reason="locks of open files are Linux'")
def test_a_lock_of_the_engine_says_what_is_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After a second of waiting, and when it is over."""
    caplog.set_level("INFO", "blizzarr")
    array = blizzarr.create_array(tmp_path / "a.zarr", data=np.arange(8), chunks=4)
    array[0] = 1
    assert logged(caplog, "blizzarr.locks") == []
    file = open(tmp_path / "a.zarr/zarr.json", "r+b")  # noqa: SIM115
    fcntl.fcntl(file, OFD_SETLK, WHOLE)
    with released_when_said(file.close):
        array[1] = 7
    waiting, took = logged(caplog, "blizzarr.locks")
    assert waiting == "waiting for the lock of a chunk below zarr.json, which another thread or process holds"
    assert re.fullmatch(r"took the lock of a chunk below zarr\.json after \d+\.\d s", took)
    assert array[:].tolist() == [1, 7, 2, 3, 4, 5, 6, 7]


@pytest.mark.skipif(not hasattr(fcntl, "flock"), reason="there are no locks of directories")
def test_an_append_that_waits_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Another process that changes the array's shape holds the lock of its directory."""
    caplog.set_level("INFO", "blizzarr")
    array = blizzarr.create_array(tmp_path / "a.zarr", data=np.arange(4), chunks=4)
    array.append([4])
    assert logged(caplog, "blizzarr.locks") == []
    other = os.open(tmp_path / "a.zarr", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with released_when_said(lambda: os.close(other)):
        array.append([5])
    assert logged(caplog, "blizzarr.locks") == [f"waiting for / in {tmp_path}/a.zarr, which another process changes"]
