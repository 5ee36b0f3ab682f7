"""Faults: arrays that change, locks, forks, pickles (rows 102 to 106, 108, 109): small samples."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import blizzarr
from support.child import Child, answer

LAYOUTS = {"plain": {"chunks": 4096, "compressors": None}, "shard": {"chunks": 256, "shards": 4096}}

CHANGE = {
    "row 102: attributes": """
        for number in range(10):
            array.attrs[f"{ARGUMENTS['writer']}-{number}"] = number
    """,
    "row 103: append": """
        for number in range(10):
            array.append(np.full(7, 100 * ARGUMENTS["writer"] + number))
    """,
}


@pytest.mark.parametrize("change", CHANGE)
def test_rows_102_103_changes_of_documents_by_processes(tmp_path: Path, change: str) -> None:
    """All attributes are kept; all rows are there once, each append in one piece."""
    blizzarr.create_array(tmp_path, shape=0, chunks=16, dtype="int32", fill_value=-1)
    program = """
    array = blizzarr.open(ARGUMENTS["root"])
    tell(ready=True)
    sys.stdin.readline()
    {}
    tell(done=True)
    """
    children = [Child(_joined(program, CHANGE[change]), root=str(tmp_path), writer=writer) for writer in range(3)]
    try:
        for child in children:
            child.hear()
        for child in children:
            child.start()
        assert all(child.finish()["done"] for child in children)
    finally:
        for child in children:
            child.process.kill()
    array = blizzarr.open(tmp_path)
    if "attributes" in change:
        assert dict(array.attrs) == {f"{writer}-{n}": n for writer in range(3) for n in range(10)}
    else:
        blocks = array[...].reshape(-1, 7)
        assert (blocks == blocks[:, :1]).all()
        assert sorted(blocks[:, 0].tolist()) == sorted(100 * writer + n for writer in range(3) for n in range(10))


def _joined(program: str, inner: str) -> str:
    return dedent(program).format(dedent(inner).strip())


def test_row_104_two_creators_of_one_path(tmp_path: Path) -> None:
    """One is told that something is there already, or both end with one whole array; never a mixture of the two."""
    for attempt in range(10):
        go = threading.Barrier(2)
        outcomes: list[object] = []
        place = (tmp_path / str(attempt), go, outcomes)
        threads = [threading.Thread(target=_create, args=(length, *place)) for length in (3, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(outcomes) == 2
        assert blizzarr.open(tmp_path / str(attempt)).shape in outcomes


def _create(length: int, path: Path, go: threading.Barrier, outcomes: list[object]) -> None:
    go.wait()
    try:
        outcomes.append(blizzarr.create_array(path, shape=length, chunks=length, dtype="int8").shape)
    except blizzarr.errors.NodeExistsError as error:
        outcomes.append(error)


def test_row_104_deletion_while_others_write(tmp_path: Path) -> None:
    """Writers of parts are told that the array is gone; what is made in its place shows nothing of it."""
    group = blizzarr.create_group(tmp_path)
    for _ in range(5):
        array = group.create_array("a", shape=(8, 64), chunks=(1, 64), dtype="int16", overwrite=True)
        failures: list[BaseException] = []
        begun = threading.Event()
        writer = threading.Thread(target=_write_until_it_fails, args=(array, begun, failures))
        writer.start()
        begun.wait(60)
        del group["a"]
        writer.join(60)
        assert not writer.is_alive()
        assert isinstance(failures[0], blizzarr.errors.BlizzarrError)
        assert "a" in str(failures[0])
        assert "a" not in group
        again = group.create_array("a", shape=(8, 64), chunks=(1, 64), dtype="int16", overwrite=True)
        assert not again[...].any()


def _write_until_it_fails(array: blizzarr.Array, begun: threading.Event, failures: list[BaseException]) -> None:
    try:
        while True:
            array[:, 3:9] = 1
            begun.set()
    except BaseException as error:
        failures.append(error)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_105_shrink_then_grow(tmp_path: Path, layout: str) -> None:
    """What was cut off reads as fill value, in chunks that went and in those that were cut through."""
    array = blizzarr.create_array(tmp_path, shape=10_000, dtype="uint16", fill_value=9, **LAYOUTS[layout])
    array[...] = 1
    array.resize(5000)
    array.resize(10_000)
    assert (array[:5000] == 1).all()
    assert (array[5000:] == 9).all()


def test_row_106_a_writer_that_is_paused_and_then_killed(tmp_path: Path) -> None:
    """Its lock dies with it: others wait no longer than it lives, and nothing has to be cleaned up."""
    array = blizzarr.create_array(tmp_path, shape=1 << 20, chunks=1 << 20, dtype="uint8")
    array[...] = 1
    program = """
        array = blizzarr.open(ARGUMENTS["root"])
        tell(ready=True)
        while True:
            array[5:-5] = 2
    """
    with Child(program, root=str(tmp_path)) as child:
        child.hear()
        time.sleep(0.1)
        child.process.send_signal(signal.SIGSTOP)
        done = threading.Event()

        def write() -> None:
            array[:3] = 7
            done.set()

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        done.wait(0.2)
        child.process.send_signal(signal.SIGKILL)
        assert done.wait(60), "nobody waits for the dead"
        writer.join()
    assert array[:3].tolist() == [7, 7, 7]
    assert sorted(array.store.list()) == ["c/0", "zarr.json"]


def test_row_108_fork_after_use(tmp_path: Path) -> None:
    """Read and written in the parent, then in forked children, also while other threads are at work; and Pool(fork)."""
    facts = answer(
        """
        import multiprocessing
        root = ARGUMENTS["root"]
        array = blizzarr.create_array(root, shape=(64, 1 << 12), chunks=(1, 1 << 12), dtype="uint16")
        shared = blizzarr.create_array({}, shape=64, chunks=8, dtype="uint16")
        array[...] = 1
        shared[...] = 1
        over = []

        def busy():
            while not over:
                array[5:60, 7:] = 3
                array[...]
                shared[3:60] = 3

        threads = [threading.Thread(target=busy) for _ in range(2)]
        for thread in threads:
            thread.start()
        bad = 0
        for number in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(10)
                mine = blizzarr.open(root)
                fine = array[0, 0] == 1 and (mine[61:, :3] == 1).all()
                array[0, 5:9] = 1
                mine[63] = 1
                shared[1:3] = 8
                fine = fine and (shared[1:3] == 8).all() and (array[0] == 1).all()
                os._exit(0 if fine else 1)
            bad += os.waitpid(child, 0)[1] != 0
        over.append(True)
        for thread in threads:
            thread.join()

        def work(row):
            array[row] = row
            return int(array[row].max())

        with multiprocessing.get_context("fork").Pool(2) as pool:
            rows = pool.map_async(work, range(64)).get(timeout=60)
        tell(bad=bad, rows=rows == list(range(64)))
        """,
        root=str(tmp_path),
    )
    assert facts == {"bad": 0, "rows": True}


def test_row_109_pickled_arrays_and_closed_stores(tmp_path: Path) -> None:
    """An array of files opens in another process, where it is read and written; a closed store says that it is."""
    array = blizzarr.create_array(tmp_path / "a", data=np.arange(8), chunks=2)
    facts = answer(
        """
        import pickle
        array = pickle.loads(bytes.fromhex(ARGUMENTS["array"]))
        array[3] = 100
        tell(values=array[...].tolist(), name=repr(array))
        """,
        array=pickle.dumps(array).hex(),
    )
    assert facts["values"] == [0, 1, 2, 100, 4, 5, 6, 7]
    assert array[3] == 100
    archive = blizzarr.stores.ZipStore(tmp_path / "z.zip", "w")
    closed = blizzarr.create_array(archive, data=np.arange(4))
    archive.close()
    for work in (lambda: closed[...], lambda: closed.__setitem__(0, 1)):
        with pytest.raises(blizzarr.errors.StoreError, match="closed"):
            work()
