"""Faults: locks (rows 102, 104, 106 to 108): that they hold, and that nobody waits for ever."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ConflictError
from blizzarr.hierarchy.documents import revise
from blizzarr.stores import LocalStore
from support.child import TESTS, Child, answer


@pytest.fixture(scope="session")
def no_locks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that makes a process believe that files cannot be locked."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and a linker that preloads")
    library = tmp_path_factory.mktemp("shim") / "no_locks.so"
    source = TESTS / "support" / "no_locks.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


WITHOUT_LOCKS = """
import json, sys
import numpy as np, blizzarr
root = sys.argv[1]
array = blizzarr.open(root)
said = []
for work in (lambda: array.__setitem__(3, 9), lambda: array.attrs.update(a=1), lambda: array.append(np.arange(3))):
    try:
        work()
        said.append(None)
    except blizzarr.errors.StoreError as error:
        said.append([error.errno, "locking='threads'" in str(error)])
before = array[...].tolist()
vouched = blizzarr.open(blizzarr.stores.LocalStore(root, locking="threads"))
vouched[3] = 9
vouched.attrs["a"] = 1
vouched.append(np.arange(3))
with blizzarr.config.set(locking="threads"):
    blizzarr.open(root)[4] = 8
print(json.dumps([said, before, vouched[...].tolist(), dict(vouched.attrs)]))
"""


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL])
def test_row_107_a_file_system_that_cannot_lock(tmp_path: Path, no_locks: Path, number: int) -> None:
    """Whatever merges, and whatever changes documents, says so and changes nothing; unless somebody vouches."""
    array = blizzarr.create_array(tmp_path / "a", data=np.arange(8), chunks=8)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LOCKS, tmp_path / "a"],
        env={**os.environ, "LD_PRELOAD": str(no_locks), "NO_LOCKS": str(number)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    said, before, after, attributes = json.loads(done.stdout)
    assert said == [[number, True]] * 3
    assert before == list(range(8))
    assert after == [0, 1, 2, 9, 8, 5, 6, 7, 0, 1, 2]
    assert attributes == {"a": 1}
    assert array[3] == 9


@pytest.mark.parametrize("layout", [{"chunks": 64}, {"chunks": 8, "shards": 64}], ids=["chunk", "shard"])
@pytest.mark.parametrize("change", ["array[3:5] = 2", "array[...] = 3", "array.attrs['a'] = 1"])
def test_row_106_waiting_for_who_is_paused_can_be_interrupted(
    tmp_path: Path, layout: dict[str, int], change: str
) -> None:
    """Ctrl-C while another process holds the lock, also with workers waiting: raised at once, nothing changed."""
    array = blizzarr.create_array(tmp_path, data=np.ones(256, "uint16"), **layout)
    program = """
        import fcntl, struct
        # What a writer of ours holds: all bytes of the document, here, and then it is paused.
        file = open(ARGUMENTS["root"] + "/zarr.json", "r+b")
        fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        tell(held=True)
        signal.pause()
    """
    waiter = f"""
        array = blizzarr.open(ARGUMENTS["root"])
        tell(ready=True)
        sys.stdin.readline()
        try:
            {change}
            tell(waited=None)
        except KeyboardInterrupt:
            tell(waited=time.time())
    """
    with Child(program, root=str(tmp_path)) as holder, Child(waiter, root=str(tmp_path)) as waiting:
        holder.hear()
        holder.process.send_signal(signal.SIGSTOP)
        waiting.hear()
        waiting.start()
        time.sleep(0.3)
        sent = time.time()
        waiting.process.send_signal(signal.SIGINT)
        raised = waiting.finish()["waited"]
        assert raised is not None
        assert raised - sent < 20, "it is not released before this program ends"
        assert (array[...] == 1).all()
    # The holder is dead: its lock is gone with it.
    array[3:5] = 7
    assert array[2:6].tolist() == [1, 7, 7, 1]


HAMMER = """
    counter = np.memmap(ARGUMENTS["counters"], "int64", "r+")[ARGUMENTS["number"] :]
    group = blizzarr.open_group(ARGUMENTS["root"])
    part = slice(16 * ARGUMENTS["number"], 16 * ARGUMENTS["number"] + 5)
    tell(ready=True)
    while True:
        try:
            array = group["a"]
            while True:
                array[part] = 1
                counter[0] += 1
        except (KeyError, BlizzarrError):
            pass  # the array is being replaced
