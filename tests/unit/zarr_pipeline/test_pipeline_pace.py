"""Small operations are done in the thread of zarr-python's event loop, unless somebody would wait for them."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.stores import LocalStore
from blizzarr.zarr_pipeline.threads import _WANTED, Pace

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")


class Mine(zarr.core.buffer.cpu.Buffer):  # type: ignore[misc]
    """A buffer of a user."""


def test_what_was_slow_goes_to_another_thread() -> None:
    async def where(seconds: float) -> bool:
        pace = Pace()
        pace.seconds = seconds
        at_once = await pace.run(threading.current_thread) is threading.current_thread()
        # One that was quick is believed at once.
        assert await pace.run(threading.current_thread) is threading.current_thread()
        return at_once

    async def several() -> list[bool]:
        # Alone, it may take longer than beside others.
        both = await asyncio.gather(where(5e-4), where(5e-4))
        return [await where(0.0), await where(5e-4), await where(3e-3), await where(1.0), *both]

    assert asyncio.run(several()) == [True, True, False, False, False, False]
    # zarr-python's own event loop has nothing else to do.
    assert zarr.core.sync.sync(several()) == [True, True, True, False, False, False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_no_operations_of_its_parent() -> None:
    def child() -> int:
        pid = os.fork()
        if not pid:
            os._exit(len(_WANTED))
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert asyncio.run(Pace().run(child)) == 0


def test_a_lock_of_somebody_else_is_waited_for_in_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, timed = threading.Event(), Pace.timed

    def watched(self: Pace, *given: Any) -> Any:
        begun.set()
        return timed(self, *given)

    for name in "ab":
        zarr.create_array(tmp_path / name, data=np.arange(8), chunks=(4,))
    locked, free = zarr.open_array(tmp_path / "a"), zarr.open_array(tmp_path / "b")
    locked[0] = 5
    store = LocalStore(tmp_path / "a")
    locks = store.native.lock_for_deletion(["zarr.json"])
    locked._async_array.codec_pipeline._writes = Pace()
    monkeypatch.setattr(Pace, "timed", watched)
    thread = threading.Thread(target=locked.__setitem__, args=(0, 7))
    thread.start()
    assert begun.wait(60)
    # This would not come back if the thread of the event loop were waiting.
    free[1] = 9
    assert free[:3].tolist() == [0, 9, 2]
    assert thread.is_alive()
    locks.release()
    thread.join()
    assert locked[0] == 7


def test_every_reason_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """However often an array is opened, read and written."""
    zarr.create_array(tmp_path / "x", data=np.arange(8), chunks=(4,))
    prototype: Any = zarr.core.buffer.BufferPrototype(buffer=Mine, nd_buffer=zarr.core.buffer.cpu.NDBuffer)
    with caplog.at_level(logging.DEBUG, logger="blizzarr.zarr_pipeline"):
        for _ in range(3):
            array = zarr.open_array(tmp_path / "x")
            for place in (0, 4):
                assert array.get_basic_selection(slice(place, 8), prototype=prototype).tolist() == [*range(place, 8)]
    assert [record.message for record in caplog.records] == [
        f"zarr-python's own pipeline takes {array.store_path}: elements are wanted in a NDBuffer that is not NumPy's "
        "memory"
    ]