"""

CHANGES = {
    "attributes": "array.attrs['x'] = turn",
    "resize": "array.resize(64 + 16 * (turn % 2))",
    "append": "array.append(np.arange(3))",
    "part of a chunk": "array[6:9] = turn",
    "overwrite": "array = group.create_array('a', shape=64, chunks=16, dtype='int32', overwrite=True)",
}


def test_rows_102_to_104_who_writes_without_a_pause_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Four processes hammer a chunk each: a change lets few of their writes go first."""
    blizzarr.create_group(tmp_path / "g").create_array("a", data=np.zeros(64, "int32"), chunks=16)
    counters = tmp_path / "counters"
    counters.write_bytes(bytes(4 * 8))
    places = {"root": str(tmp_path / "g"), "counters": str(counters)}
    program = f"""
        group = blizzarr.open_group(ARGUMENTS["root"])
        array = group["a"]
        counters = np.memmap(ARGUMENTS["counters"], "int64", "r")
        went_first = {{}}
        for name, change in {list(CHANGES.items())!r}:
            for turn in range(3):
                before = int(counters.sum())
                exec(change)
                went_first.setdefault(name, []).append(int(counters.sum()) - before)
        tell(went_first=went_first)
    """
    with ExitStack() as ending:
        writers = [Child(HAMMER, number=number, **places) for number in range(4)]
        for writer in writers:
            ending.enter_context(writer)
        for writer in writers:
            writer.hear()
        went_first = ending.enter_context(Child(program, **places)).finish()["went_first"]
    # They make thousands in a second, so that the scheduler of a busy machine adds some.
    assert {name: count for name, counts in went_first.items() if (count := statistics.median(counts)) > 300} == {}


def test_row_106_a_writer_is_paused_while_it_waits(tmp_path: Path) -> None:
    """It has not got what it waits for, so others write and change the array before it goes on, or is killed."""
    array = blizzarr.create_array(tmp_path, data=np.ones(64, "uint16"), chunks=16)
    program = """
        import fcntl, struct
        # What a writer has that waits for all chunks.
        file = open(ARGUMENTS["root"] + "/zarr.json", "r+b")
        fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 2**62 + 1, 1, 0))
        tell(waits=True)
        signal.pause()
    """
    with Child(program, root=str(tmp_path)) as waiting:
        waiting.hear()
        waiting.process.send_signal(signal.SIGSTOP)
        array[3:5] = 7
        array.append(np.arange(3))
        array.attrs["a"] = 1
    assert array[2:6].tolist() == [1, 7, 7, 1]
    assert (array.shape, dict(blizzarr.open(tmp_path).attrs)) == ((67,), {"a": 1})


def test_row_108_a_child_does_not_keep_a_shape_locked(tmp_path: Path) -> None:
    """Forked while another thread appends, and still alive when the parent is killed: others append."""
    blizzarr.create_array(tmp_path, shape=0, chunks=16, dtype="int32")
    program = """
        array = blizzarr.open(ARGUMENTS["root"])
        def work():
            while True:
                array.append(np.arange(3))
        threading.Thread(target=work, daemon=True).start()
        children = []
        for _ in range(20):
            time.sleep(0.005)
            child = os.fork()
            if child == 0:
                # Or the end of its parent would only be noticed when the child has ended, too.
                os.close(1), os.close(2)
                time.sleep(120)
                os._exit(0)
            children.append(child)
        tell(children=children)
        signal.pause()
    """
    with Child(program, root=str(tmp_path)) as parent:
        children = parent.hear()["children"]
    try:
        began = time.monotonic()
        array = blizzarr.open(tmp_path)
        array.append(np.arange(3))
        assert time.monotonic() - began < 60  # the children live for 120 s
        assert (array[...].reshape(-1, 3) == np.arange(3)).all()
    finally:
        for child in children:
            signal.pidfd_send_signal(os.pidfd_open(child), signal.SIGKILL)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_row_102_the_last_attribute_goes_while_another_comes(tmp_path: Path, zarr_format: int) -> None:
    """In v2 the document of attributes goes with the last of them: not if somebody has just added one."""
    array = blizzarr.create_array(tmp_path, shape=4, dtype="int8", zarr_format=zarr_format, attributes={"old": 1})
    added = []

    def change(meta: blizzarr.model.ArrayMeta) -> blizzarr.model.ArrayMeta:
        if not added:
            # Between reading the document and removing it.
            added.append(True)
            blizzarr.open(tmp_path).attrs["new"] = 2
        kept = dict(meta.attributes)
        del kept["old"]
        return meta.with_attributes(kept)

    revise(array.store, "", change)
    assert dict(blizzarr.open(tmp_path).attrs) == {"new": 2}


def test_row_104_who_writes_an_array_that_is_removed_is_told(tmp_path: Path) -> None:
    """The removal waits for chunks that are being stored; later ones are refused, and nothing of them is left."""
    for store in (LocalStore(tmp_path), blizzarr.stores.MemoryStore()):
        group = blizzarr.create_group(store)
        for _ in range(20):
            array = group.create_array("a", shape=(16, 64), chunks=(1, 64), dtype="int16")
            told: list[BaseException] = []
            begun = threading.Event()
            writers = [threading.Thread(target=_write, args=(array, begun, told)) for _ in range(2)]
            for writer in writers:
                writer.start()
            begun.wait(60)
            del group["a"]
            for writer in writers:
                writer.join(60)
            assert len(told) == 2
            assert all(isinstance(error, ConflictError) and "somebody has removed" in str(error) for error in told)
            assert [key for key in store.list() if key.startswith("a/")] == []


def _write(array: blizzarr.Array, begun: threading.Event, told: list[BaseException]) -> None:
    try:
        while True:
            array[:, 3:9] = 1
            begun.set()
    except BaseException as error:
        told.append(error)


def test_row_104_resizes_that_race(tmp_path: Path) -> None:
    """Of two who begin from one shape, one is told; the shape is that of the other."""
    array = blizzarr.create_array(tmp_path, shape=10, chunks=4, dtype="int8")
    handles = [array, blizzarr.open(tmp_path)]
    outcomes: list[object] = []
    go = threading.Barrier(2)

    def resize(handle: blizzarr.Array, length: int) -> None:
        go.wait()
        try:
            handle.resize(length)
            outcomes.append(length)
        except ConflictError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=resize, args=each) for each in zip(handles, (20, 30), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(isinstance(outcome, ConflictError) for outcome in outcomes) == 1
    assert blizzarr.open(tmp_path).shape[0] in outcomes


def test_row_108_forks_at_moments_when_python_holds_a_lock(tmp_path: Path) -> None:
    """In the middle of a change of shape, as the handler of a signal may; while another thread writes a zip file."""
    facts = answer(
        """
        from blizzarr.array import exclusive
        from blizzarr.stores import ZipStore

        root = ARGUMENTS["root"]
        array = blizzarr.create_array(root + "/a", data=np.arange(4), chunks=2)
        archive = ZipStore(root + "/a.zip", mode="w")
        archive.set("key", b"value")

        def in_child(work):
            child = os.fork()
            if child == 0:
                signal.alarm(10)
                os._exit(0 if work() else 1)
            return os.waitpid(child, 0)[1]

        def appends():
            blizzarr.open(root + "/a").append([9])
            return True

        def uses_the_archive():
            try:
                archive.set("other", b"value")
            except blizzarr.errors.ConflictError:
                return list(archive.list()) == ["key"] and archive.get("key") == b"value"

        signal.alarm(20)
        with exclusive._locked_directories.changing:
            ends = [in_child(appends)]
            appends()
        held, done = threading.Event(), threading.Event()

        def holds():
            with archive._lock.held():
                held.set()
                done.wait()

        thread = threading.Thread(target=holds)
        thread.start()
        held.wait()
        ends.append(in_child(uses_the_archive))
        done.set()
        thread.join()
        archive.close()
        tell(ends=ends, values=blizzarr.open(root + "/a")[...].tolist())
        """,
        root=str(tmp_path),
    )
    assert facts == {"ends": [0, 0], "values": [0, 1, 2, 3, 9, 9]}
